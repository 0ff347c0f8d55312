/*
 * syncs LOG PROGRAM [ARGUMENTS…]: runs PROGRAM and writes down, as the kernel is asked for it, what is put on
 * the disk and what gets a name: `sync PATH` and `name`, in that order in which it is asked.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* As in linux/ptrace.h, which cannot be had beside sys/ptrace.h. */
#define GET_SYSCALL_INFO 0x420e
struct info {
  uint8_t op, pad[3];
  uint32_t arch;
  uint64_t instruction_pointer, stack_pointer;
  uint64_t nr, args[6];
  uint32_t ret_data;
};

#define WATCHED(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE)

static int watch(char **argv) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      WATCHED(SYS_fsync), WATCHED(SYS_fdatasync), WATCHED(SYS_linkat), WATCHED(SYS_renameat2),
#ifdef SYS_renameat
      WATCHED(SYS_renameat),
#endif
#ifdef SYS_rename
      WATCHED(SYS_rename), WATCHED(SYS_link),
#endif
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  if (ptrace(PTRACE_TRACEME, 0, 0, 0)) return perror("ptrace"), 3;
  raise(SIGSTOP);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
    return perror("seccomp"), 3;
  execv(argv[0], argv);
  return perror("execv"), 3;
}

static void note(FILE *log, pid_t thread) {
  struct info info = {0};
  if (ptrace(GET_SYSCALL_INFO, thread, (void *)sizeof info, &info) <= 0) return;
  if (info.nr != SYS_fsync && info.nr != SYS_fdatasync) {
    fprintf(log, "name\n");
    return;
  }
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)thread, (int)info.args[0]);
  ssize_t length = readlink(link, path, sizeof path - 1);
  fprintf(log, "sync %.*s\n", length < 0 ? 1 : (int)length, length < 0 ? "?" : path);
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  FILE *log = fopen(argv[1], "w");
  if (!log) return perror("fopen"), 3;
  pid_t child = fork();
  if (child == 0) _exit(watch(argv + 2));
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return 3;
  long options = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
  if (ptrace(PTRACE_SETOPTIONS, child, 0, options)) return perror("ptrace"), 3;
  ptrace(PTRACE_CONT, child, 0, 0);
  for (;;) {
    pid_t thread = waitpid(-1, &status, __WALL);
    if (thread < 0) return errno == ECHILD ? 3 : 4;
    if (!WIFSTOPPED(status)) {
      if (thread != child) continue;
      fclose(log);
      return WIFEXITED(status) ? WEXITSTATUS(status) : 5;
    }
    int signal = WSTOPSIG(status);
    if (status >> 8 == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8)) note(log, thread);
    /* Signals of the tracing itself are not the program's. */
    if (signal == SIGTRAP || signal == SIGSTOP) signal = 0;
    ptrace(PTRACE_CONT, thread, 0, (void *)(intptr_t)signal);
  }
}
