/*
 * Counts the bytes in the sockets of the world: kernel memory that belongs to no process. The kernel lists
 * the sockets of a network namespace (sock_diag), and the world has its own. On a kernel without that list
 * the count is 0; README.md says so.
 */
#include "world.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static int diag = -1;

void open_sockets(void) {
  diag = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  if (diag < 0) return;
  /* The kernel replies at once. The timeout only prevents a hang. */
  struct timeval second = {1, 0};
  setsockopt(diag, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
}

static uint64_t unix_bytes(const struct nlmsghdr *h) {
  const struct unix_diag_msg *m = NLMSG_DATA(h);
  const uint32_t *memory = NULL;
  const struct unix_diag_rqlen *queue = NULL;
  bool paired = false;
  int left = (int)(h->nlmsg_len - NLMSG_LENGTH(sizeof *m));
  for (const struct rtattr *a = (const struct rtattr *)(m + 1); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
    if (a->rta_type == UNIX_DIAG_MEMINFO) memory = RTA_DATA(a);
    if (a->rta_type == UNIX_DIAG_RQLEN) queue = RTA_DATA(a);
    if (a->rta_type == UNIX_DIAG_PEER) paired = *(const uint32_t *)RTA_DATA(a) != 0; /* 0: it was closed */
  }
  if (!memory) return 0;
  uint64_t bytes = memory[SK_MEMINFO_WMEM_ALLOC];
  /*
   * The memory belongs to the sender, and a closed sender is in no list. Its queue is then counted as all
   * that a sender can have; for datagrams, as many senders as can wait there (net.unix.max_dgram_qlen is 10).
   */
  if (!paired && queue && m->udiag_state != 10 /* TCP_LISTEN */ && queue->udiag_rqueue > 0)
    bytes += (uint64_t)memory[SK_MEMINFO_SNDBUF] * (m->udiag_type == SOCK_DGRAM ? 11 : 1);
  return bytes;
}

static uint64_t inet_bytes(const struct nlmsghdr *h) {
  const struct inet_diag_msg *m = NLMSG_DATA(h);
  int left = (int)(h->nlmsg_len - NLMSG_LENGTH(sizeof *m));
  for (const struct rtattr *a = (const struct rtattr *)(m + 1); RTA_OK(a, left); a = RTA_NEXT(a, left))
    if (a->rta_type == INET_DIAG_SKMEMINFO) {
      const uint32_t *memory = RTA_DATA(a);
      uint32_t sent = memory[SK_MEMINFO_WMEM_ALLOC], queued = memory[SK_MEMINFO_WMEM_QUEUED];
      return (uint64_t)memory[SK_MEMINFO_RMEM_ALLOC] + memory[SK_MEMINFO_BACKLOG] + (sent > queued ? sent : queued);
    }
  return 0;
}

/* Requests one list of sockets. Returns the sum of `bytes_of` over its records. */
static uint64_t sum_list(const void *question, size_t size, uint64_t (*bytes_of)(const struct nlmsghdr *)) {
  static char answers[65536] __attribute__((aligned(8)));
  struct { struct nlmsghdr h; char body[64]; } request = {.h = {.nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP}};
  request.h.nlmsg_len = (uint32_t)NLMSG_LENGTH(size);
  memcpy(request.body, question, size);
  if (send(diag, &request, request.h.nlmsg_len, 0) < 0) return 0;
  for (uint64_t bytes = 0;;) {
    ssize_t n = recv(diag, answers, sizeof answers, 0);
    if (n <= 0) return bytes;
    for (const struct nlmsghdr *h = (const struct nlmsghdr *)answers; NLMSG_OK(h, n); h = NLMSG_NEXT(h, n)) {
      if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR) return bytes;
      bytes += bytes_of(h);
    }
  }
}

static uint64_t number_after(const char *text, const char *line, const char *name) {
  const char *at = strstr(text, line);
  if (at) at = strstr(at, name);
  return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

uint64_t socket_bytes(const char *sockstat) {
  /* Without the socket that asks. A socket itself takes some 2 KiB of kernel memory. */
  uint64_t count = number_after(sockstat, "sockets:", "used ");
  if (diag < 0 || count <= 1) return 0;
  struct unix_diag_req all = {.sdiag_family = AF_UNIX, .udiag_states = ~0u, .udiag_show = UDIAG_SHOW_MEMINFO | UDIAG_SHOW_RQLEN | UDIAG_SHOW_PEER};
  uint64_t bytes = (count - 1) * 2048 + sum_list(&all, sizeof all, unix_bytes);
  /*
   * This number is the machine's. While it is small, the long list of the machine's connections is not read.
   */
  const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  if ((number_after(sockstat, "TCP:", "mem ") + number_after(sockstat, "UDP:", "mem ")) * page < 16 << 20) return bytes;
  for (int i = 0; i < 4; i++) {
    struct inet_diag_req_v2 question = {.sdiag_family = i & 1 ? AF_INET6 : AF_INET, .sdiag_protocol = i & 2 ? IPPROTO_UDP : IPPROTO_TCP,
                                        .idiag_ext = 1 << (INET_DIAG_SKMEMINFO - 1), .idiag_states = ~0u};
    bytes += sum_list(&question, sizeof question, inet_bytes);
  }
  return bytes;
}
