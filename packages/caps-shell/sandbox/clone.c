/* Makes the namespaces of the world, and maps its ids to ids outside. */
#include "world.h"

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

/*
 * For root: makes a user namespace that maps the ids of granted mounts. Root's files belong to the payload.
 * All other files keep their owner, who does not exist in the world, so the payload has the rights of
 * "others". A short-lived process in that namespace also checks whether a mount of the host lies in a granted
 * directory: in its own mount namespace the kernel refuses to uncover anything, which it does not do for
 * root.
 */
int make_idmap(void) {
  int release[2];
  if (pipe2(release, O_CLOEXEC) < 0) fail("idmap");
  pid_t pid = clone_with(CLONE_NEWUSER | CLONE_NEWNS, NULL);
  if (pid < 0) fail("userns");
  if (pid == 0) {
    char end;
    close(release[1]);
    if (read(release[0], &end, 1) != 0) _exit(1);
    check_mounts();
    _exit(0);
  }
  char map[128], path[64];
  snprintf(map, sizeof map, "0 %u 1\n1 1 %u\n%u %u %u\n", outside_id, outside_id - 1, outside_id + 1, outside_id + 1, 4294967294u - outside_id);
  write_maps(pid, map, map);
  snprintf(path, sizeof path, "/proc/%d/ns/user", (int)pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC), status;
  if (fd < 0) fail("idmap");
  close(release[0]);
  close(release[1]);
  if (waitpid(pid, &status, 0) != pid) fail("idmap");
  if (status != 0) _exit(1); /* the child has reported the failure */
  return fd;
}

unsigned long namespaces(void) {
  unsigned long flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
  if (WITHOUT("userns")) flags &= ~(unsigned long)CLONE_NEWUSER;
  if (WITHOUT("mntns")) flags &= ~(unsigned long)CLONE_NEWNS;
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
