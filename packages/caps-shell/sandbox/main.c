/*
 * The outer process: between the caller and the world, in neither's power. It runs with the caller's rights but does
 * nothing with what the payload sends except to carry it: bytes go from pipe to socket inside the kernel, unread.
 *
 * Descriptors: 0 1 2 the caller's ends of stdin, stdout, stderr; 3 the spec; 4 the status; 5 orders, whose end is the end.
 */
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SPEC_FD = 3, STATUS_FD = 4, ORDERS_FD = 5 };

struct shared *shared;
bool as_root;

/* ------------------------------------------------------------------------------------------------------- the status */

/* One line, one write: a reader never sees half of one. All text in it is ours. */
__attribute__((format(printf, 1, 2))) static void say(const char *format, ...) {
  char line[512];
  va_list values;
  va_start(values, format);
  int n = vsnprintf(line, sizeof line, format, values);
  va_end(values);
  /* A caller that does not read must not hold up the end of the world: there is room for the few lines that there are. */
  if (write(STATUS_FD, line, (size_t)n) != n) return;
}

static void say_failure(const char *stage, int error, int mount) {
  if (mount >= 0) say("{\"state\":\"failed\",\"stage\":\"%s\",\"errno\":%d,\"mount\":%d}\n", stage, error, mount);
  else say("{\"state\":\"failed\",\"stage\":\"%s\",\"errno\":%d}\n", stage, error);
  _exit(1);
}

void (*on_failure)(const char *, int, int) = say_failure;

void fail_at(const char *stage, int error, int mount) {
  on_failure(stage, error, mount);
  abort();
}
void fail(const char *stage) { fail_at(stage, errno, -1); }

/* --------------------------------------------------------------------------------------------------------- the clone */

static void write_map(pid_t pid, const char *name, const char *text) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text)) fail("map");
  close(fd);
}

static void write_maps(pid_t pid, const char *uids, const char *gids) {
  write_map(pid, "setgroups", "deny"); /* or a process could leave a group that a file denies something to */
  write_map(pid, "uid_map", uids);
  write_map(pid, "gid_map", gids);
}

/* glibc's own has no flags. Without CLONE_VM this is a fork. */
static pid_t clone_with(unsigned long flags, int *pidfd) { return (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0, pidfd, 0, 0); }

/*
 * For root: a user namespace that nobody lives in and that says how ids on a granted mount are to be read. Root's files are
 * the payload's; all others keep their owner, whom the world does not have, so they are reached as by anybody.
 */
