/*
 * Pid 1 of the world. It builds the world, gives up every right, starts the payload, and from then on only watches and
 * reaps: when it ends, by whatever cause, the kernel kills every process of the world, also those that left their
 * group, trap TERM, or fork without end. Nothing else could promise that (T4).
 */
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

struct shared *shared;
static int news_fd;

static void tell(struct news n) {
  if (write(news_fd, &n, sizeof n) != (ssize_t)sizeof n) _exit(1);
}

static void tell_failure(const char *stage, int error, int mount) {
  struct news n = {.what = NEWS_FAILED, .error = error, .mount = mount};
  strncpy(n.stage, stage, sizeof n.stage - 1);
  tell(n);
  _exit(1);
}

/* ------------------------------------------------------------------------------------------------ before the payload */

/* The outer process is there? `getppid` cannot say: a parent in another pid namespace is always 0. Its pipe can. */
static void check_alive(int lifeline) {
  struct pollfd p = {lifeline, POLLIN, 0};
  if (poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR))) _exit(1);
}

static void become_somebody(int lifeline) {
  /* With the ids of the world; before that, a file of ours would have an owner that the world does not have. */
  if (setresgid(INSIDE_ID, INSIDE_ID, INSIDE_ID) < 0 || setresuid(INSIDE_ID, INSIDE_ID, INSIDE_ID) < 0) fail("ids");
  /* After the change of ids, which clears it (T3). The pipe covers the moment before, and whatever kills in another way. */
  if (!WITHOUT("pdeathsig") && prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) fail("pdeathsig");
  check_alive(lifeline);
  /* No debugger, no /proc/1/fd, /proc/1/mem or /proc/1/root for the payload, which has the same uid (T20). */
  if (prctl(PR_SET_DUMPABLE, WITHOUT("dumpable") ? 1 : 0) < 0) fail("dumpable");
  if (setsid() < 0) fail("session");
  umask(022);
}

static void finish_namespaces(void) {
  /* Again, for the first one was made of the cgroup of the outer process: what /proc/self/cgroup says begins at this job's. */
  if (spec.cgroup >= 0 && !WITHOUT("cgroupns") && unshare(CLONE_NEWCGROUP) < 0) fail("cgroup");
  if (!WITHOUT("hostname") && (sethostname("hob", 3) < 0 || setdomainname("", 0) < 0)) fail("hostname");
  int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
  if (s < 0 || (ioctl(s, SIOCSIFFLAGS, &lo) < 0 && !WITHOUT("netns"))) fail("lo");
  close(s);
  /* Keyrings belong to no namespace: leave the caller's session keyring for a new one (T11). ENOSYS: a kernel without. */
  if (!WITHOUT("keyring") && syscall(SYS_keyctl, 1 /* JOIN_SESSION_KEYRING */, NULL) < 0 && errno != ENOSYS) fail("keyring");
}

static void drop_rights(void) {
  if (!WITHOUT("nnp") && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) fail("nnp");
  if (WITHOUT("caps")) return;
  for (int cap = 0; cap < 64; cap++)
    if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0) {
      if (errno == EINVAL && cap > 0) break; /* past the last one */
      fail("caps");
    }
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0) fail("caps");
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct none[2] = {{0}};
  if (syscall(SYS_capset, &header, none) < 0) fail("caps");
}

/* ------------------------------------------------------------------------------------------------------- the payload */

static void cap_at(int which, uint64_t value) {
  struct rlimit now, l = {value, value};
  if (getrlimit(which, &now) < 0) fail("rlimit");
  /* The caller's own limit may be lower, and without a capability only goes down. */
  if (now.rlim_max != RLIM_INFINITY && now.rlim_max < value) l.rlim_cur = l.rlim_max = now.rlim_max;
  if (setrlimit(which, &l) < 0) fail("rlimit");
}

