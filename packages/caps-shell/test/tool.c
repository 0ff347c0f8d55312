/*
 * System calls for probes and attacks that a shell cannot make. The tests build it, and mount it as
 * /opt/tool.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* call NR ARG…: a raw system call; an argument is a number or s:TEXT. Prints `ok N` or the error's number. */
static int call(int n, char **args) {
  long v[7] = {0};
  for (int i = 0; i < n && i < 7; i++) v[i] = strncmp(args[i], "s:", 2) == 0 ? (long)(args[i] + 2) : strtol(args[i], NULL, 0);
  long got = syscall(v[0], v[1], v[2], v[3], v[4], v[5], v[6]);
  if (got < 0) printf("%d\n", errno);
  else printf("ok %ld\n", got);
  return got < 0;
}

/* int80 NR: a call of the 32-bit machine. */
static int int80(long nr) {
#ifdef __x86_64__
  long got;
  __asm__ volatile("int $0x80" : "=a"(got) : "a"(nr), "b"(0), "c"(0), "d"(0) : "memory", "r8", "r9", "r10", "r11");
  if ((int)got < 0) printf("%d\n", -(int)got);
  else printf("ok %d\n", (int)got);
  return (int)got < 0;
#else
  (void)nr;
  return 1;
#endif
}

/* eat MIB SECONDS: touches so much memory and keeps it. */
static int eat(long mib, int seconds) {
  char *p = malloc((size_t)mib << 20);
  if (!p) return 1;
  memset(p, 1, (size_t)mib << 20);
  sleep((unsigned)seconds);
  return p[123] != 1;
}

/* maps N SECONDS: N pages that are mapped apart. No memory is used, but the kernel takes long to end such a process. */
static int maps(int n, int seconds) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *p = mmap(NULL, (size_t)n * 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return 1;
  for (int i = 0; i < n; i++)
    if (mprotect(p + (size_t)i * 2 * page, page, PROT_READ | PROT_WRITE) < 0) return 1;
  puts("mapped");
  sleep((unsigned)seconds);
  return 0;
}

/* reserve MIB: takes the room, touches nothing. */
static int reserve(long mib) {
  return mmap(NULL, (size_t)mib << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED;
}

/* shm KEY put|get: a SysV segment with a canary in it. */
static int shm(int key, bool put) {
  int id = shmget(key, 4096, put ? IPC_CREAT | 0666 : 0);
  char *p = id < 0 ? (void *)-1 : shmat(id, NULL, put ? 0 : SHM_RDONLY);
  if (p == (void *)-1) return 1;
  if (put) strcpy(p, "HOB-CANARY");
  else puts(p);
  return 0;
}
static int shm_remove(int key) { return shmctl(shmget(key, 0, 0), IPC_RMID, NULL); }

/* within COMMAND…: in a new session keyring that holds a key, and, for root, in a group more. */
static int within(char **command) {
  if (syscall(SYS_keyctl, 1, NULL) >= 0) syscall(SYS_add_key, "user", "hob-canary", "HOB-CANARY", 10, -3);
  if (geteuid() == 0 && setgroups(1, (gid_t[]){4}) < 0) return 1;
  execvp(command[0], command);
  return 1;
}
/* key: finds it. 10: SEARCH, -3: the session keyring. */
static int key(void) { return syscall(SYS_keyctl, 10, -3, "user", "hob-canary", 0) < 0; }

/* trace PID: attaches and reads a word. */
static int trace(pid_t pid) {
  if (ptrace(PTRACE_ATTACH, pid, 0, 0) < 0) return 1;
  waitpid(pid, NULL, 0);
  ptrace(PTRACE_DETACH, pid, 0, 0);
  return 0;
}

/* unix @NAME|PATH: connects. */
static int unix_to(const char *name) {
  int s = socket(AF_UNIX, SOCK_STREAM, 0);
  struct sockaddr_un a = {.sun_family = AF_UNIX};
  strncpy(a.sun_path, name, sizeof a.sun_path - 1);
  socklen_t n = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
  if (name[0] == '@') a.sun_path[0] = 0;
  char got[64] = {0};
  if (s < 0 || connect(s, (struct sockaddr *)&a, n) < 0 || read(s, got, 63) <= 0) return 1;
  puts(got);
  return 0;
}

/* fork-children N SECONDS: how many of N could be made. */
static int forks(int n, int seconds) {
  int made = 0;
  for (int i = 0; i < n; i++) {
    pid_t pid = fork();
    if (pid == 0) { sleep((unsigned)seconds); _exit(0); }
    if (pid > 0) made++;
  }
  printf("%d\n", made);
  return 0;
}

/* burn MS: until this process has used so much time of the processor. */
static int burn(long ms) {
  for (struct timespec t = {0}; t.tv_sec * 1000 + t.tv_nsec / 1000000 < ms;) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return 0;
}

/*
 * unwaited N MS: N children, one after the other, that each use so much time of the processor. Nobody waits
 * for them.
 */
static int unwaited(int n, long ms) {
  signal(SIGCHLD, SIG_IGN);
  while (n-- > 0) {
    int end[2];
    if (pipe(end) < 0) return 1;
    if (fork() == 0) _exit(burn(ms));
    close(end[1]);
    if (read(end[0], &end, 1) != 0) return 1;
    close(end[0]);
  }
  return 0;
}

/*
 * sockets N CLOSED: N pairs of unix sockets, in each as much as it takes; CLOSED: and then no sender. The
 * messages are short, so that their length says little of the memory. Prints `sent`.
 */
static int sockets(int n, bool closed) {
  static char message[100];
  while (n-- > 0) {
    int s[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, s) < 0) break;
    while (send(s[0], message, sizeof message, MSG_DONTWAIT) > 0) continue;
    if (closed) close(s[0]);
  }
  puts("sent");
  sleep(2);
  return 0;
}

