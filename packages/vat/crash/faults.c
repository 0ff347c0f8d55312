/*
 * A disk that says no: a preloaded stand-in for every call that changes something below FAULTS_ROOT.
 *
 * Promise: while it is armed, each such call is counted, and the AT-th (or each from then on) fails with
 * ERRNO and is not made; of a long write the first half is, as on a disk that gets full in the middle of one.
 * Calls of all threads are one sequence.
 *
 * FAULTS_CONTROL is a file of the words below, then the name of the first call that failed. It is mapped, so
 * that whoever can write it arms and disarms at any time, also the process itself.
 *
 * Before powercut.c in LD_PRELOAD an fsync that fails here has not reached that disk either.
 *
 * Built by shim.ts: cc -shared -fPIC -O2 faults.c
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

struct control {
  uint32_t armed, at, error, on; /* written from outside */
  uint32_t calls, failed;        /* written here */
  char what[232];
};

static const char *root;
static volatile struct control *control;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the counts */

/* The next in line: powercut.c, or the C library. */
#define NEXT(name) \
  static __typeof__(name) *next; \
  if (next == NULL && (next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)) == NULL) abort()

__attribute__((constructor)) static void set_up(void) {
  root = getenv("FAULTS_ROOT"); /* as /proc/self/fd names it: absolute, without links */
  const char *file = getenv("FAULTS_CONTROL");
  if (root == NULL || file == NULL) return;
  int fd = open(file, O_RDWR | O_CLOEXEC);
  void *at = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) {
    fprintf(stderr, "faults: FAULTS_CONTROL cannot be mapped\n");
    abort();
  }
  close(fd);
  control = at;
}