static void set_limits(void) {
  const struct limits *l = &spec.limits;
  cap_at(RLIMIT_CORE, 1); /* not 0: a host's core_pattern with a pipe ignores 0, and runs a program of root's for each crash */
  cap_at(RLIMIT_NOFILE, l->open_files);
  if (!WITHOUT("fsize")) cap_at(RLIMIT_FSIZE, l->file_bytes);
  if (!WITHOUT("nproc")) cap_at(RLIMIT_NPROC, l->processes + 1); /* pid 1 counts, too */
  /*
   * Not RLIMIT_AS, and RLIMIT_DATA with room to spare: node, Go and wasm reserve far more than they use (V8 half a GiB for
   * each isolate) and die of it at the start (T6). What is used, the watchdog sums; this is for what outruns it.
   */
  if (!WITHOUT("data")) cap_at(RLIMIT_DATA, l->memory + (4ull << 30));
  if (!WITHOUT("cpu-each")) cap_at(RLIMIT_CPU, l->cpu_ms / 1000 + 1); /* of one process; the sum is watched (T7) */
  cap_at(RLIMIT_NICE, 0);
  cap_at(RLIMIT_RTPRIO, 0);
  cap_at(RLIMIT_MSGQUEUE, 819200);
  if (!WITHOUT("sigpending")) cap_at(RLIMIT_SIGPENDING, 4096); /* counted for the caller's user, too */
  cap_at(RLIMIT_MEMLOCK, 64 << 20);
}

