/*
 * Ends the process when a step fails. The outer process and pid 1 each report it in their own way:
 * `on_failure`.
 */
#include "world.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static void report_nothing(const char *stage, int error, int mount) {
  (void)stage, (void)error, (void)mount;
  _exit(1);
}

void (*on_failure)(const char *, int, int) = report_nothing;

void fail_at(const char *stage, int error, int mount) {
  on_failure(stage, error, mount);
  abort();
}
void fail(const char *stage) { fail_at(stage, errno, -1); }
