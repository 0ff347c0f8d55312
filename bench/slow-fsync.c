/*
 * A disk that takes its time: preloaded, each fsync sleeps SLOW_FSYNC_US first.
 *
 * For what a slow disk does to the rest of the process, whichever thread the commit is on. Built by durable.ts with `cc`.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void wait_for_disk(void) {
  const char *us = getenv("SLOW_FSYNC_US");
  if (us != NULL) usleep((useconds_t)atoi(us));
}

int fsync(int fd) {
  wait_for_disk();
  return (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd) {
  wait_for_disk();
  return (int)syscall(SYS_fdatasync, fd);
}
