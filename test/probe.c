/*
 * Tries what the tests need of a C compiler and of user namespaces. `probes.ts` compiles and runs it.
 *
 * Some systems allow a user namespace and then nothing inside it, so this mounts something there.
 * Exits 0, or prints the step that failed with its error and exits 1.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

static int failed(const char *step) {
  printf("%s: %s\n", step, strerror(errno));
  return 1;
}

static int put(const char *path, const char *text) {
  int fd = open(path, O_WRONLY);
  ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));
  if (fd >= 0) close(fd);
  return n < 0 ? -1 : 0;
}

int main(void) {
  char map[64];
  unsigned uid = getuid();
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0) return failed("unshare");
  snprintf(map, sizeof map, "0 %u 1", uid);
  if (put("/proc/self/uid_map", map) < 0) return failed("uid_map");
  if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) return failed("private");
  if (mount("none", "/tmp", "tmpfs", 0, NULL) < 0) return failed("mount");
  return 0;
}
