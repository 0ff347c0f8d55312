/* Makes the namespaces of the world, and maps its ids to ids outside. */
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

uint32_t outside_id = FIRST_OUTSIDE_ID;

static void write_map(pid_t pid, const char *name, const char *text) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text)) fail("map");
  close(fd);
}

void write_maps(pid_t pid, const char *uids, const char *gids) {
  write_map(pid, "setgroups", "deny"); /* or a process could leave a group to which a file denies access */
  write_map(pid, "uid_map", uids);
  write_map(pid, "gid_map", gids);
}

/* fork() of glibc takes no flags. Without CLONE_VM this is a fork. */
pid_t clone_with(unsigned long flags, int *pidfd) { return (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0, pidfd, 0, 0); }

static pid_t checker;
static int verdict; /* one byte comes if nothing was found */

static void keep_failure(const char *stage, int error, int mount) {
  strncpy(shared->checked.stage, stage, sizeof shared->checked.stage - 1);
  shared->checked.error = error;
  shared->checked.mount = mount;
  _exit(1);
}

/*
 * For root: makes a user namespace that maps the ids of granted mounts. Root's files belong to the payload.
 * All other files keep their owner, who does not exist in the world, so the payload has the rights of
 * "others". A short-lived process in that namespace also checks whether a mount of the host lies in a granted
 * directory: in its own mount namespace the kernel refuses to uncover anything, which it does not do for
 * root. `await_check` waits for it.
 */
int make_idmap(void) {
  int release[2], found[2];
  if (pipe2(release, O_CLOEXEC) < 0 || pipe2(found, O_CLOEXEC) < 0) fail("idmap");
  checker = clone_with(CLONE_NEWUSER | CLONE_NEWNS, NULL);
  if (checker < 0) fail("userns");
  if (checker == 0) {
    char end;
    on_failure = keep_failure;
    close(release[1]);
    if (read(release[0], &end, 1) != 0) _exit(1);
    check_mounts();
    if (write(found[1], "", 1) != 1) _exit(1);
    _exit(0);
  }
  char map[128], path[64];
  snprintf(map, sizeof map, "0 %u 1\n1 1 %u\n%u %u %u\n", outside_id, outside_id - 1, outside_id + 1, outside_id + 1, 4294967294u - outside_id);
  write_maps(checker, map, map);
  snprintf(path, sizeof path, "/proc/%d/ns/user", (int)checker);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail("idmap");
  close(release[0]);
  close(release[1]);
  close(found[1]);
  verdict = found[0];
  return fd;
}

/*
 * Nothing runs before the verdict is there. The check takes place while pid 1 builds the world. Its process is not
 * waited for: the kernel takes longer to remove its mounts than to find out.
 */
void await_check(void) {
  char byte;
  if (checker <= 0) return;
  ssize_t n;
  while ((n = read(verdict, &byte, 1)) < 0 && errno == EINTR) continue;
  close(verdict);
  if (n == 1) return;
  if (shared->checked.stage[0]) fail_at(shared->checked.stage, shared->checked.error, shared->checked.mount);
  fail_at("idmap", ECHILD, -1); /* somebody killed it */
}

void reap_checker(void) {
  if (checker > 0) waitpid(checker, NULL, 0);
}

/* Without that of mounts, which `build_root` makes. */
unsigned long namespaces(void) {
  unsigned long flags = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
  if (WITHOUT("userns")) flags &= ~(unsigned long)CLONE_NEWUSER;
  if (WITHOUT("pidns")) flags &= ~(unsigned long)CLONE_NEWPID;
  if (WITHOUT("netns")) flags &= ~(unsigned long)CLONE_NEWNET;
  if (WITHOUT("ipcns")) flags &= ~(unsigned long)CLONE_NEWIPC;
  if (WITHOUT("utsns")) flags &= ~(unsigned long)CLONE_NEWUTS;
  if (WITHOUT("cgroupns")) flags &= ~(unsigned long)CLONE_NEWCGROUP;
  return flags;
}

/*
 * The kernel counts a job's inotify instances and pending signals for the user who made its user namespace,
 * too. If that were root, one job could use up those of the host and of all other jobs.
 */
pid_t clone_world(int *pidfd) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct rights[2];
  bool owned = as_root && !WITHOUT("own-id") && !WITHOUT("unroot");
  /*
   * Changing the effective id drops the effective capabilities. Without them a machine may refuse user
   * namespaces.
   */
  if (owned && (syscall(SYS_capget, &header, rights) < 0 || setresuid((uid_t)-1, outside_id, (uid_t)-1) < 0 ||
                syscall(SYS_capset, &header, rights) < 0))
    fail("own-id");
  unsigned long flags = namespaces() | CLONE_PIDFD;
  pid_t pid = spec.cgroup < 0 ? clone_with(flags, pidfd) : clone_into_cgroup(flags, pidfd);
  if (pid != 0 && owned && setresuid((uid_t)-1, 0, (uid_t)-1) < 0) fail("own-id");
  return pid;
}
