/*
 * A filter of system calls, as the last barrier. The namespaces already leave most of these calls nothing to
 * act on. The filter keeps out of reach the parts of the kernel in which most escapes from namespaces were
 * found. It also prevents the one thing that survives the world: a set-id file in a granted directory.
 *
 * It lists the calls that are refused, because programs need the rest: refusing socketpair, AF_UNIX, ptrace
 * or signals breaks node, npm and make (docs/measurements/shell.md). A call that glibc and runtimes probe for
 * returns ENOSYS, and they use an older one. Other refused calls return EPERM. The numbers of both machines
 * are listed here and checked against the compiler's, so both tables can be tested anywhere.
 */
#include "world.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* X(name, x86-64, arm64, the step that a test build skips). -1: the machine has no such call. */
#define REFUSED(X) \
  X(mount, 165, 40, "mounts") X(umount2, 166, 39, "mounts") X(pivot_root, 155, 41, "mounts") X(chroot, 161, 51, "mounts") \
  X(setns, 308, 268, "namespaces") X(unshare, 272, 97, "namespaces") \
  X(keyctl, 250, 219, "keys") X(add_key, 248, 217, "keys") X(request_key, 249, 218, "keys") \
  X(bpf, 321, 280, "kernel") X(perf_event_open, 298, 241, "kernel") X(userfaultfd, 323, 282, "kernel") \
  X(init_module, 175, 105, "kernel") X(delete_module, 176, 106, "kernel") X(finit_module, 313, 273, "kernel") \
  X(kexec_load, 246, 104, "kernel") X(kexec_file_load, 320, 294, "kernel") X(reboot, 169, 142, "kernel") \
  X(swapon, 167, 224, "kernel") X(swapoff, 168, 225, "kernel") X(acct, 163, 89, "kernel") \
  X(quotactl, 179, 60, "kernel") X(iopl, 172, -1, "kernel") X(ioperm, 173, -1, "kernel") \
  X(syslog, 103, 116, "kernel") X(fanotify_init, 300, 262, "kernel") X(vhangup, 153, 58, "kernel") \
  X(sethostname, 170, 161, "kernel") X(setdomainname, 171, 162, "kernel") X(lookup_dcookie, 212, 18, "kernel") \
  X(move_pages, 279, 239, "kernel") X(migrate_pages, 256, 238, "kernel") \
  X(name_to_handle_at, 303, 264, "handles") X(open_by_handle_at, 304, 265, "handles") \
  X(process_vm_readv, 310, 270, "peek") X(process_vm_writev, 311, 271, "peek") X(kcmp, 312, 272, "peek") \
  X(clock_settime, 227, 112, "clock") X(clock_adjtime, 305, 266, "clock") X(settimeofday, 164, 170, "clock") \
  X(adjtimex, 159, 171, "clock")
/*
 * clone3 and openat2 take their arguments by pointer, which a filter cannot read. io_uring makes calls past
 * every filter. memfd_create makes memory that belongs to no process and no tmpfs with a size, so no limit
 * would count it.
 */
#define ABSENT(X) \
  X(clone3, 435, 435, "clone3") X(openat2, 437, 437, "openat2") \
  X(io_uring_setup, 425, 425, "io_uring") X(io_uring_enter, 426, 426, "io_uring") X(io_uring_register, 427, 427, "io_uring") \
  X(open_tree, 428, 428, "mounts") X(move_mount, 429, 429, "mounts") X(fsopen, 430, 430, "mounts") X(fsconfig, 431, 431, "mounts") \
  X(fsmount, 432, 432, "mounts") X(fspick, 433, 433, "mounts") X(mount_setattr, 442, 442, "mounts") \
  X(statmount, 457, 457, "mounts") X(listmount, 458, 458, "mounts") X(open_tree_attr, 467, 467, "mounts") \
  X(quotactl_fd, 443, 443, "kernel") X(memfd_create, 319, 279, "memfd") X(memfd_secret, 447, 447, "memfd")


