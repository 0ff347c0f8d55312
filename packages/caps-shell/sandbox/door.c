/*
 * Listeners in the world that the caller serves: the loopback door of its network, and Unix sockets.
 *
 * Pid 1 makes them before the payload exists and hands them to the caller over a Unix socket. Then no process of
 * the world has a descriptor of them or of that socket, and the caller accepts the connections itself. So no
 * byte of a payload's connection is read or carried here.
 *
 * A message has the form in which Node takes a handle on an IPC channel, so the caller needs no code for it.
 */
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Makes `l` listen at an address. Not blocking, because the caller polls it. */
static void listen_at(struct listener *l, const void *address, socklen_t size) {
  int family = ((const struct sockaddr *)address)->sa_family;
  l->fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (l->fd < 0 || bind(l->fd, address, size) < 0 || listen(l->fd, 64) < 0) fail("door");
}

void listen_in(struct listener *l, int dir, const char *name) {
  struct sockaddr_un at = {.sun_family = AF_UNIX};
  if (strlen(name) >= sizeof at.sun_path) fail_at("door", ENAMETOOLONG, -1);
  strcpy(at.sun_path, name);
  /* By the name in its directory, so that no part of a path is looked up again. */
  if (fchdir(dir) < 0) fail("door");
  listen_at(l, &at, sizeof at);
}

static void hand_over(int index, int fd) {
  char text[80], room[CMSG_SPACE(sizeof(int))] = {0};
  int n = snprintf(text, sizeof text, "{\"cmd\":\"NODE_HANDLE\",\"type\":\"net.Native\",\"msg\":%d}\n", index);
  struct iovec part = {text, (size_t)n};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  *head = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof fd)};
  memcpy(CMSG_DATA(head), &fd, sizeof fd);
  if (sendmsg(spec.door, &message, MSG_NOSIGNAL) != n) fail("door");
}

void open_doors(void) {
  if (spec.door < 0) return;
  for (int i = 0; i < spec.listener_count; i++) {
    struct listener *l = &spec.listeners[i];
    if (!l->path) {
      struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(l->port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
      listen_at(l, &at, sizeof at);
    }
    hand_over(i, l->fd);
    close(l->fd);
  }
  close(spec.door);
}
