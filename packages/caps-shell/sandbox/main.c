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
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SPEC_FD = 3, STATUS_FD = 4, ORDERS_FD = 5 };

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

static void say_failed(const char *stage, int error, int mount) {
  if (mount >= 0) say("{\"state\":\"failed\",\"stage\":\"%s\",\"errno\":%d,\"mount\":%d}\n", stage, error, mount);
  else say("{\"state\":\"failed\",\"stage\":\"%s\",\"errno\":%d}\n", stage, error);
}

static void say_failure(const char *stage, int error, int mount) {
  say_failed(stage, error, mount);
  _exit(1);
}

static uint64_t now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

/* The kernel ended the job because of the job's own limit, and not because the machine had no memory left. */
static bool out_of_memory(void) {
  return cgroup_number("memory.events", "\noom ") > 0 && cgroup_number("memory.events", "\noom_kill ") > 0;
}

static void end_world(pid_t child) {
  kill_cgroup();
  kill(child, SIGKILL);
}

static void say_end(int killed, uint64_t wall_us, const struct rusage *usage) {
  /* What pid 1 saw, or what the kernel counted of those that were waited for, whichever is more (T22). */
  uint64_t counted = (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000u + (uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
  uint64_t cpu = counted > shared->cpu_us ? counted : shared->cpu_us, in_cgroup = cgroup_number("cpu.stat", "usage_usec ");
  if (in_cgroup > cpu) cpu = in_cgroup;
  uint64_t held = cgroup_number("memory.peak", "");
  if (out_of_memory()) shared->limit = LIMIT_MEMORY;
  char how[64];
  int status = shared->leader;
  if (shared->limit) snprintf(how, sizeof how, "\"limit\",\"limit\":\"%s\"", shared->limit == LIMIT_MEMORY ? "memory" : "cpu");
  else if (!shared->leader_over) snprintf(how, sizeof how, killed ? "\"killed\"" : "\"lost\"");
  else if (WIFEXITED(status)) snprintf(how, sizeof how, "\"exit\",\"code\":%d", WEXITSTATUS(status));
  else if (WTERMSIG(status) == SIGXCPU) snprintf(how, sizeof how, "\"limit\",\"limit\":\"cpu\"");
  else snprintf(how, sizeof how, "\"signal\",\"signal\":%d", WTERMSIG(status));
  say("{\"state\":\"ended\",\"how\":%s,\"wallUs\":%llu,\"cpuUs\":%llu,\"peakBytes\":%llu,\"processes\":%llu}\n", how, (unsigned long long)wall_us,
      (unsigned long long)cpu, (unsigned long long)(held > shared->peak ? held : shared->peak), (unsigned long long)shared->processes);
}

/* --------------------------------------------------------------------------------------------------------- the watch */

/* Carries and tells until the world is over and what it wrote is read. */
static int watch(pid_t child, int pidfd, int lifeline, int tidings, struct relay relays[3], uint64_t began) {
  if (!spec.input) relays[0] = (struct relay){-1, -1, false};
  for (int i = 0; i < 3; i++)
    if (relays[i].from >= 0) {
      non_blocking(relays[i].from);
      non_blocking(relays[i].to);
    }

  bool alive = true, killed = false, failed = false;
  int orders = ORDERS_FD;
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
        say_failed(n.stage, n.error, n.mount);
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
        end_world(child);
      }
      for (ssize_t i = 0; i < n; i++) {
        if (bytes[i] == SIGKILL) {
          killed = true;
          if (alive) end_world(child);
        } else if (alive && write(lifeline, &bytes[i], 1) != 1) {
          break;
        }
      }
    }
    if (set[2].revents) {
      struct rusage usage;
      if (wait4(child, NULL, 0, &usage) == child) {
        alive = false;
        end_relay(&relays[0]);
        /* Somebody killed pid 1 before it had a payload. The caller may well try again, so this is no end. */
        if (!failed && !killed && !shared->begun) {
          failed = true;
          if (out_of_memory()) say_failed("memory", ENOMEM, -1);
          else say_failed("init", ECHILD, -1);
        }
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

/* -------------------------------------------------------------------------------------------------------------- main */

int main(int argc, char **argv) {
  on_failure = say_failure;
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
  open_cgroup();
  as_root = geteuid() == 0;
  /* Its process id makes the id of this job unlike that of any other job that runs now. */
  if (as_root && !WITHOUT("own-id")) outside_id += (uint32_t)getpid();
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
      if (ends[i] >= 0 && !WITHOUT("pipe-owner") && fchown(ends[i], outside_id, outside_id) < 0) fail("pipes");
    make_trees(true, WITHOUT("idmap") ? -1 : make_idmap());
  }
  int pidfd = -1;
  pid_t child = clone_world(&pidfd);
  if (child < 0) fail(spec.cgroup >= 0 && errno != EPERM && errno != ENOSPC && errno != EAGAIN ? "cgroup" : "userns");
  if (spec.cgroup >= 0) close(spec.cgroup);
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
  /* Again: the kernel forgets it when the effective id changes. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != caller) return 1;
  char uids[64], gids[64];
  snprintf(uids, sizeof uids, "%u %u 1\n", INSIDE_ID, as_root && !WITHOUT("unroot") ? outside_id : uid);
  snprintf(gids, sizeof gids, "%u %u 1\n", INSIDE_ID, as_root && !WITHOUT("unroot") ? outside_id : gid);
  write_maps(child, uids, gids);
  /* If this process is killed from now on, nobody can say whether the payload ran. */
  say("{\"state\":\"building\",\"pid\":%d}\n", (int)child);
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
  return watch(child, pidfd, life[1], news[0], relays, began);
}
