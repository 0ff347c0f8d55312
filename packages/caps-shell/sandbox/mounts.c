/*
 * Builds the file system of the world: a new tmpfs as root, and in it only what the spec names.
 *
 * Mounts are made from the descriptors that caps hold, and are checked to be the same directories as before.
 * Mount points are made part by part, only in this tmpfs, and never through a link.
 */
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* For openat2: stay beneath, and follow no links of any kind. */
#define RESOLVE_STRICT (WITHOUT("strict") ? 0u : 0x08u | 0x04u | 0x02u)
#define RESOLVE_ONE_MOUNT 0x01u

static int root;

/* Whether `dir` is in the tmpfs of this world, and not in a mount on it. */
static bool is_own(int dir) {
  struct stat s, r;
  if (fstat(dir, &s) < 0 || fstat(root, &r) < 0) fail("root");
  return s.st_dev == r.st_dev || WITHOUT("beneath");
}

/* An empty directory that ends up beneath the mount /dev/shm, where no path leads. */
static int unreachable;

/*
 * Opens `name` in `dir`, both in a granted tree, and pins it there, because another mount lies in it. If the
 * payload could rename this directory, it could put one of its own in place of the inner mount.
 *
 * The kernel does not rename or remove a directory on which something is mounted anywhere in the caller's
 * mount namespace (EBUSY). So this function mounts something on the directory in a copy of `dir` that no path
 * leads to. The payload still sees one mount, in which it can rename and link from place to place.
 */
static int open_pinned(int dir, const char *name) {
  struct statvfs v;
  struct stat s, f;
  int found = sys_openat2(dir, name, O_PATH | O_DIRECTORY, RESOLVE_STRICT | RESOLVE_ONE_MOUNT);
  if (found < 0 && errno == EXDEV) return -1; /* a mount of the spec is already there */
  if (found < 0 || fstatvfs(dir, &v) < 0) fail("mountpoint");
  if ((v.f_flag & ST_RDONLY) || WITHOUT("pin")) return found;
  int copy = sys_open_tree(dir, "", TREE_CLONE | EMPTY_PATH), lid = sys_open_tree(unreachable, "", TREE_CLONE | EMPTY_PATH);
  if (copy < 0 || lid < 0 || sys_move_mount(copy, unreachable) < 0) fail("pin");
  int on = sys_openat2(copy, name, O_PATH | O_DIRECTORY, RESOLVE_STRICT);
  /* Somebody outside may have renamed it just now. */
  if (on < 0 || fstat(on, &s) < 0 || fstat(found, &f) < 0 || s.st_dev != f.st_dev || s.st_ino != f.st_ino) fail_at("mountpoint", ESTALE, -1);
  if (sys_move_mount(lid, on) < 0) fail("pin");
  close(copy);
  close(lid);
  close(on);
  return found;
}

/*
 * Opens the directory of the last part of `path`, and sets `last` to that part. Makes missing directories,
 * but only in the tmpfs of this world. Nothing is ever made inside a granted tree: a link that one job left
 * there would choose where the next set-up writes (docs/measurements/shell.md).
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
    if (is_own(dir) && mkdirat(dir, name, 0755) < 0 && errno != EEXIST) fail("root");
    int next = is_own(dir) ? -1 : open_pinned(dir, name);
    if (next < 0) next = sys_openat2(dir, name, O_PATH | O_DIRECTORY, RESOLVE_STRICT);
    if (next < 0) fail("mountpoint");
    close(dir);
    dir = next;
    part = slash + 1;
  }
}

/* Opens the mount open_mountpoint. Makes it if it is in the tmpfs of this world. */
static int open_mountpoint(const char *path, bool directory) {
  const char *name;
  int dir = parent_of(path, &name);
  if (is_own(dir)) {
    if (directory ? mkdirat(dir, name, 0755) < 0 && errno != EEXIST : mknodat(dir, name, S_IFREG | 0444, 0) < 0 && errno != EEXIST)
      fail("root");
  }
  int fd = sys_openat2(dir, name, O_PATH | (directory ? O_DIRECTORY : 0), RESOLVE_STRICT);
  if (fd < 0) fail("mountpoint");
  close(dir);
  return fd;
}

static void attach(int tree, const char *path, bool directory, const char *stage) {
  int fd = open_mountpoint(path, directory);
  if (sys_move_mount(tree, fd) < 0) fail(stage);
  close(fd);
}

static int new_tmpfs(const char *mode, uint64_t bytes, uint64_t attributes) {
  char size[32], inodes[32];
  snprintf(size, sizeof size, "%llu", (unsigned long long)bytes);
  /* Empty files cost memory too. */
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
  if (!is_own(dir)) fail("mountpoint");
  int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);
  size_t n = strlen(content);
  if (fd < 0 || write(fd, content, n) != (ssize_t)n) fail("file");
  close(fd);
  close(dir);
}

/* A Unix socket that the caller serves. */
static void make_socket(struct listener *l) {
  const char *name;
  int dir = parent_of(l->path, &name);
  if (!is_own(dir)) fail("mountpoint");
  listen_in(l, dir, name);
  close(dir);
}

static void make_link(const char *path, const char *target) {
  const char *name;
  int dir = parent_of(path, &name);
  if (!is_own(dir)) fail("mountpoint");
  if (symlinkat(target, dir, name) < 0) fail("link");
  close(dir);
}

/*
 * Makes kernel settings in /proc read-only, and hides kernel memory, keys and logs. They reach beyond the
 * world.
 */
