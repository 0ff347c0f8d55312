/*
 * The outer process stands between the caller and the world. It has the caller's rights, and does nothing
 * with the payload's output except carry it: bytes go from pipe to socket inside the kernel, unread.
 *
 * Descriptors: 0, 1, 2 are the caller's ends of stdin, stdout and stderr; 3 is the spec; 4 the status; 5 the
 * signals. When descriptor 5 ends, the job ends.
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
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SPEC_FD = 3, STATUS_FD = 4, SIGNALS_FD = 5 };

/*
 * ------------------------------------------------------------------------------------------------------- the
 * status
 */

/*
 * Writes one line in one write, so that a reader never sees half of one. No text in it comes from the
 * payload.
 */
__attribute__((format(printf, 1, 2))) static void write_status(const char *format, ...) {
  char line[512];
  va_list values;
  va_start(values, format);
  int n = vsnprintf(line, sizeof line, format, values);
  va_end(values);
  /* A caller that does not read must not delay the end of the world. The few lines fit into the pipe. */
  if (write(STATUS_FD, line, (size_t)n) != n) return;
}

static void write_failed(const char *stage, int error, int mount) {
  if (mount >= 0) write_status("{\"state\":\"failed\",\"stage\":\"%s\",\"errno\":%d,\"mount\":%d}\n", stage, error, mount);
  else write_status("{\"state\":\"failed\",\"stage\":\"%s\",\"errno\":%d}\n", stage, error);
}

static uint64_t now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

/*
 * Whether the kernel ended the job because of the job's own limit, and not because the machine had no memory
 * left.
 */
static bool out_of_memory(void) {
  return cgroup_number("memory.events", "\noom ") > 0 && cgroup_number("memory.events", "\noom_kill ") > 0;
}

/* Killing pid 1 kills every process of the world. */
static void kill_world(pid_t child) {
  kill_cgroup();
  kill(child, SIGKILL);
}

/* Pid 1, once it is there. */
static pid_t world;

/* Nothing is left of the world when the line is written. */
static void report_failure(const char *stage, int error, int mount) {
  if (world > 0) {
    kill_world(world);
    waitpid(world, NULL, 0);
  }
  write_failed(stage, error, mount);
  _exit(1);
}

static void write_ended(bool killed, uint64_t wall_us, const struct rusage *usage) {
  /*
   * The larger of two numbers: what pid 1 saw, and what the kernel counted of processes that were waited for.
   * The second alone misses killed processes that nobody reaped (docs/measurements/shell.md).
   */
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
  write_status("{\"state\":\"ended\",\"how\":%s,\"wallUs\":%llu,\"cpuUs\":%llu,\"peakBytes\":%llu,\"processes\":%llu}\n", how, (unsigned long long)wall_us,
      (unsigned long long)cpu, (unsigned long long)(held > shared->peak ? held : shared->peak), (unsigned long long)shared->processes);
}

/*
 * ------------------------------------------------------------------------------------------------------
 * supervision
 */

/* The outer process's state while the program runs. A descriptor that is closed is -1. */
struct world {
  pid_t child; /* pid 1 */
  int pidfd, lifeline, events, signals;
  struct relay relays[3];
  uint64_t began;
  bool alive, killed, failed;
};

/* Reads one event of pid 1 and writes its status line. */
static void read_event(struct world *w) {
  struct event e;
  if (read(w->events, &e, sizeof e) != (ssize_t)sizeof e) {
    close(w->events);
    w->events = -1;
  } else if (e.what == EVENT_STARTED) {
    write_status("{\"state\":\"started\",\"pid\":%d,\"setupUs\":%llu}\n", (int)w->child, (unsigned long long)(now_us() - w->began));
  } else if (e.what == EVENT_LEADER) {
    if (spec.linger) write_status("{\"state\":\"leader\",\"status\":%d}\n", shared->leader);
  } else {
    w->failed = true;
    write_failed(e.stage, e.error, e.mount);
  }
}