static int is_below(const char *path) {
  size_t length = strlen(root);
  return strncmp(path, root, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

/* Counts a call on `path`; answers whether it is one that fails, with errno set. */
static int fails(const char *call, const char *path) {
  if (!is_below(path)) return 0;
  const char *slash = strrchr(path, '/');
  int hit = 0;
  pthread_mutex_lock(&lock);
  if (control->armed) {
    uint32_t n = control->calls += 1;
    hit = control->at != 0 && (n == control->at || (control->on && n > control->at));
    if (hit && (control->failed += 1) == 1)
      snprintf((char *)control->what, sizeof control->what, "%s %s", call, slash == NULL ? path : slash + 1);
  }
  int error = (int)control->error;
  pthread_mutex_unlock(&lock);
  if (hit) errno = error;
  return hit;
}

static int fd_fails(const char *call, int fd) {
  if (control == NULL || !control->armed) return 0;
  char link[64], path[PATH_MAX];
  int before = errno;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  errno = before;
  if (length < 0) return 0; /* no such descriptor: the real call says so */
  path[length] = '\0';
  return fails(call, path);
}

static int path_fails(const char *call, int folder, const char *path) {
  if (control == NULL || !control->armed) return 0;
  if (path[0] == '/') return fails(call, path);
  char link[64], whole[2 * PATH_MAX];
  int before = errno;
  if (folder == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
  else snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
  ssize_t length = readlink(link, whole, PATH_MAX - 1);
  errno = before;
  if (length < 0) return 0;
  snprintf(whole + length, sizeof whole - (size_t)length, "/%s", path);
  return fails(call, whole);
}

/*
 * ---- data
 * -------------------------------------------------------------------------------------------------------------
 */

static size_t half(size_t length) { return length < 1024 ? 0 : length / 2; }

ssize_t write(int fd, const void *from, size_t length) {
  NEXT(write);
  if (!fd_fails("write", fd)) return next(fd, from, length);
  int error = errno;
  if (half(length) > 0 && next(fd, from, half(length)) < 0) abort();
  errno = error;
  return -1;
}

static ssize_t pwrite_through(__typeof__(pwrite64) *next, int fd, const void *from, size_t length, off64_t at) {
  if (!fd_fails("pwrite", fd)) return next(fd, from, length, at);
  int error = errno;
  if (half(length) > 0 && next(fd, from, half(length), at) < 0) abort();
  errno = error;
  return -1;
}
ssize_t pwrite64(int fd, const void *from, size_t length, off64_t at) {
  NEXT(pwrite64);
  return pwrite_through(next, fd, from, length, at);
}
ssize_t pwrite(int fd, const void *from, size_t length, off_t at) {
  NEXT(pwrite);
  return pwrite_through(next, fd, from, length, at);
}

ssize_t writev(int fd, const struct iovec *from, int count) {
  NEXT(writev);
  return fd_fails("writev", fd) ? -1 : next(fd, from, count);
}
ssize_t pwritev(int fd, const struct iovec *from, int count, off_t at) {
  NEXT(pwritev);
  return fd_fails("pwritev", fd) ? -1 : next(fd, from, count, at);
}
ssize_t pwritev64(int fd, const struct iovec *from, int count, off64_t at) {
  NEXT(pwritev64);
  return fd_fails("pwritev", fd) ? -1 : next(fd, from, count, at);
}

int ftruncate(int fd, off_t length) {
  NEXT(ftruncate);
  return fd_fails("ftruncate", fd) ? -1 : next(fd, length);
}
int ftruncate64(int fd, off64_t length) {
  NEXT(ftruncate64);
  return fd_fails("ftruncate", fd) ? -1 : next(fd, length);
}

int fsync(int fd) {
  NEXT(fsync);
  return fd_fails("fsync", fd) ? -1 : next(fd);
}
int fdatasync(int fd) {
  NEXT(fdatasync);
  return fd_fails("fdatasync", fd) ? -1 : next(fd);
}

/*
 * ---- names
 * ------------------------------------------------------------------------------------------------------------
 */

static int makes(int flags) { return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }

#define MODE(flags, mode) \
  mode_t mode = 0; \
  if (makes(flags)) { \
    va_list rest; \
    va_start(rest, flags); \
    mode = va_arg(rest, mode_t); \
    va_end(rest); \
  }

int open(const char *path, int flags, ...) {
  NEXT(open);
  MODE(flags, mode)
  return makes(flags) && path_fails("open", AT_FDCWD, path) ? -1 : next(path, flags, mode);
}
int open64(const char *path, int flags, ...) {
  NEXT(open64);
  MODE(flags, mode)
  return makes(flags) && path_fails("open", AT_FDCWD, path) ? -1 : next(path, flags, mode);
}
int openat(int folder, const char *path, int flags, ...) {
  NEXT(openat);
  MODE(flags, mode)
  return makes(flags) && path_fails("open", folder, path) ? -1 : next(folder, path, flags, mode);
}
int openat64(int folder, const char *path, int flags, ...) {
  NEXT(openat64);
  MODE(flags, mode)
  return makes(flags) && path_fails("open", folder, path) ? -1 : next(folder, path, flags, mode);
}

int mkdir(const char *path, mode_t mode) {
  NEXT(mkdir);
  return path_fails("mkdir", AT_FDCWD, path) ? -1 : next(path, mode);
}
int chmod(const char *path, mode_t mode) {
  NEXT(chmod);
  return path_fails("chmod", AT_FDCWD, path) ? -1 : next(path, mode);
}
int fchmod(int fd, mode_t mode) {
  NEXT(fchmod);
  return fd_fails("fchmod", fd) ? -1 : next(fd, mode);
}
int rename(const char *from, const char *to) {
  NEXT(rename);
  return path_fails("rename", AT_FDCWD, to) ? -1 : next(from, to);
}
int unlink(const char *path) {
  NEXT(unlink);
  return path_fails("unlink", AT_FDCWD, path) ? -1 : next(path);
}
int unlinkat(int folder, const char *path, int flags) {
  NEXT(unlinkat);
  return path_fails("unlink", folder, path) ? -1 : next(folder, path, flags);
}
int remove(const char *path) {
  NEXT(remove);
  return path_fails("unlink", AT_FDCWD, path) ? -1 : next(path);
}
int rmdir(const char *path) {
  NEXT(rmdir);
  return path_fails("rmdir", AT_FDCWD, path) ? -1 : next(path);
}
