/*
 * Lets the payload open files for writing only in /dev, /tmp and the writable mounts.
 *
 * This closes two gaps. A read-only mount does not stop writes to a FIFO, because its bytes are not in the
 * file system. And through a file of /proc a job could make the kernel spare it when memory runs out.
 *
 * Without Landlock (Linux 5.19, enabled in the kernel's list of modules) both gaps stay open; README.md says
 * so and `probe` shows it. A rule holds for everything under its directory, so it also lets a job write to a
 * FIFO in a read-only mount within a writable one.
 */
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446, ASK_VERSION = 1, PATH_BENEATH = 1 };
/* A ruleset refuses to move a file to another directory unless it allows REFER. Version 1 cannot allow it. */
enum { WRITE_FILE = 1 << 1, REFER = 1 << 13 };

/* Allows `what` under `fd`, and closes it. */
static void allow(int ruleset, int fd, uint64_t what) {
  struct { uint64_t access; int32_t parent; } __attribute__((packed)) rule = {what, fd};
  if (fd < 0 || syscall(ADD_RULE, ruleset, PATH_BENEATH, &rule, 0) < 0) fail("landlock");
  close(fd);
}
static int open_path(const char *path) { return open(path, O_PATH | O_CLOEXEC); }

void restrict_writing(void) {
  if (syscall(CREATE_RULESET, NULL, 0, ASK_VERSION) < 2) return;
  uint64_t handled = WRITE_FILE | REFER;
  int ruleset = (int)syscall(CREATE_RULESET, &handled, sizeof handled, 0);
  if (ruleset < 0) fail("landlock");
  allow(ruleset, open_path("/"), REFER);
  allow(ruleset, open_path("/dev"), WRITE_FILE);
  allow(ruleset, open_path("/tmp"), WRITE_FILE);
  /* By descriptor: another job that can write there may have put a link in its place by now. */
  for (int i = 0; i < spec.mount_count; i++)
    if (spec.mounts[i].writable) allow(ruleset, spec.mounts[i].tree, WRITE_FILE);
  if (syscall(RESTRICT_SELF, ruleset, 0) < 0) fail("landlock");
  close(ruleset);
}