static void mask_proc(void) {
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

/* Works while pid 1 has its capabilities and /proc/sys is not yet read-only. */
static bool write_setting(const char *path, const char *value) {
  int proc = sys_openat2(root, path, O_WRONLY, RESOLVE_STRICT);
  if (proc < 0) return false;
  ssize_t n = write(proc, value, strlen(value));
  int error = errno;
  close(proc);
  errno = error;
  return n == (ssize_t)strlen(value);
}

/* A new /proc, a minimal /dev, /tmp. Returns /dev/shm, which is attached last. */
static int mount_own(void) {
  /*
   * For this pid namespace. The kernel refuses it if parts of the host's /proc are covered, as in many
   * containers.
   */
  int proc = sys_new_mount("proc", NULL, ATTR_NOSUID | ATTR_NODEV | ATTR_NOEXEC);
  if (proc < 0) fail("proc");
  attach(proc, "/proc", true, "proc");
  close(proc);

  for (int i = 0; i < DEVICE_COUNT; i++) {
    attach(devices[i].tree, devices[i].path, false, "dev");
    close(devices[i].tree);
  }
  /* Its own terminals. The host's are out of reach, so nothing can be typed into them. */
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
  unreachable = open_mountpoint("/dev/shm", true);
  int tmp = new_tmpfs("1777", spec.limits.tmp_bytes, ATTR_NOSUID | ATTR_NODEV);
  attach(tmp, "/tmp", true, "tmpfs");
  if (mkdirat(tmp, "home", 0700) < 0) fail("tmpfs"); /* mktemp, npm and git need a writable HOME */
  close(tmp);
  return shm;
}

/* The mounts of the spec, in its order: an outer one comes before an inner one. */
static void mount_granted(void) {
  for (int i = 0; i < spec.mount_count; i++) {
    struct mount *m = &spec.mounts[i];
    int fd = open_mountpoint(m->at, m->directory);
    /* The mount goes on this descriptor, so a rename after the comparison changes nothing. */
    struct stat s;
    if (m->covers && !WITHOUT("covers") && (fstat(fd, &s) < 0 || s.st_dev != m->covered_dev || s.st_ino != m->covered_ino))
      fail_at("place", ESTALE, i);
    if (sys_move_mount(m->tree, fd) < 0) fail_at("mount", errno, i);
    close(fd);
    if (!m->writable) close(m->tree); /* landlock.c needs the writable ones */
    if (m->fd >= 0 && !WITHOUT("close")) close(m->fd); /* an open directory outside would be a way out: openat(fd, "..") */
  }
}

static void write_settings(void) {
  /*
   * No user namespaces inside: in one the payload would have capabilities again, and so reach most of the
   * kernel.
   */
  if (!WITHOUT("nouserns") && !write_setting("proc/sys/user/max_user_namespaces", "0")) fail("nouserns");
  /*
   * The caller's user has 128 inotify instances for the host and all jobs, so each job gets only a few.
   * ENOENT: a kernel without inotify, or one that does not count it for each user namespace.
   */
  if (!WITHOUT("inotify") && ((!write_setting("proc/sys/user/max_inotify_instances", "8") && errno != ENOENT) ||
                              (!write_setting("proc/sys/user/max_inotify_watches", "16384") && errno != ENOENT)))
    fail("inotify");
  /*
   * Since Linux 6.14 this counts for this world alone. Older kernels refuse it; RLIMIT_NPROC limits there
   * too.
   */
  char most[24];
  snprintf(most, sizeof most, "%llu", (unsigned long long)(spec.limits.processes < 301 ? 301 : spec.limits.processes + 2));
  if (!WITHOUT("pidmax")) write_setting("proc/sys/kernel/pid_max", most);
}

void build_root(int lifeline) {
  /* Only now: what the host has mounted by this moment decides what a tree would uncover. */
  if (!WITHOUT("mntns") && unshare(CLONE_NEWNS) < 0) fail("private");
  /* Changes of the host's mounts must not appear here, nor those here there. */
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) fail("private");
  if (!as_root) {
    take_mounts(lifeline);
    make_device_trees();
    make_trees(false, -1);
  }

  root = new_tmpfs("0755", 8 << 20, ATTR_NOSUID | ATTR_NODEV);
  int base = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (base < 0 || sys_move_mount(root, base) < 0) fail("root");
  close(base);

  int shm = mount_own();
  if (as_root) take_mounts(lifeline); /* the outer process has made the trees meanwhile */
  mount_granted();
  attach(shm, "/dev/shm", true, "tmpfs");
  close(shm);
  close(unreachable);
  for (int i = 0; i < spec.link_count; i++) make_link(spec.links[i].path, spec.links[i].text);
  for (int i = 0; i < spec.file_count; i++) write_file(spec.files[i].path, spec.files[i].text);
  for (int i = 0; i < spec.listener_count; i++)
    if (spec.listeners[i].path) make_socket(&spec.listeners[i]);

  write_settings();
  mask_proc();
  if (!WITHOUT("rootro") && sys_set_mount(root, ATTR_RDONLY, 0, 0, -1, false) < 0) fail("root");

  if (fchdir(root) < 0 || sys_pivot_root(".", ".") < 0) fail("pivot");
  /* The host's tree now lies on top of this one. Without this step it would be one `..` away. */
  if (!WITHOUT("detach") && umount2(".", MNT_DETACH) < 0) fail("pivot");
  if (chdir("/") < 0) fail("pivot");
  close(root);
}
