/*
 * The job's cgroup, if the caller gave one and set its limits. The kernel enforces the limits of memory and
 * processes by itself, and counts the time of every process, also of one that nobody waits for.
 */
#include "world.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct { const char *name; int fd; } files[] = {{"cpu.stat", -1}, {"memory.events", -1}, {"memory.peak", -1}, {"cgroup.kill", -1}};
enum { NEEDED = 2, KILL = 3 }; /* memory.peak came with Linux 5.19, cgroup.kill with 5.14 */

void open_cgroup(void) {
  if (WITHOUT("cgroup")) spec.cgroup = -1;
  if (spec.cgroup < 0) return;
  for (int i = 0; i <= KILL; i++) {
    files[i].fd = openat(spec.cgroup, files[i].name, (i == KILL ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
    if (files[i].fd < 0 && i < NEEDED) fail("cgroup");
  }
}

/*
 * The child starts in the cgroup, so all its pages are counted there. Moving a process takes longer than
 * starting it.
 */
pid_t clone_into_cgroup(unsigned long flags, int *pidfd) {
  uint64_t args[11] = {flags | 0x200000000ull /* CLONE_INTO_CGROUP */, (uint64_t)(uintptr_t)pidfd};
  args[4] = SIGCHLD;
  args[10] = (uint64_t)spec.cgroup;
  return (pid_t)syscall(435 /* clone3 */, args, sizeof args);
}

/* Returns the number after `name` in a file of the cgroup, or 0. `name` may be empty. */
uint64_t cgroup_number(const char *file, const char *name) {
  char text[2048];
  for (int i = 0; i < KILL; i++) {
    if (files[i].fd < 0 || strcmp(files[i].name, file) != 0) continue;
    ssize_t n = pread(files[i].fd, text, sizeof text - 1, 0);
    if (n <= 0) return 0;
    text[n] = 0;
    const char *found = strstr(text, name);
    return found ? strtoull(found + strlen(name), NULL, 10) : 0;
  }
  return 0;
}

void kill_cgroup(void) {
  if (files[KILL].fd >= 0 && write(files[KILL].fd, "1", 1) != 1) return; /* the caller kills pid 1 too, and with it all processes */
}
