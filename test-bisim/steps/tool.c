/*
 * The calls of the steps' commands that a shell cannot make (`rows.ts`). Built static by the harness, seen inside as /opt/tool.
 *
 * Promise: each verb does one thing that a step of the sandbox stops, and harms nothing where it is not stopped. A verb that is watched
 * from outside makes the file `started` when it is under way, and ends when there is a file `go`, or after a while.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int put(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return 1;
  ssize_t n = write(fd, text, strlen(text));
  close(fd);
  return n < 0;
}

static int held(void) {
  for (int i = 0; i < 500 && access("go", F_OK) < 0; i++) usleep(20000);
  return 0;
}
static int hold(void) {
  put("started", "");
  return held();
}

/* ---------------------------------------------------------------------------------- a program that runs as its owner */

/* openat2 has the mode behind a pointer. */
static int by_openat2(const char *path) {
  struct { uint64_t flags, mode, resolve; } how = {O_WRONLY | O_CREAT, 04755, 0};
  return syscall(437, AT_FDCWD, path, &how, sizeof how) < 0;
}

/* chmod of the 32-bit machine; the path has to lie low, as all of a static program does. */
static int by_int80(const char *path) {
#ifdef __x86_64__
  static char low[4096];
  long got;
  strncpy(low, path, sizeof low - 1);
  __asm__ volatile("int $0x80" : "=a"(got) : "a"(15), "b"(low), "c"(04755), "d"(0) : "memory", "r8", "r9", "r10", "r11");
  return (int)got < 0;
#else
  (void)path;
  return 1;
#endif
}

/* A ring makes the call for us, past any filter. */
static int by_ring(const char *path) {
  struct io_uring_params p = {0};
  int ring = (int)syscall(425, 4, &p);
  if (ring < 0) return 1;
  char *sq = mmap(NULL, p.sq_off.array + p.sq_entries * sizeof(unsigned), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQ_RING);
  struct io_uring_sqe *sqe = mmap(NULL, p.sq_entries * sizeof *sqe, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQES);
  if (sq == MAP_FAILED || sqe == MAP_FAILED) return 1;
  memset(sqe, 0, sizeof *sqe);
  sqe->opcode = IORING_OP_OPENAT;
  sqe->fd = AT_FDCWD;
  sqe->addr = (uint64_t)(uintptr_t)path;
  sqe->open_flags = O_WRONLY | O_CREAT;
  sqe->len = 04755;
  ((unsigned *)(sq + p.sq_off.array))[0] = 0;
  __atomic_store_n((unsigned *)(sq + p.sq_off.tail), 1, __ATOMIC_RELEASE);
  return syscall(426, ring, 1, 1, 1 /* GETEVENTS */, NULL, 0) < 0;
}

/* --------------------------------------------------------------------------------------- what rights would be used for */

/* What was granted for reading, made writable and written. */
static int remount(const char *path) {
  char file[4096];
  snprintf(file, sizeof file, "%s/new", path);
  if (mount(NULL, path, NULL, MS_REMOUNT | MS_BIND, NULL) < 0) return 1;
  return put(file, "x");
}

static int fill(const char *path, long mib) {
  static char block[1 << 20];
  int fd = open(path, O_WRONLY | O_CREAT, 0600);
  memset(block, 1, sizeof block);
  for (long i = 0; i < mib; i++)
    if (write(fd, block, sizeof block) != (ssize_t)sizeof block) return 1;
  return 0;
}

/* Memory that no sum counts: a file system of its own, in a user namespace of its own. */
static int own_tmpfs(const char *by, long mib) {
  char map[32];
  unsigned uid = getuid(), gid = getgid();
  if (!strcmp(by, "clone3")) {
    struct { uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls; } args = {.flags = CLONE_NEWUSER | CLONE_NEWNS, .exit_signal = SIGCHLD};
    long pid = syscall(435, &args, sizeof args);
    if (pid < 0) return 1;
    if (pid > 0) {
      int status;
      waitpid((pid_t)pid, &status, 0);
      return status != 0;
    }
  } else if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
    return 1;
  put("/proc/self/setgroups", "deny");
  snprintf(map, sizeof map, "0 %u 1", uid);
  if (put("/proc/self/uid_map", map)) _exit(1);
  snprintf(map, sizeof map, "0 %u 1", gid);
  if (put("/proc/self/gid_map", map)) _exit(1);
  if (mount("own", "/dev/shm", "tmpfs", 0, NULL) < 0 || fill("/dev/shm/f", mib)) _exit(1);
  hold();
  _exit(0);
}

static int in_memfd(long mib) {
  char path[64];
  int fd = (int)syscall(SYS_memfd_create, "own", 0);
  if (fd < 0) return 1;
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  return fill(path, mib) || hold();
}

/* -------------------------------------------------------------------------------------------------------------- limits */

