/*
 * Makes mounts that are not attached yet: from the descriptors that caps hold, and of a few devices.
 *
 * A tree is compared with the cap's directory before and after it is made, so it is the same directory whatever
 * somebody renames meanwhile.
 */
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

bool as_root;

struct device devices[DEVICE_COUNT] = {{"/dev/null", -1}, {"/dev/zero", -1}, {"/dev/full", -1}, {"/dev/random", -1}, {"/dev/urandom", -1}, {"/dev/tty", -1}};

static bool is_same(int fd, const struct mount *m) {
  struct stat s;
  if (fstat(fd, &s) < 0) return false;
  /* No links are left: it was deleted, and nobody else can reach the rest of it. */
  return s.st_dev == m->dev && s.st_ino == m->ino && s.st_nlink > 0;
}

/*
 * Takes the descriptors of the spec from the caller, by their numbers there: a program that waited for its spec
 * was started before they were open. The kernel allows this to the same user, unless the caller hides its memory
 * from it or a rule of the machine forbids it. Then the caller starts a new program, which inherits them.
 */
void take_held(pid_t caller) {
  for (int i = 0; i < spec.mount_count; i++) {
    char path[48];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)caller, spec.mounts[i].fd);
    spec.mounts[i].fd = open(path, O_PATH | O_CLOEXEC);
    if (spec.mounts[i].fd >= 0) continue;
    /* The cap may have been closed meanwhile. */
    if (errno == ENOENT && access("/proc/self/fd", F_OK) == 0) fail_at("stale", ESTALE, i);
    fail("waiting");
  }
}

/*
 * A descriptor belongs to the caller's mount namespace, and a mount can be made from it only there. Root does
 * so. Other callers make the mount in the new namespace, where the same mount is another object, so its name is
 * looked up again. An attacker can swap the name meanwhile. Then the comparison with the cap's directory fails
 * (docs/measurements/shell.md).
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

/*
 * Copies the tree at `fd`. A granted tree is copied without the mounts in it, because a cap ends where a
 * mount begins.
 */
static int clone_tree(const struct mount *m, int fd) {
  return sys_open_tree(fd, "", TREE_CLONE | EMPTY_PATH | (m->system ? TREE_RECURSIVE : 0u));
}

/*
 * A tree that is copied without the mounts in it shows the directories beneath them. In a mount namespace
 * copied for a new user namespace the kernel refuses to make such a tree (EINVAL), and this function relies
 * on that. The tree in use is made elsewhere, a moment before or after. A directory that the host covers in
 * between was not hidden when the job started. A tree of the system image has its mounts in it: nothing to check.
 */
void check_mounts(void) {
  for (int i = 0; i < spec.mount_count && !WITHOUT("covered"); i++) {
    if (spec.mounts[i].system) continue;
    int fd = reopen(&spec.mounts[i], false);
    if (fd < 0) fail_at("stale", ESTALE, i);
    int tree = clone_tree(&spec.mounts[i], fd);
    if (tree < 0) fail_at("mount", errno, i);
    /* Both stay open until this process ends: to remove a tree takes long, and somebody waits for the verdict. */
  }
}

void make_trees(bool from_descriptors, int idmap) {
  for (int i = 0; i < spec.mount_count; i++) {
    struct mount *m = &spec.mounts[i];
    /* The cap may have been closed and its descriptor number reused. */
    if (!WITHOUT("stale") && !is_same(m->fd, m)) fail_at("stale", ESTALE, i);
    int fd = reopen(m, from_descriptors);
    if (fd < 0) fail_at("stale", ESTALE, i);
    m->tree = clone_tree(m, fd);
    if (m->tree < 0) fail_at("mount", errno, i);
    if (fd != m->fd) close(fd);
    if (!WITHOUT("stale") && !is_same(m->tree, m)) fail_at("stale", ESTALE, i);
    look_at_tree(i);
    uint64_t set = 0;
    if (!WITHOUT("nosuid")) set |= ATTR_NOSUID; /* a set-uid program would run as its owner */
    if (!WITHOUT("nodev")) set |= ATTR_NODEV;   /* a device node in a granted tree would work */
    if (!m->writable && !WITHOUT("readonly")) set |= ATTR_RDONLY;
    /* Private: later mounts of the host must not appear inside. */
    if (sys_set_mount(m->tree, set, 0, MS_PRIVATE, -1, true) < 0) fail_at("mount", errno, i);
    /*
     * On this mount root's files belong to the payload, and files that it makes belong to root on disk. The
     * system image is not mapped: there the payload has the rights of "others".
     */
    if (idmap >= 0 && !m->system && sys_set_mount(m->tree, ATTR_IDMAP, 0, 0, idmap, false) < 0) fail_at("idmap", errno, i);
  }
}

void look_at_tree(int i) {
  struct mount *m = &spec.mounts[i];
  struct stat s;
  if (fstat(m->tree, &s) < 0) fail_at("mount", errno, i);
  m->directory = S_ISDIR(s.st_mode);
  if (!m->directory && !S_ISREG(s.st_mode)) fail_at("mount", ENOTDIR, i);
}

void make_device_trees(void) {
  for (int i = 0; i < DEVICE_COUNT; i++) {
    devices[i].tree = sys_open_tree(AT_FDCWD, devices[i].path, TREE_CLONE);
    if (devices[i].tree < 0 || sys_set_mount(devices[i].tree, ATTR_NOSUID | ATTR_NOEXEC, 0, MS_PRIVATE, -1, false) < 0)
      fail("dev");
  }
}
