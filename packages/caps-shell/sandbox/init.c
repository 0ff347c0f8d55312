/*
 * Pid 1 of the world. It builds the world, drops every right, starts the payload, and then only checks limits
 * and reaps. When it ends, for any reason, the kernel kills every process of the world, also one that left
 * its group, traps TERM or forks without end. A kill of the process group misses those
 * (docs/measurements/shell.md).
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
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct shared *shared;
static int events_fd;

static void send_event(struct event e) {
  if (write(events_fd, &e, sizeof e) != (ssize_t)sizeof e) _exit(1);
}

static void send_failure(const char *stage, int error, int mount) {
  struct event e = {.what = EVENT_FAILED, .error = error, .mount = mount};
  strncpy(e.stage, stage, sizeof e.stage - 1);
  send_event(e);
  _exit(1);
}

/*
 * ------------------------------------------------------------------------------------------------ before the
 * payload
 */

/* Ends if the outer process is gone. `getppid` cannot tell: a parent in another pid namespace is always 0. */
static void check_alive(int lifeline) {
  struct pollfd p = {lifeline, POLLIN, 0};
  if (poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR))) _exit(1);
}

static void take_ids(int lifeline) {
  /* Before this, a file made here would have an owner that does not exist in the world. */
  if (setresgid(INSIDE_ID, INSIDE_ID, INSIDE_ID) < 0 || setresuid(INSIDE_ID, INSIDE_ID, INSIDE_ID) < 0) fail("ids");
  /*
   * After the change of ids, which clears it. The pipe covers the moment before, and every other end of the
   * parent.
   */
  if (!WITHOUT("pdeathsig") && prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) fail("pdeathsig");
  check_alive(lifeline);
  /* The payload has the same uid. This denies it a debugger, /proc/1/fd, /proc/1/mem and /proc/1/root. */
  if (prctl(PR_SET_DUMPABLE, WITHOUT("dumpable") ? 1 : 0) < 0) fail("dumpable");
  if (setsid() < 0) fail("session");
  umask(022);
}

/* What every world has alike. */
static void set_up_namespaces(void) {
  if (!WITHOUT("hostname") && (sethostname("hob", 3) < 0 || setdomainname("", 0) < 0)) fail("hostname");
  int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
  if (s < 0 || (ioctl(s, SIOCSIFFLAGS, &lo) < 0 && !WITHOUT("netns"))) fail("lo");
  close(s);
  /*
   * Keyrings have no namespace. Leave the caller's session keyring for a new one. ENOSYS: a kernel without
   * keyrings.
   */
  if (!WITHOUT("keyring") && syscall(SYS_keyctl, 1 /* JOIN_SESSION_KEYRING */, NULL) < 0 && errno != ENOSYS) fail("keyring");
}

