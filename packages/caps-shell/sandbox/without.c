/* The steps that a test build skips, read from its file name. See WITHOUT in world.h. */
#include "world.h"

#ifdef HOB_WITHOUT
#include <stdio.h>
#include <unistd.h>

static char skipped[256] = ",";

void read_skipped_steps(void) {
  char file[4096] = "";
  if (readlink("/proc/self/exe", file, sizeof file - 1) < 0) fail("init");
  const char *steps = strstr(file, ".without.");
  if (steps) snprintf(skipped, sizeof skipped, ",%s,", steps + strlen(".without."));
}

bool without(const char *step) {
  char name[64];
  snprintf(name, sizeof name, ",%s,", step);
  return strstr(skipped, name) != NULL;
}
#endif
