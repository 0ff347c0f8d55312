/*
 * Carries stdin, stdout and stderr. The payload gets real pipes: Node's pipes are sockets, and `>
 * /dev/stderr` fails on a socket (docs/measurements/shell.md). A full pipe or socket stops the flow. A reader
 * that does not read therefore stops the payload, and nothing piles up here.
 */
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

void end_relay(struct relay *r) {
  if (r->from >= 0) close(r->from);
  if (r->to >= 0) close(r->to);
  r->from = r->to = -1;
}

void carry(struct relay *r) {
  for (int turn = 0; turn < 16; turn++) {
    ssize_t n = splice(r->from, NULL, r->to, NULL, 1 << 16, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
    if (n > 0) {
      r->wait_to = false;
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {
      /* Nothing to read, or no room to write. Only the next poll can tell which. */
      struct pollfd look = {r->from, POLLIN, 0};
      r->wait_to = poll(&look, 1, 0) > 0 && (look.revents & POLLIN);
      return;
    }
    end_relay(r); /* end of file, or nobody reads any more: then the writer gets SIGPIPE */
    return;
  }
}

void non_blocking(int fd) {
  int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) fail("stdio");
}
