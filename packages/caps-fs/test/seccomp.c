/*
 * seccomp ERRNO PROGRAM [ARGUMENTS…]: runs PROGRAM where openat2 fails with ERRNO (ENOSYS, EPERM) or, with KILL,
 * ends it. As on kernels before 5.6, in gVisor, and under the filters of old container runtimes.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_openat2
#define SYS_openat2 437
#endif

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  unsigned answer = !strcmp(argv[1], "ENOSYS") ? SECCOMP_RET_ERRNO | ENOSYS
                    : !strcmp(argv[1], "EPERM") ? SECCOMP_RET_ERRNO | EPERM
                    : !strcmp(argv[1], "KILL")  ? SECCOMP_RET_KILL_PROCESS
                                                : 0;
  if (answer == 0) return 2;
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, answer),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
    perror("seccomp");
    return 3;
  }
  /* The filter is one: a launcher that changes nothing would prove nothing. */
  errno = 0;
  if (answer != SECCOMP_RET_KILL_PROCESS) {
    syscall(SYS_openat2, -1, "", 0, 0);
    if (errno != (int)(answer & SECCOMP_RET_DATA)) return 3;
  }
  execv(argv[2], argv + 2);
  perror("execv");
  return 3;
}