static int eat(long mib) {
  char *p = malloc((size_t)mib << 20);
  if (!p) return 1;
  memset(p, 1, (size_t)mib << 20);
  hold();
  return p[123] != 1;
}
static int reserve(long mib) {
  if (mmap(NULL, (size_t)mib << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED) return 1;
  return hold();
}
static int forks(int n) {
  for (int i = 0; i < n; i++)
    if (fork() == 0) _exit(held());
  return hold();
}
/* N pairs with as much in each as it takes. */
static int sockets(int n) {
  static char message[1000];
  for (int s[2]; n-- > 0 && socketpair(AF_UNIX, SOCK_SEQPACKET, 0, s) == 0;)
    while (send(s[0], message, sizeof message, MSG_DONTWAIT) > 0) continue;
  return hold();
}
/* One child after the other, and nobody waits for them. */
static int unwaited(void) {
  signal(SIGCHLD, SIG_IGN);
  for (int i = 0; i < 20; i++) {
    if (fork() == 0) {
      while (clock() < CLOCKS_PER_SEC * 15 / 100) continue;
      _exit(0);
    }
    wait(NULL);
  }
  put("done", "");
  return 0;
}
static int inotify(int n) {
  while (n-- > 0 && inotify_init() >= 0) continue;
  return hold();
}
static int busy(void) {
  while (access("go", F_OK) < 0) continue;
  return 0;
}

/* --------------------------------------------------------------------------------------------- what is of the machine */

/* The caller's session keyring, or whatever it is by now. */
static int key(void) {
  char text[64] = {0};
  long id = syscall(SYS_keyctl, 10 /* SEARCH */, -3, "user", "hob-bisim", 0);
  if (id < 0 || syscall(SYS_keyctl, 11 /* READ */, id, text, sizeof text - 1) < 0) return 1;
  puts(text);
  return 0;
}

/* A port of a family that has no network namespaces. */
static int vsock(unsigned port) {
  struct { unsigned short family, none; unsigned port, cid; unsigned char rest[4]; } a = {40, 0, port, ~0u, {0}};
  int s = socket(40, SOCK_STREAM, 0);
  if (s < 0 || bind(s, (void *)&a, sizeof a) < 0) return 1;
  return hold();
}

/* Whoever opens the file to write waits until the lease is given back. */
static int lease(const char *path) {
  int fd = open(path, O_RDONLY);
  return fd < 0 || fcntl(fd, F_SETLEASE, F_RDLCK) < 0 || hold();
}

/* A terminal that somebody hands over to be written to; typed into instead. */
static int type(const char *path, const char *text) {
  struct sockaddr_un a = {.sun_family = AF_UNIX};
  strncpy(a.sun_path, path, sizeof a.sun_path - 1);
  char byte, control[CMSG_SPACE(sizeof(int))];
  struct iovec bytes = {&byte, 1};
  struct msghdr m = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  int s = socket(AF_UNIX, SOCK_STREAM, 0), terminal;
  if (connect(s, (void *)&a, sizeof a) < 0 || recvmsg(s, &m, 0) < 1 || !CMSG_FIRSTHDR(&m)) return 1;
  memcpy(&terminal, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof terminal);
  if (fork() == 0) {
    setsid();
    ioctl(terminal, TIOCSCTTY, 0);
    for (; *text; text++) ioctl(terminal, TIOCSTI, text);
    if (write(s, "!", 1) == 1 && read(s, &byte, 1) < 0) _exit(1);
    _exit(0);
  }
  wait(NULL);
  return 0;
}

int main(int argc, char **argv) {
  const char *verb = argc > 1 ? argv[1] : "", *a = argc > 2 ? argv[2] : "", *b = argc > 3 ? argv[3] : "";
  setvbuf(stdout, NULL, _IONBF, 0);
  if (!strcmp(verb, "openat2")) return by_openat2(a);
  if (!strcmp(verb, "int80")) return by_int80(a);
  if (!strcmp(verb, "ring")) return by_ring(a);
  if (!strcmp(verb, "remount")) return remount(a);
  if (!strcmp(verb, "tmpfs")) return own_tmpfs(a, atol(b));
  if (!strcmp(verb, "memfd")) return in_memfd(atol(a));
  if (!strcmp(verb, "fill")) return fill(a, atol(b)) || hold();
  if (!strcmp(verb, "eat")) return eat(atol(a));
  if (!strcmp(verb, "reserve")) return reserve(atol(a));
  if (!strcmp(verb, "forks")) return forks(atoi(a));
  if (!strcmp(verb, "sockets")) return sockets(atoi(a));
  if (!strcmp(verb, "unwaited")) return unwaited();
  if (!strcmp(verb, "inotify")) return inotify(atoi(a));
  if (!strcmp(verb, "busy")) return busy();
  if (!strcmp(verb, "hold")) return hold();
  if (!strcmp(verb, "key")) return key();
  if (!strcmp(verb, "vsock")) return vsock((unsigned)atoi(a));
  if (!strcmp(verb, "lease")) return lease(a);
  if (!strcmp(verb, "type")) return type(a, b);
  return 2;
}