static void default_signals(void) {
  for (int s = 1; s < NSIG; s++) signal(s, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

_Noreturn static void payload(int in, int out, int err, int result) {
  /* A failure is told to pid 1, on a pipe that exec closes: end of file there means that the payload runs. */
  news_fd = result;
  if (setsid() < 0) fail("session"); /* no terminal, and a group of its own that signals are sent to */
  default_signals();
  if (in < 0) in = open("/dev/null", O_RDONLY);
  /* Above the numbers that they will get, so that none is overwritten before it is used. No higher: the limit may be low. */
  int high = 4, from[4] = {in, out, err, spec.channel};
  for (int i = 0; i < 4; i++)
    if (from[i] >= 0 && (from[i] = fcntl(from[i], F_DUPFD_CLOEXEC, high)) < 0) fail("stdio");
  int kept = fcntl(result, F_DUPFD_CLOEXEC, high);
  if (kept < 0) fail("stdio");
  news_fd = kept;
  for (int i = 0; i < 4; i++)
    if (from[i] >= 0 && dup2(from[i], i) < 0) fail("stdio");
  if (chdir(spec.cwd) < 0) fail("cwd");

  int program = open(spec.program.path, O_PATH | O_CLOEXEC);
  if (program < 0) fail("exec");
  struct stat s;
  if (fstat(program, &s) < 0) fail("exec");
  const struct program *p = &spec.program;
  uint64_t mtime = (uint64_t)s.st_mtim.tv_sec * 1000000000u + (uint64_t)s.st_mtim.tv_nsec;
  if (p->known && !WITHOUT("program") && (s.st_dev != p->dev || s.st_ino != p->ino || (uint64_t)s.st_size != p->size || mtime != p->mtime_ns))
    fail_at("program", ESTALE, -1);
  /* Whatever else is open ends with exec: a directory of the host, the way to the outer process. */
  if (!WITHOUT("close") && sys_close_range(spec.channel >= 0 ? 4 : 3, ~0u, 4 /* CLOSE_RANGE_CLOEXEC */) < 0) fail("close");
  set_limits();
  if (!WITHOUT("landlock")) restrict_writing();
  if (!WITHOUT("seccomp")) install_filter(); /* last: it refuses much of what was done before */
  /* By descriptor, so that what was compared is what runs. A script needs its name, for its interpreter to open. */
  syscall(SYS_execveat, program, "", spec.args, spec.env, EMPTY_PATH);
  if (errno == ENOENT) execve(p->path, spec.args, spec.env);
  fail("exec");
}

/* ------------------------------------------------------------------------------------------------------ the watchdog */

/* The number after `name` in /proc/PID/smaps_rollup, in bytes. */
static uint64_t after(const char *text, const char *name) {
  const char *found = strstr(text, name);
  return found ? strtoull(found + strlen(name), NULL, 10) << 10 : 0;
}

static ssize_t slurp(int proc, const char *pid, const char *name, char *into, size_t size) {
  char path[64];
  snprintf(path, sizeof path, "%s/%s", pid, name);
  int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t n = read(fd, into, size - 1);
  close(fd);
  if (n >= 0) into[n] = 0;
  return n;
}

struct entry { uint64_t ino; int64_t off; unsigned short length; unsigned char type; char name[]; };

/*
 * What each process had used when it was last seen. A parent that ignores SIGCHLD does not wait for its children, and then
 * the kernel adds their time to nobody's.
 */
struct seen { uint64_t pid, start, ticks; };
static struct seen *before, *now;
static size_t before_count, now_count, room;
static uint64_t gone_ticks;

static void see(struct seen s) {
  if (now_count == room) {
    room = room ? 2 * room : 256;
    before = realloc(before, room * sizeof *before);
    now = realloc(now, room * sizeof *now);
    if (!before || !now) _exit(1);
  }
  now[now_count++] = s;
}

/* Both lists are in the order of /proc, by number. Returns what all that were ever seen have used by themselves. */
static uint64_t settle(void) {
  uint64_t living = 0;
  for (size_t i = 0, j = 0; i < before_count; i++) {
    while (j < now_count && now[j].pid < before[i].pid) j++;
    if (j == now_count || now[j].pid != before[i].pid || now[j].start != before[i].start) gone_ticks += before[i].ticks;
  }
  for (size_t j = 0; j < now_count; j++) living += now[j].ticks;
  struct seen *old = before;
  before = now, now = old;
  before_count = now_count, now_count = 0;
  return gone_ticks + living;
}

/*
 * The sums over all processes. `exact` asks for what each shares with others (slow); a process that hides it counts whole.
 * CPU: what the living used and what those had used that they waited for; the rest was waited for by pid 1. `seen`: see above.
 */
static void sum(int proc, bool exact, uint64_t *memory, uint64_t *ticks, uint64_t *seen, uint64_t *processes) {
  static char entries[32768], text[4096];
  const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  *memory = *ticks = *processes = 0;
  lseek(proc, 0, SEEK_SET);
  for (long n; (n = syscall(SYS_getdents64, proc, entries, sizeof entries)) > 0;)
    for (long at = 0; at < n;) {
      struct entry *e = (struct entry *)(entries + at);
      at += e->length;
      if (e->name[0] < '1' || e->name[0] > '9' || strcmp(e->name, "1") == 0) continue;
      ++*processes;
      if (exact && slurp(proc, e->name, "smaps_rollup", text, sizeof text) > 0) {
        *memory += after(text, "Pss_Anon:") + after(text, "Pss_Shmem:") + after(text, "SwapPss:");
      } else if (slurp(proc, e->name, "statm", text, sizeof text) > 0) {
        char *next;
        strtoull(text, &next, 10);
        *memory += strtoull(next, NULL, 10) * page;
      }
      if (slurp(proc, e->name, "stat", text, sizeof text) > 0) {
        char *rest = strrchr(text, ')'); /* the name may hold anything, a `)` too */
        for (int field = 2; rest && field < 14; field++) rest = strchr(rest + 1, ' ');
        struct seen s = {strtoull(e->name, NULL, 10), 0, 0};
        for (int field = 14; rest && field <= 22; field++) {
          uint64_t value = strtoull(rest, &rest, 10);
          if (field <= 17) *ticks += value;
          if (field <= 15) s.ticks += value;
          s.start = value;
        }
        see(s);
      }
    }
  *seen = settle();
}

static uint64_t used(const char *path) {
  struct statfs s;
  return statfs(path, &s) < 0 ? 0 : (s.f_blocks - s.f_bfree) * (uint64_t)s.f_bsize;
}

/* What lies in memory and belongs to no process: the tmpfs (T21), SysV segments, what was sent and not yet received. */
static uint64_t unowned(int proc) {
  struct { int used; unsigned long total, resident, swapped, attempts, successes; } info = {0};
  const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  if (WITHOUT("unowned")) return 0;
  uint64_t bytes = used("/tmp") + used("/dev/shm");
  if (syscall(SYS_shmctl, 0, 14 /* SHM_INFO */, &info) >= 0) bytes += (info.resident + info.swapped) * page;
  char text[1024];
  if (!WITHOUT("sockets") && slurp(proc, "1", "net/sockstat", text, sizeof text) > 0) bytes += socket_bytes(text);
  return bytes;
}

/* Answers how long until the next look. */
static int watch(int proc) {
  uint64_t memory, ticks, seen, processes;
  const uint64_t tick_us = 1000000u / (uint64_t)sysconf(_SC_CLK_TCK);
  sum(proc, false, &memory, &ticks, &seen, &processes);
  uint64_t other = unowned(proc);
  /* The quick sum counts what is shared once for each: only if that would be too much it is worth to know better. */
  if (memory + other > spec.limits.memory) sum(proc, true, &memory, &ticks, &seen, &processes);
  memory += other;
  struct rusage waited;
  getrusage(RUSAGE_CHILDREN, &waited);
  uint64_t cpu = ticks * tick_us +
                 (uint64_t)(waited.ru_utime.tv_sec + waited.ru_stime.tv_sec) * 1000000u + (uint64_t)(waited.ru_utime.tv_usec + waited.ru_stime.tv_usec);
  /* Each of the two leaves something out and counts nothing twice. */
  if (seen * tick_us > cpu && !WITHOUT("unwaited")) cpu = seen * tick_us;
  uint64_t in_cgroup = cgroup_number("cpu.stat", "usage_usec ");
  if (in_cgroup > cpu) cpu = in_cgroup;
  if (cpu > shared->cpu_us) shared->cpu_us = cpu;
  shared->memory = memory;
  if (memory > shared->peak) shared->peak = memory;
  if (processes > shared->processes) shared->processes = processes;
  if (memory > spec.limits.memory && !WITHOUT("memory")) shared->limit = LIMIT_MEMORY;
  else if (cpu / 1000 > spec.limits.cpu_ms && !WITHOUT("cpu")) shared->limit = LIMIT_CPU;
  return memory > spec.limits.memory / 2 ? 5 : 20;
}

/* ------------------------------------------------------------------------------------------------------------- pid 1 */

/* One byte, one signal, for the leader's group; if that is gone, for everybody. The outer process gone: the end. */
static void obey(int lifeline, pid_t leader) {
  unsigned char orders[64];
  ssize_t n = read(lifeline, orders, sizeof orders);
  if (n == 0 && !WITHOUT("lifeline")) _exit(0);
  for (ssize_t i = 0; i < n; i++)
    if (orders[i] > 0 && orders[i] < 65 && (shared->leader_over || kill(-leader, orders[i]) < 0)) kill(-1, orders[i]);
}

_Noreturn void run_world(int lifeline, int news, int in, int out, int err) {
  news_fd = news;
  on_failure = tell_failure;
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  char go;
  if (read(lifeline, &go, 1) != 1) _exit(1); /* the maps are written */
  become_somebody(lifeline);
  build_root();
  finish_namespaces();
  drop_rights();

  int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC), exec[2];
  int children = signalfd(-1, &(sigset_t){{1ul << (SIGCHLD - 1)}}, SFD_CLOEXEC | SFD_NONBLOCK);
  open_sockets();
  if (proc < 0 || children < 0 || pipe2(exec, O_CLOEXEC) < 0) fail("init");
  shared->begun = 1;
  pid_t leader = fork();
  if (leader < 0) fail("fork");
  if (leader == 0) payload(in, out, err, exec[1]);
  close(exec[1]);
  if (in >= 0) close(in);
  close(out);
  close(err);
  if (spec.channel >= 0) close(spec.channel);
  for (int i = 0; i < spec.mount_count; i++)
    if (spec.mounts[i].writable) close(spec.mounts[i].tree);
  struct news failure;
  if (read(exec[0], &failure, sizeof failure) == (ssize_t)sizeof failure) {
    tell(failure);
    _exit(1);
  }
  close(exec[0]);
  tell((struct news){.what = NEWS_STARTED});

  struct pollfd wait[2] = {{lifeline, POLLIN, 0}, {children, POLLIN, 0}};
  for (int pause = 5;;) {
    if (poll(wait, 2, pause) < 0) _exit(1);
    if (wait[0].revents) obey(lifeline, leader);
    struct signalfd_siginfo info;
    while (read(children, &info, sizeof info) > 0) continue;
    pause = watch(proc);
    if (shared->limit != NO_LIMIT) _exit(0);
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) != 0;) {
      if (pid < 0) _exit(0); /* ECHILD: the last one is over */
      if (pid != leader) continue;
      shared->leader = status;
      shared->leader_over = 1;
      tell((struct news){.what = NEWS_LEADER});
      if (!spec.linger) _exit(0);
    }
  }
}