static int make_idmap(void) {
  int hold[2];
  if (pipe2(hold, O_CLOEXEC) < 0) fail("idmap");
  pid_t pid = clone_with(CLONE_NEWUSER, NULL);
  if (pid < 0) fail("userns");
  if (pid == 0) {
    char end;
    close(hold[1]);
    _exit(read(hold[0], &end, 1) == 0 ? 0 : 1);
  }
  char map[128], path[64];
  snprintf(map, sizeof map, "0 %u 1\n1 1 %u\n%u %u %u\n", OUTSIDE_ID, OUTSIDE_ID - 1, OUTSIDE_ID + 1, OUTSIDE_ID + 1, 4294967294u - OUTSIDE_ID);
  write_maps(pid, map, map);
  snprintf(path, sizeof path, "/proc/%d/ns/user", (int)pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail("idmap");
  close(hold[0]);
  close(hold[1]);
  waitpid(pid, NULL, 0);
  return fd;
}

static unsigned long namespaces(void) {
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

/* ------------------------------------------------------------------------------------------------------- stdin & co. */

/*
 * The payload gets real pipes: what Node calls a pipe is a socket, and `> /dev/stderr` on a socket fails (T17).
 * A full pipe or socket stops the flow, so a reader that does not read stops the payload and nothing piles up here.
 */
struct relay { int from, to; bool wait_to; };

static void end_relay(struct relay *r) {
  if (r->from >= 0) close(r->from);
  if (r->to >= 0) close(r->to);
  r->from = r->to = -1;
}

static void carry(struct relay *r) {
  for (int turn = 0; turn < 16; turn++) {
    ssize_t n = splice(r->from, NULL, r->to, NULL, 1 << 16, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
    if (n > 0) {
      r->wait_to = false;
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {
      /* Nothing to read, or no room to write; which, only the next poll can tell. */
      struct pollfd look = {r->from, POLLIN, 0};
      r->wait_to = poll(&look, 1, 0) > 0 && (look.revents & POLLIN);
      return;
    }
    end_relay(r); /* the end, or nobody reads any more: then the writer is told by SIGPIPE */
    return;
  }
}

static void non_blocking(int fd) {
  int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) fail("stdio");
}

/* -------------------------------------------------------------------------------------------------------------- main */

static uint64_t now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

static void say_end(int killed, uint64_t wall_us, const struct rusage *usage) {
  /* What pid 1 saw, or what the kernel counted of those that were waited for, whichever is more (T22). */
  uint64_t counted = (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000u + (uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
  uint64_t cpu = counted > shared->cpu_us ? counted : shared->cpu_us;
  char how[64];
  int status = shared->leader;
  if (shared->limit) snprintf(how, sizeof how, "\"limit\",\"limit\":\"%s\"", shared->limit == LIMIT_MEMORY ? "memory" : "cpu");
  else if (!shared->leader_over) snprintf(how, sizeof how, killed ? "\"killed\"" : "\"lost\"");
  else if (WIFEXITED(status)) snprintf(how, sizeof how, "\"exit\",\"code\":%d", WEXITSTATUS(status));
  else if (WTERMSIG(status) == SIGXCPU) snprintf(how, sizeof how, "\"limit\",\"limit\":\"cpu\"");
  else snprintf(how, sizeof how, "\"signal\",\"signal\":%d", WTERMSIG(status));
  say("{\"state\":\"ended\",\"how\":%s,\"wallUs\":%llu,\"cpuUs\":%llu,\"peakBytes\":%llu,\"processes\":%llu}\n", how, (unsigned long long)wall_us,
      (unsigned long long)cpu, (unsigned long long)shared->peak, (unsigned long long)shared->processes);
}

#ifdef HOB_WITHOUT
void print_filter(bool x86);

static char left_out[256] = ",";

static void read_left_out(void) {
  char file[4096] = "";
  if (readlink("/proc/self/exe", file, sizeof file - 1) < 0) fail("init");
  const char *steps = strstr(file, ".without.");
  if (steps) snprintf(left_out, sizeof left_out, ",%s,", steps + strlen(".without."));
}

bool without(const char *step) {
  char name[64];
  snprintf(name, sizeof name, ",%s,", step);
  return strstr(left_out, name) != NULL;
}
#endif

int main(int argc, char **argv) {
#ifdef HOB_WITHOUT
  read_left_out();
  if (argc == 3 && strcmp(argv[1], "--filter") == 0) {
    print_filter(strcmp(argv[2], "x86-64") == 0);
    return 0;
  }
#endif
  (void)argv;
  if (argc > 1 || fcntl(STATUS_FD, F_GETFD) < 0 || fcntl(ORDERS_FD, F_GETFD) < 0) {
    fputs("hob-sandbox is started by Hob; see sandbox/PROTOCOL.md\n", stderr);
    return 2;
  }
  pid_t caller = getppid();
  uint64_t began = now_us();
  signal(SIGPIPE, SIG_IGN);
  setsid(); /* what is typed at the caller's terminal is not meant for us */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != caller) return 1;
  /* Everything that is open ends with exec. Which of them are used, the spec says by number. */
  if (!WITHOUT("close") && sys_close_range(3, ~0u, 4 /* CLOSE_RANGE_CLOEXEC */) < 0) fail("close");
  read_spec(SPEC_FD);
  close(SPEC_FD);
  as_root = geteuid() == 0;
  uid_t uid = geteuid();
  gid_t gid = getegid();

  /* If memory runs out after all, it is this job that the kernel takes. */
  int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (score >= 0 && !WITHOUT("oom")) {
    if (write(score, "800", 3) != 3) fail("oom");
    close(score);
  }
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int in[2] = {-1, -1}, out[2], err[2], life[2], news[2];
  if (shared == MAP_FAILED || (spec.input && pipe2(in, O_CLOEXEC) < 0) || pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0 ||
      pipe2(life, O_CLOEXEC) < 0 || pipe2(news, O_CLOEXEC) < 0)
    fail("pipes");

  if (as_root) {
    if (!WITHOUT("groups") && setgroups(0, NULL) < 0) fail("groups"); /* root's groups would be the payload's */
    /* A pipe belongs to who made it, and `> /dev/stderr` opens it anew. */
    for (int i = 0, ends[] = {in[0], out[1], err[1]}; i < 3; i++)
      if (ends[i] >= 0 && !WITHOUT("pipe-owner") && fchown(ends[i], OUTSIDE_ID, OUTSIDE_ID) < 0) fail("pipes");
    make_trees(true, WITHOUT("idmap") ? -1 : make_idmap());
  }
  int pidfd = -1;
  pid_t child = clone_with(namespaces() | CLONE_PIDFD, &pidfd);
  if (child < 0) fail("userns");
  if (child == 0) {
    close(life[1]);
    close(news[0]);
    close(out[0]);
    close(err[0]);
    if (in[1] >= 0) close(in[1]);
    if (!WITHOUT("status")) close(STATUS_FD); /* a payload that has it says how it ended (T20) */
    close(ORDERS_FD);
    for (int fd = 0; fd < 3; fd++) close(fd);
    run_world(life[0], news[1], in[0], out[1], err[1]);
  }
  char uids[64], gids[64];
  snprintf(uids, sizeof uids, "%u %u 1\n", INSIDE_ID, as_root && !WITHOUT("unroot") ? OUTSIDE_ID : uid);
  snprintf(gids, sizeof gids, "%u %u 1\n", INSIDE_ID, as_root && !WITHOUT("unroot") ? OUTSIDE_ID : gid);
  write_maps(child, uids, gids);
  if (write(life[1], "", 1) != 1) fail("init");
  close(life[0]);
  close(news[1]);
  close(out[1]);
  close(err[1]);
  if (in[0] >= 0) close(in[0]);
  for (int i = 0; i < spec.mount_count; i++) {
    close(spec.mounts[i].fd);
    if (as_root) close(spec.mounts[i].tree);
  }
  if (spec.channel >= 0) close(spec.channel); /* or its other end would not see that the payload is gone */

  struct relay relays[3] = {{0, in[1], false}, {out[0], 1, false}, {err[0], 2, false}};
  if (!spec.input) relays[0] = (struct relay){-1, -1, false};
  for (int i = 0; i < 3; i++)
    if (relays[i].from >= 0) {
      non_blocking(relays[i].from);
      non_blocking(relays[i].to);
    }

  bool alive = true, killed = false, failed = false;
  int orders = ORDERS_FD, tidings = news[0];
  while (alive || relays[1].from >= 0 || relays[2].from >= 0) {
    struct pollfd set[9] = {{orders, POLLIN, 0}, {tidings, POLLIN, 0}, {alive ? pidfd : -1, POLLIN, 0}};
    for (int i = 0; i < 3; i++) {
      /* The reader's end is always looked at: a reader that is gone ends the relay though nothing was written. */
      set[3 + 2 * i] = (struct pollfd){relays[i].wait_to ? -1 : relays[i].from, POLLIN, 0};
      set[4 + 2 * i] = (struct pollfd){relays[i].to, relays[i].wait_to ? POLLOUT : 0, 0};
    }
    if (poll(set, 9, -1) < 0 && errno != EINTR) break;
    if (set[1].revents) {
      struct news n;
      if (read(tidings, &n, sizeof n) != (ssize_t)sizeof n) {
        close(tidings);
        tidings = -1;
      } else if (n.what == NEWS_STARTED) {
        say("{\"state\":\"started\",\"pid\":%d,\"setupUs\":%llu}\n", (int)child, (unsigned long long)(now_us() - began));
      } else if (n.what == NEWS_LEADER) {
        if (spec.linger) say("{\"state\":\"leader\",\"status\":%d}\n", shared->leader);
      } else {
        failed = true;
        if (n.mount >= 0) say("{\"state\":\"failed\",\"stage\":\"%s\",\"errno\":%d,\"mount\":%d}\n", n.stage, n.error, n.mount);
        else say("{\"state\":\"failed\",\"stage\":\"%s\",\"errno\":%d}\n", n.stage, n.error);
      }
      continue; /* what was told is said before what came of it */
    }
    if (set[0].revents) {
      unsigned char bytes[64];
      ssize_t n = read(orders, bytes, sizeof bytes);
      if (n <= 0) {
        close(orders);
        orders = -1;
        if (WITHOUT("lifeline")) continue;
        killed = true;
        if (!alive) break; /* nobody is there to read the rest */
        kill(child, SIGKILL);
      }
      for (ssize_t i = 0; i < n; i++) {
        if (bytes[i] == SIGKILL) {
          killed = true;
          if (alive) kill(child, SIGKILL);
        } else if (alive && write(life[1], &bytes[i], 1) != 1) {
          break;
        }
      }
    }
    if (set[2].revents) {
      struct rusage usage;
      if (wait4(child, NULL, 0, &usage) == child) {
        alive = false;
        end_relay(&relays[0]);
        if (!failed) say_end(killed, now_us() - began, &usage);
        close(STATUS_FD);
        if (orders < 0) break;
      }
    }
    for (int i = 0; i < 3; i++) {
      struct relay *r = &relays[i];
      if (r->from < 0) continue;
      if (set[4 + 2 * i].revents & (POLLERR | POLLHUP | POLLNVAL)) end_relay(r);
      else if (set[3 + 2 * i].revents || set[4 + 2 * i].revents) carry(r);
    }
  }
  return failed ? 1 : 0;
}