/*
 * Each byte from the caller is a signal. At the end of the pipe the caller is gone or has let go: the world
 * ends.
 */
static void read_signals(struct world *w) {
  unsigned char bytes[64];
  ssize_t n = read(w->signals, bytes, sizeof bytes);
  if (n <= 0) {
    close(w->signals);
    w->signals = -1;
    if (WITHOUT("lifeline")) return;
    w->killed = true;
    if (w->alive) kill_world(w->child);
  }
  for (ssize_t i = 0; i < n; i++) {
    if (bytes[i] == SIGKILL) {
      w->killed = true;
      if (w->alive) kill_world(w->child);
    } else if (w->alive && write(w->lifeline, &bytes[i], 1) != 1) {
      break;
    }
  }
}

/* Pid 1 is over, and with it every process of the world. */
static void reap_world(struct world *w) {
  struct rusage usage;
  if (wait4(w->child, NULL, 0, &usage) != w->child) return;
  w->alive = false;
  end_relay(&w->relays[0]);
  /*
   * Somebody killed pid 1 before it had a payload. The caller may try again, so this is a failure and no end.
   */
  if (!w->failed && !w->killed && !shared->begun) {
    w->failed = true;
    if (out_of_memory()) write_failed("memory", ENOMEM, -1);
    else write_failed("init", ECHILD, -1);
  }
  if (!w->failed) write_ended(w->killed, now_us() - w->began, &usage);
  close(STATUS_FD);
}

/*
 * Carries data and writes status lines until the world is over and its output is read. Returns the exit
 * status.
 */
static int supervise(struct world *w) {
  struct relay *relays = w->relays;
  if (!spec.input) end_relay(&relays[0]);
  for (int i = 0; i < 3; i++)
    if (relays[i].from >= 0) {
      non_blocking(relays[i].from);
      non_blocking(relays[i].to);
    }

  while (w->alive || relays[1].from >= 0 || relays[2].from >= 0) {
    if (!w->alive && w->signals < 0) break; /* nobody is there to read the rest */
    struct pollfd set[9] = {{w->signals, POLLIN, 0}, {w->events, POLLIN, 0}, {w->alive ? w->pidfd : -1, POLLIN, 0}};
    for (int i = 0; i < 3; i++) {
      /* The reader's end is always polled: a relay whose reader is gone ends although nothing was written. */
      set[3 + 2 * i] = (struct pollfd){relays[i].wait_to ? -1 : relays[i].from, POLLIN, 0};
      set[4 + 2 * i] = (struct pollfd){relays[i].to, relays[i].wait_to ? POLLOUT : 0, 0};
    }
    if (poll(set, 9, -1) < 0 && errno != EINTR) break;
    if (set[1].revents) {
      read_event(w);
      continue; /* write the line of an event before that of its consequence */
    }
    if (set[0].revents) read_signals(w);
    if (set[2].revents) reap_world(w);
    for (int i = 0; i < 3; i++) {
      struct relay *r = &relays[i];
      if (r->from < 0) continue;
      if (set[4 + 2 * i].revents & (POLLERR | POLLHUP | POLLNVAL)) end_relay(r);
      else if (set[3 + 2 * i].revents || set[4 + 2 * i].revents) carry(r);
    }
  }
  reap_checker();
  return w->failed ? 1 : 0;
}

/*
 * -----------------------------------------------------------------------------------------------------------
 * set-up
 */

/* If memory runs out after all, the kernel takes this job first. */
static void prefer_this_job_for_oom(void) {
  int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (score < 0 || WITHOUT("oom")) return;
  if (write(score, "800", 3) != 3) fail("oom");
  close(score);
}

/* The pipes to the world. [0] is the end to read, [1] the end to write. `life` is a pair of sockets: it carries mounts. */
struct pipes { int in[2], out[2], err[2], life[2], events[2]; };

