/*
 * What is in the world: a fresh tmpfs as root, on it only what the spec names. Mounts are made of the descriptors that caps
 * hold and are checked to be what they were; mount points are made part by part, in our own tmpfs only, through no link.
 */
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* openat2: beneath, no links of any kind. */
#define RESOLVE_STRICT (WITHOUT("strict") ? 0u : 0x08u | 0x04u | 0x02u)
#define RESOLVE_ONE_MOUNT 0x01u

bool as_root;

static const char *const DEVICES[] = {"null", "zero", "full", "random", "urandom", "tty"};
enum { DEVICE_COUNT = sizeof DEVICES / sizeof *DEVICES };
static int device_trees[DEVICE_COUNT];

static bool is_same(int fd, const struct mount *m) {
  struct stat s;
  if (fstat(fd, &s) < 0) return false;
  /* No link to it: it was deleted, and what is left of it can be reached by nobody else. */
  return s.st_dev == m->dev && s.st_ino == m->ino && s.st_nlink > 0;
}

/*
 * The descriptor belongs to the mount namespace of the caller, and only there can a mount be made of it: root does so
 * before the clone. A caller without that right makes it in the new namespace, where the same mount is another object,
 * so the name has to be looked up again. That is a race which the comparison decides: whatever was swapped in is not what
 * the cap holds (T19).
 */
static int reopen(const struct mount *m, bool from_descriptor) {
  if (from_descriptor) return m->fd;
  for (int attempt = 0; attempt < 8; attempt++) {
    char link[40], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", m->fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0) return -1;
    path[n] = 0;
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd >= 0 && (WITHOUT("stale") || is_same(fd, m))) return fd;
    if (fd >= 0) close(fd);
  }
  return -1;
}

/* The tree at `fd`. A cap ends where another mount begins, so a granted tree is without what is mounted in it. */
static int clone_tree(const struct mount *m, int fd) {
  return sys_open_tree(fd, "", TREE_CLONE | EMPTY_PATH | (m->system ? TREE_RECURSIVE : 0u));
}

/*
 * A tree without the mounts in it shows what lies beneath them. In a namespace that was copied for a new user namespace the
 * kernel refuses to make such a tree (EINVAL). The tree that is used is made elsewhere, a moment later: what the host mounts
 * in between was not hidden when the job was started.
 */
void check_mounts(void) {
  for (int i = 0; i < spec.mount_count && !WITHOUT("covered"); i++) {
    int fd = reopen(&spec.mounts[i], false);
    if (fd < 0) fail_at("stale", ESTALE, i);
    int tree = clone_tree(&spec.mounts[i], fd);
    if (tree < 0) fail_at("mount", errno, i);
    close(tree);
    close(fd);
  }
}

void make_trees(bool from_descriptors, int idmap) {
  for (int i = 0; i < spec.mount_count; i++) {
    struct mount *m = &spec.mounts[i];
    /* A number that was closed and given out again is something else than the cap was. */
    if (!WITHOUT("stale") && !is_same(m->fd, m)) fail_at("stale", ESTALE, i);
    int fd = reopen(m, from_descriptors);
    if (fd < 0) fail_at("stale", ESTALE, i);
    m->tree = clone_tree(m, fd);
    if (m->tree < 0) fail_at("mount", errno, i);
    if (fd != m->fd) close(fd);
    if (!WITHOUT("stale") && !is_same(m->tree, m)) fail_at("stale", ESTALE, i);
    struct stat s;
    if (fstat(m->tree, &s) < 0) fail_at("mount", errno, i);
    m->directory = S_ISDIR(s.st_mode);
    if (!m->directory && !S_ISREG(s.st_mode)) fail_at("mount", ENOTDIR, i);
    uint64_t set = 0;
    if (!WITHOUT("nosuid")) set |= ATTR_NOSUID; /* a set-uid program of the host would run as its owner */
    if (!WITHOUT("nodev")) set |= ATTR_NODEV;   /* a device node in a granted tree is a device */
    if (!m->writable && !WITHOUT("readonly")) set |= ATTR_RDONLY;
    /* Private: what the host mounts later must not appear inside. */
    if (sys_set_mount(m->tree, set, 0, MS_PRIVATE, -1, true) < 0) fail_at("mount", errno, i);
    /*
     * Files that belong to root belong to the payload's id on this mount, and what it makes belongs to root on the disk.
     * The system image is not mapped: there the payload is nobody.
     */
    if (idmap >= 0 && !m->system && sys_set_mount(m->tree, ATTR_IDMAP, 0, 0, idmap, false) < 0) fail_at("idmap", errno, i);
  }
  for (int i = 0; i < DEVICE_COUNT; i++) {
    char path[32];
    snprintf(path, sizeof path, "/dev/%s", DEVICES[i]);
    device_trees[i] = sys_open_tree(AT_FDCWD, path, TREE_CLONE);
    if (device_trees[i] < 0 || sys_set_mount(device_trees[i], ATTR_NOSUID | ATTR_NOEXEC, 0, MS_PRIVATE, -1, false) < 0)
      fail("dev");
  }
}

