/* Opens and renames by directory and name. */
#include "fscap.h"

int beneath(int dir, const char *path, int flags, int resolve) {
  struct how how = {.flags = (uint64_t)(unsigned)(flags | O_PATH | O_CLOEXEC), .resolve = (uint64_t)(unsigned)resolve};
  long fd = syscall(SYS_openat2, dir, path, &how, sizeof how);
  return fd < 0 ? -errno : (int)fd;
}

/* (dir, path, flags, resolve) -> descriptor */
napi_value openBeneath(napi_env env, napi_callback_info info) {
  ARGUMENTS(4);
  char path[MAX_PATH + 8];
  int bad = text(env, given[1], path, sizeof path);
  return answer(env, bad ? bad : beneath(number(env, given[0]), path, number(env, given[2]), number(env, given[3])));
}

/* (fromDir, from, toDir, to) -> 0. Renames in one step and never replaces anything. */
napi_value renameNew(napi_env env, napi_callback_info info) {
  ARGUMENTS(4);
  char from[MAX_PATH + 8], to[MAX_PATH + 8];
  int bad = text(env, given[1], from, sizeof from);
  if (!bad) bad = text(env, given[3], to, sizeof to);
  if (bad) return answer(env, bad);
  long done = syscall(SYS_renameat2, number(env, given[0]), from, number(env, given[2]), to, NO_REPLACE);
  return answer(env, done < 0 ? -errno : 0);
}
