/* Which steps a test build leaves out: its file's name says so (world.h, WITHOUT). */
#include "world.h"

#ifdef HOB_WITHOUT
#include <stdio.h>
#include <unistd.h>

static char left_out[256] = ",";

void read_left_out(void) {
  char file[4096] = "";
  if (readlink("/proc/self/exe", file, sizeof file - 1) < 0) fail("init");
  const char *steps = strstr(file, ".without.");
  if (steps) snprintf(left_out, sizeof left_out, ",%s,", steps + strlen(".without."));
}

bool without(const char *step) {
  char name[64];
  snprintf(name, sizeof name, ",%s,", step);
  return strstr(left_out, name) != NULL;
}
#endif