static int root;

/* In our own tmpfs, and not in what is mounted on it. */
static bool is_ours(int dir) {
  struct stat s, r;
  if (fstat(dir, &s) < 0 || fstat(root, &r) < 0) fail("root");
  return s.st_dev == r.st_dev || WITHOUT("beneath");
}

/* An empty directory of ours that ends up beneath /dev/shm, where no path leads. */
static int nowhere;

/*
 * Opens `name` in `dir`, both of a granted tree, and keeps it there, because another mount lies in it. A payload that could move this
 * directory away would put one of its own in the place of the inner mount. The kernel renames and removes no directory on which
 * something is mounted anywhere in the caller's mount namespace (EBUSY). So something is mounted on this one in a copy of `dir` that
 * no path leads to. What the payload sees stays one mount, in which it can rename and link from place to place.
 */
static int pinned(int dir, const char *name) {
  struct statvfs v;
  struct stat s, f;
  int found = sys_openat2(dir, name, O_PATH | O_DIRECTORY, RESOLVE_STRICT | RESOLVE_ONE_MOUNT);
  if (found < 0 && errno == EXDEV) return -1; /* a mount of the spec is there already */
  if (found < 0 || fstatvfs(dir, &v) < 0) fail("mountpoint");
  if ((v.f_flag & ST_RDONLY) || WITHOUT("pin")) return found;
  int copy = sys_open_tree(dir, "", TREE_CLONE | EMPTY_PATH), lid = sys_open_tree(nowhere, "", TREE_CLONE | EMPTY_PATH);
  if (copy < 0 || lid < 0 || sys_move_mount(copy, nowhere) < 0) fail("pin");
  int on = sys_openat2(copy, name, O_PATH | O_DIRECTORY, RESOLVE_STRICT);
  /* Renamed by somebody outside in this moment? */
  if (on < 0 || fstat(on, &s) < 0 || fstat(found, &f) < 0 || s.st_dev != f.st_dev || s.st_ino != f.st_ino) fail_at("mountpoint", ESTALE, -1);
  if (sys_move_mount(lid, on) < 0) fail("pin");
  close(copy);
  close(lid);
  close(on);
  return found;
}

/*
 * The directory in which the last part of `path` is, opened, and that part. Missing directories are made, but only in our
 * own tmpfs: inside a granted tree nothing is ever made, or a link left there by one job would choose where the next
 * set-up writes (T1, T12).
 */
static int parent_of(const char *path, const char **last) {
  int dir = dup(root);
  if (dir < 0) fail("root");
  for (const char *part = path + 1;;) {
    const char *slash = strchr(part, '/');
    *last = part;
    if (!slash) return dir;
    char name[256];
    memcpy(name, part, (size_t)(slash - part));
    name[slash - part] = 0;
    if (is_ours(dir) && mkdirat(dir, name, 0755) < 0 && errno != EEXIST) fail("root");
    int next = is_ours(dir) ? -1 : pinned(dir, name);
    if (next < 0) next = sys_openat2(dir, name, O_PATH | O_DIRECTORY, RESOLVE_STRICT);
    if (next < 0) fail("mountpoint");
    close(dir);
    dir = next;
    part = slash + 1;
  }
}

/* The mount point itself, made if it is ours to make. */
static int point(const char *path, bool directory) {
  const char *name;
  int dir = parent_of(path, &name);
  if (is_ours(dir)) {
    if (directory ? mkdirat(dir, name, 0755) < 0 && errno != EEXIST : mknodat(dir, name, S_IFREG | 0444, 0) < 0 && errno != EEXIST)
      fail("root");
  }
  int fd = sys_openat2(dir, name, O_PATH | (directory ? O_DIRECTORY : 0), RESOLVE_STRICT);
  if (fd < 0) fail("mountpoint");
  close(dir);
  return fd;
}

