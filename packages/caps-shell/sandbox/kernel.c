/*
 * System calls by number, because the C library may not know them. From 424 on the numbers are the same
 * everywhere.
 */
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { OPEN_TREE = 428, MOVE_MOUNT = 429, FSOPEN = 430, FSCONFIG = 431, FSMOUNT = 432, CLOSE_RANGE = 436, OPENAT2 = 437, MOUNT_SETATTR = 442 };
enum { CLOEXEC_1 = 1, SET_STRING = 1, CMD_CREATE = 6, F_EMPTY = 0x4, T_EMPTY = 0x40 };

int sys_open_tree(int fd, const char *path, unsigned flags) {
  return (int)syscall(OPEN_TREE, fd, path, flags | O_CLOEXEC);
}

/* Both ends are descriptors. No path is looked up, so nothing can be swapped in between. */
int sys_move_mount(int from, int to) { return (int)syscall(MOVE_MOUNT, from, "", to, "", F_EMPTY | T_EMPTY); }

int sys_set_mount(int fd, uint64_t set, uint64_t clear, uint64_t propagation, int idmap, bool recursive) {
  struct { uint64_t set, clear, propagation, userns; } attr = {set, clear, propagation, idmap >= 0 ? (uint64_t)idmap : 0};
  return (int)syscall(MOUNT_SETATTR, fd, "", EMPTY_PATH | (recursive ? TREE_RECURSIVE : 0u), &attr, sizeof attr);
}

int sys_openat2(int dir, const char *path, uint64_t flags, uint64_t resolve) {
  struct { uint64_t flags, mode, resolve; } how = {flags | O_CLOEXEC, 0, resolve};
  return (int)syscall(OPENAT2, dir, path, &how, sizeof how);
}

/* `options` is name, value, name, value, NULL. The new mount is not attached yet. */
int sys_new_mount(const char *type, const char *const *options, uint64_t attributes) {
  int context = (int)syscall(FSOPEN, type, CLOEXEC_1);
  if (context < 0) return -1;
  for (; options && options[0]; options += 2)
    if (syscall(FSCONFIG, context, SET_STRING, options[0], options[1], 0) < 0) return -1;
  if (syscall(FSCONFIG, context, CMD_CREATE, NULL, NULL, 0) < 0) return -1;
  int made = (int)syscall(FSMOUNT, context, CLOEXEC_1, attributes);
  int error = errno;
  close(context);
  errno = error;
  return made;
}

int sys_close_range(unsigned first, unsigned last, unsigned flags) {
  return (int)syscall(CLOSE_RANGE, first, last, flags);
}

int sys_pivot_root(const char *to, const char *old) { return (int)syscall(SYS_pivot_root, to, old); }
