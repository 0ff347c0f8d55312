/*
 * Where the payload may open something for writing: /dev, /tmp and what was granted for writing. A read-only mount does not
 * stop a FIFO from being written, since its bytes are not the file system's. And no file of /proc is written, where a job
 * could take itself out of the order in which the kernel ends processes when memory runs out.
 *
 * Without Landlock (Linux 5.19, and the kernel's list of modules) these two stay possible; README.md says so and `probe` shows it.
 * A rule holds for all that lies under its directory, so for a FIFO in a read-only mount within a writable one, too.
 */
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446, ASK_VERSION = 1, PATH_BENEATH = 1 };
/* Moving a file to another directory is refused by every ruleset that does not allow it; before version 2 none can. */
enum { WRITE_FILE = 1 << 1, REFER = 1 << 13 };

/* Under `fd`, which is closed. */
static void allow(int ruleset, int fd, uint64_t what) {
  struct { uint64_t access; int32_t parent; } __attribute__((packed)) rule = {what, fd};
  if (fd < 0 || syscall(ADD_RULE, ruleset, PATH_BENEATH, &rule, 0) < 0) fail("landlock");
  close(fd);
}
static int at(const char *path) { return open(path, O_PATH | O_CLOEXEC); }

void restrict_writing(void) {
  if (syscall(CREATE_RULESET, NULL, 0, ASK_VERSION) < 2) return;
  uint64_t handled = WRITE_FILE | REFER;
  int ruleset = (int)syscall(CREATE_RULESET, &handled, sizeof handled, 0);
  if (ruleset < 0) fail("landlock");
  allow(ruleset, at("/"), REFER);
  allow(ruleset, at("/dev"), WRITE_FILE);
  allow(ruleset, at("/tmp"), WRITE_FILE);
  /* By descriptor: another job that writes there may have put a link to elsewhere at that place by now. */
  for (int i = 0; i < spec.mount_count; i++)
    if (spec.mounts[i].writable) allow(ruleset, spec.mounts[i].tree, WRITE_FILE);
  if (syscall(RESTRICT_SELF, ruleset, 0) < 0) fail("landlock");
  close(ruleset);
}