static void attach(int tree, const char *path, bool directory, const char *stage) {
  int fd = point(path, directory);
  if (sys_move_mount(tree, fd) < 0) fail(stage);
  close(fd);
}

static int new_tmpfs(const char *mode, uint64_t bytes, uint64_t attributes) {
  char size[32], inodes[32];
  snprintf(size, sizeof size, "%llu", (unsigned long long)bytes);
  /* Empty files cost memory, too. */
  snprintf(inodes, sizeof inodes, "%llu", (unsigned long long)(bytes / 4096 + 256));
  const char *options[] = {"mode", mode, "size", size, "nr_inodes", inodes, NULL};
  if (WITHOUT("tmpsize")) options[2] = NULL;
  int made = sys_new_mount("tmpfs", options, attributes);
  if (made < 0) fail("tmpfs");
  return made;
}

static void write_file(const char *path, const char *content) {
  const char *name;
  int dir = parent_of(path, &name);
  if (!is_ours(dir)) fail("mountpoint");
  int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);
  size_t n = strlen(content);
  if (fd < 0 || write(fd, content, n) != (ssize_t)n) fail("file");
  close(fd);
  close(dir);
}

static void make_link(const char *path, const char *target) {
  const char *name;
  int dir = parent_of(path, &name);
  if (!is_ours(dir)) fail("mountpoint");
  if (symlinkat(target, dir, name) < 0) fail("link");
  close(dir);
}

/* What of /proc reaches beyond the world: settings of the kernel (read-only), its memory, keys and logs (hidden). */
static void cover_proc(void) {
  static const char *const readonly[] = {"sys", "irq", "bus", "fs", "acpi", "scsi", "sysrq-trigger", "mtrr"};
  static const char *const hidden[] = {"keys",      "key-users",   "kcore",       "kallsyms",      "kmsg",           "timer_list",   "sched_debug",
                                       "kpagecount", "kpageflags", "kpagecgroup", "slabinfo", "vmallocinfo", "pagetypeinfo", "latency_stats",
                                       "modules",   "cmdline"};
  int proc = sys_openat2(root, "proc", O_PATH | O_DIRECTORY, RESOLVE_STRICT);
  if (proc < 0) fail("proc");
  for (size_t i = 0; i < sizeof readonly / sizeof *readonly && !WITHOUT("procro"); i++) {
    int fd = sys_openat2(proc, readonly[i], O_PATH, RESOLVE_STRICT);
    if (fd < 0 && errno == ENOENT) continue;
    int tree = fd < 0 ? -1 : sys_open_tree(fd, "", TREE_CLONE | EMPTY_PATH | TREE_RECURSIVE);
    if (tree < 0 || sys_set_mount(tree, ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV | ATTR_NOEXEC, 0, 0, -1, true) < 0) fail("proc");
    if (sys_move_mount(tree, fd) < 0) fail("proc");
    close(tree);
    close(fd);
  }
  int null = sys_openat2(root, "dev/null", O_PATH, RESOLVE_STRICT);
  if (null < 0) fail("proc");
  for (size_t i = 0; i < sizeof hidden / sizeof *hidden && !WITHOUT("procmask"); i++) {
    int fd = sys_openat2(proc, hidden[i], O_PATH, RESOLVE_STRICT);
    if (fd < 0 && errno == ENOENT) continue;
    int tree = fd < 0 ? -1 : sys_open_tree(null, "", TREE_CLONE | EMPTY_PATH);
    if (tree < 0 || sys_move_mount(tree, fd) < 0) fail("proc");
    close(tree);
    close(fd);
  }
  close(null);
  close(proc);
}

/* Written while pid 1 still has its capabilities, before /proc/sys is made read-only. */
static bool set(const char *path, const char *value) {
  int proc = sys_openat2(root, path, O_WRONLY, RESOLVE_STRICT);
  if (proc < 0) return false;
  ssize_t n = write(proc, value, strlen(value));
  int error = errno;
  close(proc);
  errno = error;
  return n == (ssize_t)strlen(value);
}

