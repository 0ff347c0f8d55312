/*
 * The process that a caller starts before it has jobs. It forks an outer process for each of SETS jobs, one at a
 * time, so that one is always ready: it has made its namespaces and waits for its spec.
 *
 * A set is six descriptors, those of PROTOCOL.md in their order. This process reads nothing from them, and closes a
 * set when its outer process is there. So it never holds anything of a job. It has no other way to the caller, and
 * ends with it, or when all its sets are used and their jobs are over. If it cannot fork, because a job has used up
 * the processes of the user, it closes the sets that are left: if it ended, the jobs of the others would end, too.
 */
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SETS = 8, IN_SET = 6, FIRST = 3, PAST = FIRST + SETS * IN_SET, SPEC_IN_SET = 3 };

static const char WAITING[] = "hob-waiting", STARTED[] = "hob-sandbox";
_Static_assert(sizeof WAITING == sizeof STARTED, "one is written over the other");
static char *own_name;

bool is_ahead(char *name) {
  own_name = name;
  return strcmp(name, WAITING) == 0;
}

void has_started(void) { memcpy(own_name, STARTED, sizeof STARTED); }

static int first_of(int set) { return FIRST + set * IN_SET; }

static void close_set(int set) {
  for (int i = 0; i < IN_SET; i++) close(first_of(set) + i);
}

/* The caller closed its end of the spec and wrote nothing: it wants no more jobs. */
static bool is_given_up(int set) {
  struct pollfd p = {first_of(set) + SPEC_IN_SET, POLLIN, 0};
  char byte;
  return poll(&p, 1, 0) > 0 && recv(p.fd, &byte, 1, MSG_PEEK) == 0;
}

/* In the child: the descriptors of its set get their numbers, and all others are closed. */
static void become_outer(int set, int used) {
  for (int i = 0; i < IN_SET; i++)
    if (dup2(first_of(set) + i, i) < 0) _exit(1);
  if (dup2(used, IN_SET) < 0 || sys_close_range(IN_SET + 1, ~0u, 0) < 0) _exit(1);
  signal(SIGCHLD, SIG_DFL);
}

/* The jobs that run go on. The caller starts a new first process when it has another job. */
static void give_up(int set) {
  for (; set < SETS; set++) close_set(set);
}

/* A pipe above all sets, or false. */
static bool open_used(int used[2]) {
  int low[2];
  if (pipe2(low, O_CLOEXEC) < 0) return false;
  for (int i = 0; i < 2; i++) {
    used[i] = fcntl(low[i], F_DUPFD_CLOEXEC, PAST);
    close(low[i]);
  }
  return used[0] >= 0 && used[1] >= 0;
}

/*
 * Returns in each outer process: a descriptor to close when it has its spec. The next one is started then, or
 * when the caller has already written its spec, or when this one is gone.
 */
int start_ahead(void) {
  for (int fd = FIRST; fd < PAST; fd++)
    if (fcntl(fd, F_GETFD) < 0) _exit(2);
  signal(SIGCHLD, SIG_IGN); /* nobody waits for the outer processes; the caller hears of them through their pipes */
  pid_t self = getpid();
  for (int set = 0; set < SETS; set++) {
    int used[2];
    if (is_given_up(set)) {
      close_set(set);
      continue;
    }
    pid_t pid = open_used(used) ? fork() : -1;
    if (pid < 0) {
      give_up(set);
      break;
    }
    if (pid == 0) {
      become_outer(set, used[1]);
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != self) _exit(1);
      return IN_SET;
    }
    close_set(set);
    close(used[1]);
    struct pollfd wait_for[2] = {{used[0], POLLIN, 0}, {set + 1 < SETS ? first_of(set + 1) + SPEC_IN_SET : -1, POLLIN, 0}};
    while (poll(wait_for, 2, -1) < 0 && errno == EINTR) continue;
    close(used[0]);
  }
  while (wait(NULL) > 0 || errno == EINTR) continue;
  _exit(0);
}
