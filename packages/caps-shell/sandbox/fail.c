/* How a step that did not work ends its process. Each of the two that build says it in its own way: `on_failure`. */
#include "world.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static void say_nothing(const char *stage, int error, int mount) {
  (void)stage, (void)error, (void)mount;
  _exit(1);
}

void (*on_failure)(const char *, int, int) = say_nothing;

void fail_at(const char *stage, int error, int mount) {
  on_failure(stage, error, mount);
  abort();
}
void fail(const char *stage) { fail_at(stage, errno, -1); }