#if defined(__x86_64__)
enum { NATIVE_X86 = true };
#define NATIVE(x86, arm) (x86)
#elif defined(__aarch64__)
enum { NATIVE_X86 = false };
#define NATIVE(x86, arm) (arm)
#define SYS_iopl -1
#define SYS_ioperm -1
#else
#error "the sandbox knows the system calls of x86-64 and arm64"
#endif
/* A wrong number for this machine does not compile. From 424 on the numbers are the same everywhere. */
#define SAME(name, x86, arm, group) _Static_assert(NATIVE(x86, arm) == SYS_##name, #name);
REFUSED(SAME)
_Static_assert(NATIVE(319, 279) == SYS_memfd_create && NATIVE(56, 220) == SYS_clone && NATIVE(16, 29) == SYS_ioctl, "numbers");
_Static_assert(NATIVE(41, 198) == SYS_socket && NATIVE(53, 199) == SYS_socketpair && NATIVE(257, 56) == SYS_openat && NATIVE(91, 52) == SYS_fchmod, "numbers");
_Static_assert(NATIVE(268, 53) == SYS_fchmodat && NATIVE(259, 33) == SYS_mknodat && NATIVE(72, 25) == SYS_fcntl && NATIVE(54, 208) == SYS_setsockopt, "numbers");

struct call { int x86, arm; const char *group; };
#define ROW(name, x86, arm, group) {x86, arm, group},
static const struct call refused[] = {REFUSED(ROW)}, absent[] = {ABSENT(ROW)};

/*
 * Calls refused if `bits` are set in argument `arg`: always, or only if argument `flags` (not -1) creates a
 * file.
 */
enum { SET_ID = 06000, CREATES = 0100 | 020000000 /* O_CREAT, __O_TMPFILE */ };
/* CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET */
enum { NEW_NAMESPACES = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000 };
static const struct { int x86, arm, flags, arg; uint32_t bits; const char *group; } by_bits[] = {
    {56, 220, -1, 0, NEW_NAMESPACES, "namespaces"}, /* clone */
    {90, -1, -1, 1, SET_ID, "setid"},               /* chmod */
    {91, 52, -1, 1, SET_ID, "setid"},               /* fchmod */
    {268, 53, -1, 2, SET_ID, "setid"},              /* fchmodat */
    {452, 452, -1, 2, SET_ID, "setid"},             /* fchmodat2 */
    {133, -1, -1, 1, SET_ID, "setid"},              /* mknod */
    {259, 33, -1, 2, SET_ID, "setid"},              /* mknodat */
    {85, -1, -1, 1, SET_ID, "setid"},               /* creat */
    {2, -1, 1, 2, SET_ID, "setid"},                 /* open */
    {257, 56, 2, 3, SET_ID, "setid"},               /* openat */
};

enum { MOST = 256 };
struct program_text { struct sock_filter at[MOST]; int count; };

static void emit(struct program_text *p, uint16_t code, uint8_t yes, uint8_t no, uint32_t k) {
  if (p->count == MOST) fail_at("seccomp", E2BIG, -1);
  p->at[p->count++] = (struct sock_filter){code, yes, no, k};
}
/* The kernel too reads only the lower 32 bits of all arguments that are checked here. */
static void load(struct program_text *p, int arg) {
  emit(p, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)(offsetof(struct seccomp_data, args) + 8 * (size_t)arg));
}
static void give(struct program_text *p, uint32_t verdict) { emit(p, BPF_RET | BPF_K, 0, 0, verdict); }
static bool skipped(const char *group) {
  (void)group;
  return WITHOUT("seccomp") || WITHOUT(group);
}

/* Gives `verdict` for each call of the list. */
static void refuse_calls(struct program_text *p, const struct call *calls, size_t count, bool x86, uint32_t verdict) {
  int first = p->count;
  for (size_t i = 0; i < count; i++) {
    int nr = x86 ? calls[i].x86 : calls[i].arm;
    if (nr >= 0 && !skipped(calls[i].group)) emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, (uint32_t)nr);
  }
  int last = p->count;
  emit(p, BPF_JMP | BPF_JA, 0, 0, 1); /* none of them: jump over the verdict */
  give(p, verdict);
  for (int i = first; i < last; i++) p->at[i].jt = (uint8_t)(last + 1 - (i + 1));
}

/* Gives `verdict` for call `nr` if argument `arg` is one of `values`. */
static void refuse_values(struct program_text *p, int nr, int arg, const uint32_t *values, int count, uint32_t verdict) {
  emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, (uint8_t)(count + 3), (uint32_t)nr);
  load(p, arg);
  for (int i = 0; i < count; i++) {
    int later = count - 1 - i;
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, (uint8_t)later, later ? 0 : 1, values[i]);
  }
  give(p, verdict);
  give(p, SECCOMP_RET_ALLOW);
}

