/*
 * The sandbox program of Hob: declarations that its files share. PROTOCOL.md describes its interface.
 *
 * It runs as three processes:
 * - The outer process (`main.c`) clones, writes the id maps, reads the spec, and carries stdin, stdout and stderr.
 *   Only this process holds the status descriptor.
 * - Pid 1 of the new world (`init.c`) builds the world (`mounts.c`, `filter.c`), starts the payload, checks its
 *   limits (`usage.c`), and reaps.
 * - The payload is the program that the caller asked for.
 *
 * When the payload's first instruction runs, every restriction of the spec holds; otherwise the payload never
 * runs. Every step that can fail ends in `fail(stage)`. No step falls back to a weaker one.
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
 * A test build (-DHOB_WITHOUT) skips the steps that its file name lists, `hob-sandbox.without.STEP,STEP`, to
 * show that a probe notices. In every other build WITHOUT is the constant false, and the compiler removes it.
 */
#ifdef HOB_WITHOUT
void read_skipped_steps(void);
bool without(const char *step);
void print_filter(bool x86); /* filter.c */
#define WITHOUT(step) without(step)
#else
#define WITHOUT(step) false
#endif

/* The payload's uid and gid inside. The world has no other ids, and no 0. */
#define INSIDE_ID 1000u
/*
 * If the caller is root, the payload's id outside is `outside_id`, which starts here. No account, service or
 * container range uses these ids. As kuid 0 the payload could write every root-owned file that it sees, by
 * its mode bits alone: for example /proc/sys/kernel/core_pattern.
 */
#define FIRST_OUTSIDE_ID 1999990010u

enum { MAX_MOUNTS = 64, MAX_LINKS = 64, MAX_FILES = 32, MAX_LISTENERS = 32, MAX_WORDS = 16384, SPEC_BYTES = 2 << 20 };

struct mount {
  int fd;   /* the cap's descriptor */
  int tree; /* the mount made from it, not attached yet */
  dev_t dev;
  ino_t ino;
  bool writable, system, directory;
  const char *at;
  bool covers; /* the directory at `at` in the outer mount must be this one */
  dev_t covered_dev;
  ino_t covered_ino;
};
/* A symbolic link and its target, or a file and its content. */
struct path_text { const char *path, *text; };
struct limits {
  uint64_t memory, cpu_ms, processes, file_bytes, tmp_bytes, shm_bytes, open_files;
};
/* The file at `path` must have these values, if `known`. */
struct program {
  const char *path;
  bool known;
  dev_t dev;
  ino_t ino;
  uint64_t size, mtime_ns;
};
/* The caller serves it: TCP on 127.0.0.1, or a Unix socket at `path`. */
struct listener {
  const char *path; /* NULL: TCP */
  uint16_t port;
  int fd;
};
struct spec {
  struct mount mounts[MAX_MOUNTS];
  struct path_text links[MAX_LINKS], files[MAX_FILES];
  struct listener listeners[MAX_LISTENERS];
  char *args[MAX_WORDS + 1], *env[MAX_WORDS + 1];
  int mount_count, link_count, file_count, listener_count, arg_count, env_count;
  struct limits limits;
  struct program program;
  const char *cwd;
  int channel; /* becomes the payload's descriptor 3; -1: none */
  int door;    /* the socket on which the caller gets the listeners; -1: none */
  int cgroup;  /* the directory of the job's cgroup; -1: none */
  bool linger; /* the job lasts until its last process ends, not only its first */
  bool input;  /* stdin is carried; otherwise it is /dev/null */
};

/* An event that pid 1 sends to the outer process, in one write. */
struct event {
  enum { EVENT_FAILED = 1, EVENT_READY, EVENT_STARTED, EVENT_LEADER } what;
  int error, mount;
  char stage[24];
};

/*
 * One page shared by the outer process and pid 1. The payload's exec unmaps it, and nobody can trace pid 1.
 */
struct shared {
  volatile uint64_t cpu_us, memory, peak, processes;
  volatile int limit;  /* enum limit */
  volatile int leader; /* wait status of the leader (the first process), once `leader_over` */
  volatile int leader_over;
  volatile int begun; /* set just before the payload may run */
  struct event checked; /* the failure of `check_mounts`, if its stage is not empty */
};
enum limit { NO_LIMIT, LIMIT_MEMORY, LIMIT_CPU };

/* A device that every world has, and its tree until that is attached. */
enum { DEVICE_COUNT = 6 };
struct device { const char *path; int tree; };

extern struct spec spec;      /* spec.c */
extern struct shared *shared; /* init.c */
extern bool as_root;          /* trees.c: the caller is root */
extern struct device devices[DEVICE_COUNT]; /* trees.c */
extern uint32_t outside_id;   /* clone.c: for root, no other job has it while this one lasts */

/* fail.c: the outer process and pid 1 each set their own. */
extern void (*on_failure)(const char *stage, int error, int mount);
__attribute__((noreturn)) void fail_at(const char *stage, int error, int mount);
__attribute__((noreturn)) void fail(const char *stage); /* takes the error from errno */

/* spec.c: the outer process reads the text, and both processes parse it. */
void make_room_for_spec(void);
bool read_spec(int fd); /* false: the caller is gone, or needs no job */
void parse_spec(void);

/* cgroup.c: without a cgroup the numbers are 0, and the functions do nothing. */
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
void await_check(void);
void reap_checker(void);

/* ahead.c */
bool is_ahead(char *name); /* whether the caller started this program under the name for jobs to come */
int start_ahead(void);
void has_started(void); /* from its spec on, a process has the usual name */

/* steps.c */
enum step { MAPPED = 'm', SPEC = 's', MOUNTS = 't', RUN = 'r' };
void say(int lifeline, enum step step);
void await(int lifeline, enum step step);
void send_mounts(int lifeline);
void take_mounts(int lifeline);

/* relay.c */
struct relay { int from, to; bool wait_to; };
void carry(struct relay *r);
void end_relay(struct relay *r);
void non_blocking(int fd);

/* trees.c: for root the outer process makes the trees, else pid 1 does: each has the right to. */
void take_held(pid_t caller);
void make_trees(bool from_descriptors, int idmap);
void look_at_tree(int mount);
void make_device_trees(void);
void check_mounts(void); /* for root, in its own mount namespace: fails if a tree would uncover something */

/* mounts.c */
void build_root(int lifeline);

/* door.c */
void listen_in(struct listener *l, int dir, const char *name);
void open_doors(void);

/* filter.c */
struct sock_fprog;
void install_filter(void);

/* sockets.c */
void open_sockets(void);
uint64_t socket_bytes(const char *sockstat); /* `sockstat`: the content of /proc/net/sockstat */

/* landlock.c */
void restrict_writing(void);

/* usage.c */
int check_usage(int proc);

/* init.c */
struct ends { int in, out, err; }; /* the payload's ends of its pipes; `in` is -1 without input */
/* `ahead`: the world was made before its spec was there. */
__attribute__((noreturn)) void run_world(int lifeline, int events, struct ends ends, bool ahead);

/* kernel.c: system calls that a C library may not know. */
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