static struct pipes open_pipes(bool input) {
  struct pipes p = {.in = {-1, -1}};
  if ((input && pipe2(p.in, O_CLOEXEC) < 0) || pipe2(p.out, O_CLOEXEC) < 0 || pipe2(p.err, O_CLOEXEC) < 0 ||
      socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, p.life) < 0 || pipe2(p.events, O_CLOEXEC) < 0)
    fail("pipes");
  return p;
}

/* For root: the payload gets an id of its own, so it must own its pipes. */
static void set_up_for_root(const struct pipes *p) {
  if (!WITHOUT("groups") && setgroups(0, NULL) < 0) fail("groups"); /* the payload would inherit root's groups */
  /* `> /dev/stderr` opens the pipe anew, which only its owner may do. */
  for (int i = 0, ends[] = {p->in[0], p->out[1], p->err[1]}; i < 3; i++)
    if (ends[i] >= 0 && !WITHOUT("pipe-owner") && fchown(ends[i], outside_id, outside_id) < 0) fail("pipes");
  make_device_trees();
}

_Noreturn static void become_pid_1(const struct pipes *p, int used) {
  close(p->life[1]);
  close(p->events[0]);
  close(p->out[0]);
  close(p->err[0]);
  if (p->in[1] >= 0) close(p->in[1]);
  if (!WITHOUT("status")) close(STATUS_FD); /* a payload that had it could forge its exit status */
  close(SIGNALS_FD);
  if (used >= 0) {
    close(SPEC_FD);
    close(used);
  }
  for (int fd = 0; fd < 3; fd++) close(fd);
  run_world(p->life[0], p->events[1], (struct ends){p->in[0], p->out[1], p->err[1]}, used >= 0);
}

/* Closes the world's ends, so that each end of file is seen here. */
static void close_ends_of_world(const struct pipes *p) {
  close(p->life[0]);
  close(p->events[1]);
  close(p->out[1]);
  close(p->err[1]);
  if (p->in[0] >= 0) close(p->in[0]);
  for (int i = 0; i < DEVICE_COUNT && as_root; i++) close(devices[i].tree);
  if (spec.channel >= 0) close(spec.channel);
  if (spec.door >= 0) close(spec.door);
  if (spec.cgroup >= 0) close(spec.cgroup);
}

static void map_ids(pid_t child, uid_t uid, gid_t gid) {
  char uids[64], gids[64];
  snprintf(uids, sizeof uids, "%u %u 1\n", INSIDE_ID, as_root && !WITHOUT("unroot") ? outside_id : uid);
  snprintf(gids, sizeof gids, "%u %u 1\n", INSIDE_ID, as_root && !WITHOUT("unroot") ? outside_id : gid);
  write_maps(child, uids, gids);
}

static void take_spec(void) {
  if (!read_spec(SPEC_FD)) {
    if (world > 0) _exit(0);
    fail_at("spec", EINVAL, -1);
  }
  close(SPEC_FD);
  parse_spec();
}

/* Waits for the spec of a job, if any comes: the caller may end, and somebody may kill pid 1. */
static void wait_for_spec(int pidfd, int events, int used) {
  struct event e;
  if (read(events, &e, sizeof e) != (ssize_t)sizeof e) fail_at("init", ECHILD, -1);
  if (e.what != EVENT_READY) fail_at(e.stage, e.error, e.mount);
  write_status("{\"state\":\"waiting\",\"outer\":%d,\"pid\":%d}\n", (int)getpid(), (int)world);
  struct pollfd set[3] = {{SPEC_FD, POLLIN, 0}, {SIGNALS_FD, 0, 0}, {pidfd, POLLIN, 0}};
  while (poll(set, 3, -1) < 0 && errno == EINTR) continue;
  if (set[1].revents || set[2].revents) _exit(1);
  take_spec();
  close(used);
  /* Their descriptors are inherited, so they are there before the world. */
  if (spec.channel >= 0 || spec.door >= 0 || spec.cgroup >= 0) fail_at("spec", EINVAL, -1);
  has_started();
  kill(world, SIGCONT); /* somebody may have stopped it meanwhile */
}