static void finish_namespaces(void) {
  /*
   * Again: the first one began at the cgroup of the outer process. This one begins at the cgroup of the job.
   */
  if (spec.cgroup >= 0 && !WITHOUT("cgroupns") && unshare(CLONE_NEWCGROUP) < 0) fail("cgroup");
  open_doors();
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

/*
 * ------------------------------------------------------------------------------------------------------- the
 * payload
 */

static void set_rlimit(int which, uint64_t value) {
  struct rlimit now, l = {value, value};
  if (getrlimit(which, &now) < 0) fail("rlimit");
  /* The caller's own limit may be lower. Without a capability it cannot be raised. */
  if (now.rlim_max != RLIM_INFINITY && now.rlim_max < value) l.rlim_cur = l.rlim_max = now.rlim_max;
  if (setrlimit(which, &l) < 0) fail("rlimit");
}

static void set_limits(void) {
  const struct limits *l = &spec.limits;
  set_rlimit(RLIMIT_CORE, 1); /* not 0: a core_pattern with a pipe ignores 0, and runs a program as root for each crash */
  set_rlimit(RLIMIT_NOFILE, l->open_files);
  if (!WITHOUT("fsize")) set_rlimit(RLIMIT_FSIZE, l->file_bytes);
  if (!WITHOUT("nproc")) set_rlimit(RLIMIT_NPROC, l->processes + 1); /* pid 1 counts too */
  /*
   * Not RLIMIT_AS, and RLIMIT_DATA with a margin: node, Go and wasm reserve far more memory than they use (V8
   * half a GiB for each isolate), and RLIMIT_AS ends them at the start. usage.c adds up the memory in use.
   * This limit stops a process that grows faster than those checks.
   */
  if (!WITHOUT("data")) set_rlimit(RLIMIT_DATA, l->memory + (4ull << 30));
  if (!WITHOUT("cpu-each")) set_rlimit(RLIMIT_CPU, l->cpu_ms / 1000 + 1); /* of one process; usage.c checks the sum */
  set_rlimit(RLIMIT_NICE, 0);
  set_rlimit(RLIMIT_RTPRIO, 0);
  set_rlimit(RLIMIT_MSGQUEUE, 819200);
  if (!WITHOUT("sigpending")) set_rlimit(RLIMIT_SIGPENDING, 4096); /* counted for the caller's user too */
  set_rlimit(RLIMIT_MEMLOCK, 64 << 20);
}

static void default_signals(void) {
  for (int s = 1; s < NSIG; s++) signal(s, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Makes the descriptors 0, 1, 2 and the channel of the payload. All others close at exec. */
static void take_descriptors(struct ends ends) {
  if (ends.in < 0) ends.in = open("/dev/null", O_RDONLY);
  /*
   * First above their final numbers, so that none is overwritten before its use. Not far above: the limit may
   * be low.
   */
  int high = 4, from[4] = {ends.in, ends.out, ends.err, spec.channel};
  for (int i = 0; i < 4; i++)
    if (from[i] >= 0 && (from[i] = fcntl(from[i], F_DUPFD_CLOEXEC, high)) < 0) fail("stdio");
  int kept = fcntl(events_fd, F_DUPFD_CLOEXEC, high);
  if (kept < 0) fail("stdio");
  events_fd = kept;
  for (int i = 0; i < 4; i++)
    if (from[i] >= 0 && dup2(from[i], i) < 0) fail("stdio");
}

/* Opens the program, and checks that it is the file of the spec. */
static int open_program(void) {
  const struct program *p = &spec.program;
  int fd = open(p->path, O_PATH | O_CLOEXEC);
  struct stat s;
  if (fd < 0 || fstat(fd, &s) < 0) fail("exec");
  uint64_t mtime = (uint64_t)s.st_mtim.tv_sec * 1000000000u + (uint64_t)s.st_mtim.tv_nsec;
  if (p->known && !WITHOUT("program") && (s.st_dev != p->dev || s.st_ino != p->ino || (uint64_t)s.st_size != p->size || mtime != p->mtime_ns))
    fail_at("program", ESTALE, -1);
  return fd;
}

_Noreturn static void run_payload(struct ends ends, int failure_fd) {
  /*
   * A failure goes to pid 1 through a pipe that exec closes. End of file there means that the payload runs.
   */
  events_fd = failure_fd;
  if (setsid() < 0) fail("session"); /* no terminal, and its own group, to which signals are sent */
  default_signals();
  take_descriptors(ends);
  if (chdir(spec.cwd) < 0) fail("cwd");
  int program = open_program();
  /* Exec closes everything else: directories of the host, the pipes to the outer process. */
  if (!WITHOUT("close") && sys_close_range(spec.channel >= 0 ? 4 : 3, ~0u, 4 /* CLOSE_RANGE_CLOEXEC */) < 0) fail("close");
  set_limits();
  if (!WITHOUT("landlock")) restrict_writing();
  if (!WITHOUT("seccomp")) install_filter(); /* last: it refuses many calls that were needed before */
  /*
   * By descriptor, so that the file that was checked is the one that runs. A script runs by name: its
   * interpreter opens it.
   */
  syscall(SYS_execveat, program, "", spec.args, spec.env, EMPTY_PATH);
  if (errno == ENOENT) execve(spec.program.path, spec.args, spec.env);
  fail("exec");
}

/*
 * -------------------------------------------------------------------------------------------------------------
 * pid 1
 */

/*
 * Each byte is a signal for the leader's group; if that is gone, for every process. End of file: the outer
 * process is gone.
 */
static void forward_signals(int lifeline, pid_t leader) {
  unsigned char signals[64];
  ssize_t n = read(lifeline, signals, sizeof signals);
  if (n <= 0 && !WITHOUT("lifeline")) _exit(0);
  for (ssize_t i = 0; i < n; i++)
    if (signals[i] > 0 && signals[i] < 65 && (shared->leader_over || kill(-leader, signals[i]) < 0)) kill(-1, signals[i]);
}

/* Pid 1 has copies of the descriptors that the outer process inherited. It gets the mounts anew: `take_mounts`. */
static void close_inherited(void) {
  for (int i = 0; i < spec.mount_count && !WITHOUT("close"); i++) close(spec.mounts[i].fd);
}

_Noreturn void run_world(int lifeline, int events, struct ends ends, bool ahead) {
  events_fd = events;
  on_failure = send_failure;
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  await(lifeline, MAPPED); /* the outer process has written the id maps */
  take_ids(lifeline);
  set_up_namespaces();
  if (ahead) send_event((struct event){.what = EVENT_READY});
  await(lifeline, SPEC);
  if (ahead) {
    parse_spec();
    has_started();
  } else {
    close_inherited();
  }
  if (!spec.input && ends.in >= 0) {
    close(ends.in);
    ends.in = -1;
  }
  build_root(lifeline);
  finish_namespaces();
  drop_rights();

  int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC), exec[2];
  int children = signalfd(-1, &(sigset_t){{1ul << (SIGCHLD - 1)}}, SFD_CLOEXEC | SFD_NONBLOCK);
  open_sockets();
  if (proc < 0 || children < 0 || pipe2(exec, O_CLOEXEC) < 0) fail("init");
  await(lifeline, RUN); /* nothing of the host was found in a granted directory */
  shared->begun = 1;
  pid_t leader = fork();
  if (leader < 0) fail("fork");
  if (leader == 0) run_payload(ends, exec[1]);
  close(exec[1]);
  if (ends.in >= 0) close(ends.in);
  close(ends.out);
  close(ends.err);
  if (spec.channel >= 0) close(spec.channel);
  for (int i = 0; i < spec.mount_count; i++)
    if (spec.mounts[i].writable) close(spec.mounts[i].tree);
  struct event failure;
  if (read(exec[0], &failure, sizeof failure) == (ssize_t)sizeof failure) {
    send_event(failure);
    _exit(1);
  }
  close(exec[0]);
  send_event((struct event){.what = EVENT_STARTED});

  struct pollfd wait[2] = {{lifeline, POLLIN, 0}, {children, POLLIN, 0}};
  for (int pause = 5;;) {
    if (poll(wait, 2, pause) < 0) _exit(1);
    if (wait[0].revents) forward_signals(lifeline, leader);
    struct signalfd_siginfo info;
    while (read(children, &info, sizeof info) > 0) continue;
    pause = check_usage(proc);
    if (shared->limit != NO_LIMIT) _exit(0);
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) != 0;) {
      if (pid < 0) _exit(0); /* ECHILD: the last process is over */
      if (pid != leader) continue;
      shared->leader = status;
      shared->leader_over = 1;
      send_event((struct event){.what = EVENT_LEADER});
      if (!spec.linger) _exit(0);
    }
  }
}