/* rewrite PATH: through memory. */
static int rewrite(const char *path) {
  int fd = open(path, O_RDWR);
  char *p = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (p == MAP_FAILED) return 1;
  p[100] ^= 1;
  return 0;
}

/* inotify N SECONDS: how many instances of N there are. */
static int inotify(int n, int seconds) {
  int made = 0;
  while (made < n && inotify_init() >= 0) made++;
  printf("%d\n", made);
  sleep((unsigned)seconds);
  return 0;
}

/* pipes N SECONDS: makes N pipes, and prints the size of the last. */
static int pipes(int n, int seconds) {
  int ends[2] = {-1, -1};
  while (n-- > 0 && pipe(ends) == 0) continue;
  printf("%d\n", fcntl(ends[0], F_GETPIPE_SZ));
  sleep((unsigned)seconds);
  return 0;
}

/* tiocsti FD TEXT */
static int sti(int fd, const char *text) {
  for (; *text; text++)
    if (syscall(SYS_ioctl, fd, 0x5412, text) < 0) { printf("%d\n", errno); return 1; }
  return 0;
}

int main(int argc, char **argv) {
  const char *verb = argc > 1 ? argv[1] : "";
  setvbuf(stdout, NULL, _IONBF, 0);
  if (!strcmp(verb, "call")) return call(argc - 2, argv + 2);
  if (!strcmp(verb, "int80")) return int80(atol(argv[2]));
  if (!strcmp(verb, "eat")) return eat(atol(argv[2]), atoi(argv[3]));
  if (!strcmp(verb, "maps")) return maps(atoi(argv[2]), atoi(argv[3]));
  if (!strcmp(verb, "reserve")) return reserve(atol(argv[2]));
  if (!strcmp(verb, "shm-put")) return shm(atoi(argv[2]), true);
  if (!strcmp(verb, "shm-get")) return shm(atoi(argv[2]), false);
  if (!strcmp(verb, "shm-remove")) return shm_remove(atoi(argv[2]));
  if (!strcmp(verb, "within")) return within(argv + 2);
  if (!strcmp(verb, "key")) return key();
  if (!strcmp(verb, "trace")) return trace(atoi(argv[2]));
  if (!strcmp(verb, "unix")) return unix_to(argv[2]);
  if (!strcmp(verb, "forks")) return forks(atoi(argv[2]), atoi(argv[3]));
  if (!strcmp(verb, "unwaited")) return unwaited(atoi(argv[2]), atol(argv[3]));
  if (!strcmp(verb, "sockets")) return sockets(atoi(argv[2]), argc > 3);
  if (!strcmp(verb, "rewrite")) return rewrite(argv[2]);
  if (!strcmp(verb, "inotify")) return inotify(atoi(argv[2]), atoi(argv[3]));
  if (!strcmp(verb, "pipes")) return pipes(atoi(argv[2]), atoi(argv[3]));
  if (!strcmp(verb, "burn")) return burn(atol(argv[2]));
  if (!strcmp(verb, "sti")) return sti(atoi(argv[2]), argv[3]);
  return 2;
}