/* Refuses calls of `by_bits`: those that set a set-id bit, and new namespaces. */
static void refuse_bits(struct program_text *p, bool x86) {
  for (size_t i = 0; i < sizeof by_bits / sizeof *by_bits; i++) {
    int nr = x86 ? by_bits[i].x86 : by_bits[i].arm;
    if (nr < 0 || skipped(by_bits[i].group)) continue;
    bool flags = by_bits[i].flags >= 0;
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, flags ? 6 : 4, (uint32_t)nr);
    if (flags) {
      load(p, by_bits[i].flags);
      emit(p, BPF_JMP | BPF_JSET | BPF_K, 0, 3, CREATES);
    }
    load(p, by_bits[i].arg);
    emit(p, BPF_JMP | BPF_JSET | BPF_K, 0, 1, by_bits[i].bits);
    give(p, SECCOMP_RET_ERRNO | EPERM);
    give(p, SECCOMP_RET_ALLOW);
  }
}

static void make_filter(struct program_text *p, bool x86) {
  const uint32_t allow = SECCOMP_RET_ALLOW, eperm = SECCOMP_RET_ERRNO | EPERM, enosys = SECCOMP_RET_ERRNO | ENOSYS;
  p->count = 0;
  emit(p, BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, arch));
  emit(p, BPF_JMP | BPF_JEQ | BPF_K, 3, 0, x86 ? AUDIT_ARCH_X86_64 : AUDIT_ARCH_AARCH64);
  /*
   * The 32-bit machine of the same processor has other numbers, and none of its calls exists. Any other ends
   * the process.
   */
  emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, x86 ? AUDIT_ARCH_I386 : AUDIT_ARCH_ARM);
  give(p, skipped("compat") ? allow : enosys);
  give(p, SECCOMP_RET_KILL_PROCESS);
  emit(p, BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr));
  if (x86 && !skipped("compat")) { /* x32: the same calls with other numbers */
    emit(p, BPF_JMP | BPF_JGE | BPF_K, 0, 1, 0x40000000);
    give(p, enosys);
  }
  refuse_calls(p, refused, sizeof refused / sizeof *refused, x86, eperm);
  refuse_calls(p, absent, sizeof absent / sizeof *absent, x86, enosys);

  refuse_bits(p, x86);
  /* ioctl: both type input into a terminal for the next program that reads it. */
  static const uint32_t typing[] = {0x5412 /* TIOCSTI */, 0x541C /* TIOCLINUX */};
  if (!skipped("terminal")) refuse_values(p, x86 ? 16 : 29, 1, typing, 2, eperm);
  if (!skipped("sockets")) {
    /*
     * setsockopt: sockets keep their default buffer sizes, or a few could take all the memory. The call
     * reports success, as it does if the machine's limit is lower than the size asked for.
     */
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 7, x86 ? 54 : 208);
    load(p, 1);
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 4, 1); /* SOL_SOCKET */
    load(p, 2);
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 7); /* SO_SNDBUF */
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 8); /* SO_RCVBUF */
    give(p, SECCOMP_RET_ERRNO);
    give(p, allow);
  }
  /*
   * fcntl: a lease makes the host wait up to 45 s when it opens the file. A read lease works on a read-only
   * mount too.
   */
  static const uint32_t leases[] = {1024 /* F_SETLEASE */, 1040 /* F_SETDELEG, for a directory */};
  if (!skipped("lease")) refuse_values(p, x86 ? 72 : 25, 1, leases, 2, eperm);
  if (!skipped("families")) {
    /*
     * socket and socketpair: only UNIX, INET, INET6, NETLINK. Every other family is a driver of its own.
     * socketpair makes both sockets before it finds that the family has no pairs.
     */
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, x86 ? 41 : 198);
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 7, x86 ? 53 : 199);
    load(p, 0);
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, 4, 0, 1);
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, 3, 0, 2);
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, 2, 0, 10);
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 16);
    give(p, SECCOMP_RET_ERRNO | EAFNOSUPPORT);
    give(p, allow);
  }
  give(p, allow);
}

static struct program_text text;

void install_filter(void) {
  make_filter(&text, NATIVE_X86);
  struct sock_fprog program = {(unsigned short)text.count, text.at};
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0) fail("seccomp");
}

#ifdef HOB_WITHOUT
/* For the tests, which run the filters of both machines over their own calls. */
void print_filter(bool x86) {
  make_filter(&text, x86);
  for (int i = 0; i < text.count; i++)
    printf("%u %u %u %u\n", text.at[i].code, text.at[i].jt, text.at[i].jf, text.at[i].k);
}
#endif