/* Everything that needs no spec, except for the cgroup. Returns the pid of pid 1; does not return in pid 1. */
static pid_t make_world(struct pipes *p, int *pidfd, int used) {
  as_root = geteuid() == 0;
  /* The process id makes this id different from that of every other running job. */
  if (as_root && !WITHOUT("own-id")) outside_id += (uint32_t)getpid();
  uid_t uid = geteuid();
  gid_t gid = getegid();
  prefer_this_job_for_oom();
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) fail("pipes");
  *p = open_pipes(used >= 0 || spec.input);
  if (as_root) set_up_for_root(p);
  pid_t child = clone_world(pidfd);
  if (child < 0) fail(spec.cgroup >= 0 && errno != EPERM && errno != ENOSPC && errno != EAGAIN ? "cgroup" : "userns");
  if (child == 0) become_pid_1(p, used);
  world = child;
  map_ids(child, uid, gid);
  say(p->life[1], MAPPED);
  close_ends_of_world(p);
  return child;
}

/* Gives pid 1 what the spec names, and lets it run the payload. */
static void build_world(const struct pipes *p) {
  /* If this process is killed after this line, nobody can tell whether the payload ran. */
  write_status("{\"state\":\"building\",\"pid\":%d}\n", (int)world);
  say(p->life[1], SPEC);
  if (as_root) {
    int idmap = WITHOUT("idmap") ? -1 : make_idmap();
    make_trees(true, idmap);
    if (idmap >= 0) close(idmap);
  }
  send_mounts(p->life[1]);
  await_check();
  say(p->life[1], RUN);
}

int main(int argc, char **argv) {
  on_failure = report_failure;
#ifdef HOB_WITHOUT
  read_skipped_steps();
  if (argc == 3 && strcmp(argv[1], "--filter") == 0) {
    print_filter(strcmp(argv[2], "x86-64") == 0);
    return 0;
  }
#endif
  /* Without a spec: for jobs to come. `used` is then a descriptor to close when the spec is there. */
  bool ahead = argc == 1 && is_ahead(argv[0]);
  if (argc != 1 || fcntl(STATUS_FD, F_GETFD) < 0 || fcntl(SIGNALS_FD, F_GETFD) < 0) {
    fputs("hob-sandbox is started by Hob; see sandbox/PROTOCOL.md\n", stderr);
    return 2;
  }
  pid_t caller = getppid(), parent = caller;
  uint64_t began = now_us();
  signal(SIGPIPE, SIG_IGN);
  setsid(); /* signals from the caller's terminal are not for this process */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != caller) return 1;
  int used = -1;
  if (ahead) {
    used = start_ahead();
    parent = getppid();
  }
  /* Close every descriptor at exec. The spec lists those that are used. */
  if (!WITHOUT("close") && sys_close_range(3, ~0u, 4 /* CLOSE_RANGE_CLOEXEC */) < 0) fail("close");
  make_room_for_spec();
  if (!ahead) take_spec();
  open_cgroup();
  struct pipes p;
  int pidfd = -1;
  pid_t child = make_world(&p, &pidfd, used);
  /* Set again: the kernel clears it when the effective id changes. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) return 1;
  if (ahead) {
    wait_for_spec(pidfd, p.events[0], used);
    began = now_us();
    take_held(caller);
    if (getppid() != parent) return 1; /* the caller is gone too: they may be another's */
  }
  build_world(&p);

  struct world w = {.child = child, .pidfd = pidfd, .lifeline = p.life[1], .events = p.events[0], .signals = SIGNALS_FD, .began = began, .alive = true};
  w.relays[0] = (struct relay){0, p.in[1], false};
  w.relays[1] = (struct relay){p.out[0], 1, false};
  w.relays[2] = (struct relay){p.err[0], 2, false};
  return supervise(&w);
}
