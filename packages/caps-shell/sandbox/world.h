/*
 * The sandbox program of Hob: what its files share.
 *
 * Three processes. `main.c` is the outer one: it reads the spec, clones, writes the id maps, carries stdin, stdout and
 * stderr, and is the only one that ever holds the status descriptor. `init.c` is pid 1 of the new world:
 * it builds it (`mounts.c`, `filter.c`), starts the payload, watches it, reaps. The payload is what was asked for. PROTOCOL.md says how to talk to it.
 *
 * Promise: either everything asked for holds when the payload's first instruction runs, or the payload never runs.
 * Every step that can fail ends in `fail(stage)`; no step has a fallback that holds less.
 */
#ifndef HOB_WORLD_H
#define HOB_WORLD_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

/*
 * A test build (-DHOB_WITHOUT) leaves out the steps that its file's name ends in, `hob-sandbox.without.STEP,STEP`, to show
 * that a probe notices. In any other build this is the constant false, and the compiler removes it.
 */
#ifdef HOB_WITHOUT
void read_left_out(void);
bool without(const char *step);
void print_filter(bool x86); /* filter.c */
#define WITHOUT(step) without(step)
#else
#define WITHOUT(step) false
#endif

/* Who the payload is, inside. One uid and one gid exist in the world; there is no 0. */
#define INSIDE_ID 1000u
/*
 * The payload's id outside when the caller is root: `outside_id`, from this one on. No account, service or container range uses
 * them. As kuid 0 it could write, by mode bits alone, every root-owned file that it sees: /proc/sys/kernel/core_pattern for one.
 */
#define FIRST_OUTSIDE_ID 1999990010u

enum { MAX_MOUNTS = 64, MAX_LINKS = 64, MAX_FILES = 32, MAX_WORDS = 16384, SPEC_BYTES = 2 << 20 };

struct mount {
  int fd;   /* what the cap holds */
  int tree; /* the mount made of it, attached nowhere yet */
  dev_t dev;
  ino_t ino;
  bool writable, system, directory;
  const char *at;
  bool covers; /* it is known what lies at `at` in the outer mount, and nothing else may be covered */
  dev_t covered_dev;
  ino_t covered_ino;
};
struct pair { const char *a, *b; };
struct limits {
  uint64_t memory, cpu_ms, processes, file_bytes, tmp_bytes, shm_bytes, open_files;
};
/* What the program at `path` has to be, if `known`. */
struct program {
  const char *path;
  bool known;
  dev_t dev;
  ino_t ino;
  uint64_t size, mtime_ns;
};
struct spec {
  struct mount mounts[MAX_MOUNTS];
  struct pair links[MAX_LINKS], files[MAX_FILES];
  char *args[MAX_WORDS + 1], *env[MAX_WORDS + 1];
  int mount_count, link_count, file_count, arg_count, env_count;
  struct limits limits;
  struct program program;
  const char *cwd;
  int channel;        /* given to the payload as descriptor 3; -1: none */
  int cgroup;         /* the directory of the job's cgroup; -1: none */
  bool linger, input; /* wait for the last process; stdin is carried (otherwise it is /dev/null) */
};

/* One page shared by the outer process and pid 1. The payload's exec unmaps it, and pid 1 cannot be traced. */
struct shared {
  volatile uint64_t cpu_us, memory, peak, processes;
  volatile int limit;      /* enum limit */
  volatile int leader;     /* wait status of the leader, once `leader_over` */
  volatile int leader_over;
  volatile int begun; /* from here on the payload may have run */
};
enum limit { NO_LIMIT, LIMIT_MEMORY, LIMIT_CPU };

/* What pid 1 tells the outer process, one fixed record a write. */
struct news {
  enum { NEWS_FAILED = 1, NEWS_STARTED, NEWS_LEADER } what;
  int error, mount;
  char stage[24];
};

extern struct spec spec;      /* spec.c */
extern struct shared *shared; /* init.c */
extern bool as_root;          /* mounts.c: the caller is root */
extern uint32_t outside_id;   /* clone.c: for root, this job's alone while it lasts */

/* fail.c: the outer process sets it for itself, pid 1 for itself. */
extern void (*on_failure)(const char *stage, int error, int mount);
__attribute__((noreturn)) void fail_at(const char *stage, int error, int mount);
__attribute__((noreturn)) void fail(const char *stage); /* with errno */

/* spec.c */
void read_spec(int fd);

/* cgroup.c: without a cgroup, the numbers are 0 and the calls do nothing. */
void open_cgroup(void);
pid_t clone_into_cgroup(unsigned long flags, int *pidfd);
uint64_t cgroup_number(const char *file, const char *name);
void kill_cgroup(void);

/* clone.c */
pid_t clone_with(unsigned long flags, int *pidfd);
unsigned long namespaces(void);
pid_t clone_world(int *pidfd);
void write_maps(pid_t pid, const char *uids, const char *gids);
int make_idmap(void);

/* relay.c */
struct relay { int from, to; bool wait_to; };
void carry(struct relay *r);
void end_relay(struct relay *r);
void non_blocking(int fd);

/* mounts.c: trees are made where the right to make them is: by the outer process for root, else by pid 1. */
void make_trees(bool from_descriptors, int idmap);
void check_mounts(void); /* for root, in a mount namespace of its own: fails if a tree would uncover something */
void build_root(void);

/* filter.c */
struct sock_fprog;
void install_filter(void);

/* sockets.c */
void open_sockets(void);
uint64_t socket_bytes(const char *sockstat); /* `sockstat`: the text of /proc/net/sockstat */

/* landlock.c */
void restrict_writing(void);

/* init.c */
__attribute__((noreturn)) void run_world(int lifeline, int news, int in, int out, int err);

/* kernel.c: calls that a C library may not know. */
int sys_open_tree(int fd, const char *path, unsigned flags);
int sys_move_mount(int from, int to);
int sys_set_mount(int fd, uint64_t set, uint64_t clear, uint64_t propagation, int idmap, bool recursive);
int sys_openat2(int dir, const char *path, uint64_t flags, uint64_t resolve);
int sys_new_mount(const char *type, const char *const *options, uint64_t attributes);
int sys_close_range(unsigned first, unsigned last, unsigned flags);
int sys_pivot_root(const char *to, const char *old);

/* For `sys_set_mount` and `sys_new_mount`. */
#define ATTR_RDONLY 0x1
#define ATTR_NOSUID 0x2
#define ATTR_NODEV 0x4
#define ATTR_NOEXEC 0x8
#define ATTR_IDMAP 0x100000
#define TREE_CLONE 1
#define TREE_RECURSIVE 0x8000
#define EMPTY_PATH 0x1000

#endif