void build_root(void) {
  /* The copy of the host's mounts must neither hear of its changes nor tell of ours. */
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) fail("private");
  if (!as_root) make_trees(false, -1);

  root = new_tmpfs("0755", 8 << 20, ATTR_NOSUID | ATTR_NODEV);
  int base = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (base < 0 || sys_move_mount(root, base) < 0) fail("root");
  close(base);

  /* New, of this pid namespace. Needs an uncovered /proc of the host to be in sight still (T18: containers cover it). */
  int proc = sys_new_mount("proc", NULL, ATTR_NOSUID | ATTR_NODEV | ATTR_NOEXEC);
  if (proc < 0) fail("proc");
  attach(proc, "/proc", true, "proc");
  close(proc);

  for (int i = 0; i < DEVICE_COUNT; i++) {
    char path[32];
    snprintf(path, sizeof path, "/dev/%s", DEVICES[i]);
    attach(device_trees[i], path, false, "dev");
    close(device_trees[i]);
  }
  /* Terminals of its own: the host's are not to be had, so nothing can be typed into them. */
  const char *options[] = {"ptmxmode", "0666", "mode", "0620", NULL};
  int pts = sys_new_mount("devpts", options, ATTR_NOSUID | ATTR_NOEXEC);
  if (pts < 0) fail("devpts");
  attach(pts, "/dev/pts", true, "devpts");
  close(pts);
  make_link("/dev/ptmx", "pts/ptmx");
  make_link("/dev/fd", "/proc/self/fd");
  make_link("/dev/stdin", "/proc/self/fd/0");
  make_link("/dev/stdout", "/proc/self/fd/1");
  make_link("/dev/stderr", "/proc/self/fd/2");
  int shm = new_tmpfs("1777", spec.limits.shm_bytes, ATTR_NOSUID | ATTR_NODEV);
  nowhere = point("/dev/shm", true);
  int tmp = new_tmpfs("1777", spec.limits.tmp_bytes, ATTR_NOSUID | ATTR_NODEV);
  attach(tmp, "/tmp", true, "tmpfs");
  if (mkdirat(tmp, "home", 0700) < 0) fail("tmpfs"); /* HOME has to be there and writable (T16) */
  close(tmp);

  for (int i = 0; i < spec.mount_count; i++) {
    struct mount *m = &spec.mounts[i];
    int fd = point(m->at, m->directory);
    /* On this descriptor, so that a rename after the comparison changes nothing: it is what gets covered. */
    struct stat s;
    if (m->covers && !WITHOUT("covers") && (fstat(fd, &s) < 0 || s.st_dev != m->covered_dev || s.st_ino != m->covered_ino))
      fail_at("place", ESTALE, i);
    if (sys_move_mount(m->tree, fd) < 0) fail_at("mount", errno, i);
    close(fd);
    if (!m->writable) close(m->tree); /* landlock.c needs the others */
    if (!WITHOUT("close")) close(m->fd); /* a directory outside, held open, is a way out: openat(fd, "..") */
  }
  attach(shm, "/dev/shm", true, "tmpfs");
  close(shm);
  close(nowhere);
  for (int i = 0; i < spec.link_count; i++) make_link(spec.links[i].a, spec.links[i].b);
  for (int i = 0; i < spec.file_count; i++) write_file(spec.files[i].a, spec.files[i].b);

  /* No user namespace inside: in one the payload would hold capabilities again, and with them most of the kernel. */
  if (!WITHOUT("nouserns") && !set("proc/sys/user/max_user_namespaces", "0")) fail("nouserns");
  /*
   * The caller's user has 128 inotify instances for the host and for all jobs, so a job gets some of them. ENOENT: a kernel
   * without inotify, or one that does not count it for each user namespace.
   */
  if (!WITHOUT("inotify") && ((!set("proc/sys/user/max_inotify_instances", "8") && errno != ENOENT) ||
                              (!set("proc/sys/user/max_inotify_watches", "16384") && errno != ENOENT)))
    fail("inotify");
  /* Of this world alone since Linux 6.14; refused before, and then RLIMIT_NPROC holds by itself. */
  char most[24];
  snprintf(most, sizeof most, "%llu", (unsigned long long)(spec.limits.processes < 301 ? 301 : spec.limits.processes + 2));
  if (!WITHOUT("pidmax")) set("proc/sys/kernel/pid_max", most);
  cover_proc();
  if (!WITHOUT("rootro") && sys_set_mount(root, ATTR_RDONLY, 0, 0, -1, false) < 0) fail("root");

  if (fchdir(root) < 0 || sys_pivot_root(".", ".") < 0) fail("pivot");
  /* The host's tree now lies over ours; without this step it is one `..` away. */
  if (!WITHOUT("detach") && umount2(".", MNT_DETACH) < 0) fail("pivot");
  if (chdir("/") < 0) fail("pivot");
  close(root);
}
