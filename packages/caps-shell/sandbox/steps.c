/*
 * The steps of a start, which the outer process and pid 1 take in turns over the lifeline. Each is one byte;
 * after the last of them a byte on the lifeline is a signal.
 *
 * The mounts go over it too (SCM_RIGHTS), because pid 1 may have been there before they were open.
 */
#include "world.h"

#include <sys/socket.h>
#include <unistd.h>

/* If pid 1 is gone, `supervise` reports why: a failed write says nothing new. */
void say(int lifeline, enum step step) {
  char byte = (char)step;
  if (write(lifeline, &byte, 1) != 1) return;
}

void await(int lifeline, enum step step) {
  char byte;
  if (read(lifeline, &byte, 1) != 1 || byte != (char)step) _exit(1); /* the outer process is gone */
}

union fds {
  struct cmsghdr head;
  char room[CMSG_SPACE(MAX_MOUNTS * sizeof(int))];
};

/* Sends the descriptors of all mounts: for root their trees, otherwise the caps' own. Closes both here. */
void send_mounts(int lifeline) {
  union fds all = {0};
  char byte = MOUNTS;
  struct iovec part = {&byte, 1};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  int fds[MAX_MOUNTS];
  size_t size = (size_t)spec.mount_count * sizeof *fds;
  for (int i = 0; i < spec.mount_count; i++) fds[i] = as_root ? spec.mounts[i].tree : spec.mounts[i].fd;
  if (size > 0) {
    all.head = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(size)};
    memcpy(CMSG_DATA(&all.head), fds, size);
    message.msg_control = &all;
    message.msg_controllen = CMSG_SPACE(size);
  }
  (void)!sendmsg(lifeline, &message, MSG_NOSIGNAL); /* as in `say` */
  for (int i = 0; i < spec.mount_count; i++) {
    close(spec.mounts[i].fd);
    if (as_root) close(spec.mounts[i].tree);
  }
}

void take_mounts(int lifeline) {
  union fds all = {0};
  char byte;
  struct iovec part = {&byte, 1};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &all, .msg_controllen = sizeof all};
  size_t size = (size_t)spec.mount_count * sizeof(int);
  int fds[MAX_MOUNTS];
  if (recvmsg(lifeline, &message, WITHOUT("close") ? 0 : MSG_CMSG_CLOEXEC) != 1 || byte != MOUNTS) _exit(1);
  if (size > 0) {
    /* The kernel leaves out what would be over the limit of open files. */
    if ((message.msg_flags & MSG_CTRUNC) || message.msg_controllen < CMSG_LEN(size) || all.head.cmsg_len != CMSG_LEN(size)) fail("pipes");
    memcpy(fds, CMSG_DATA(&all.head), size);
  }
  for (int i = 0; i < spec.mount_count; i++) {
    spec.mounts[i].fd = as_root ? -1 : fds[i];
    spec.mounts[i].tree = as_root ? fds[i] : -1;
    if (as_root) look_at_tree(i);
  }
}
