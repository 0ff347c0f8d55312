/*
 * The system calls that Node does not have: openat2, renameat2 without replacing, files without a name (O_TMPFILE), and
 * jobs of several calls in one trip to the thread pool.
 *
 * Promise: a path goes through openat2 and nothing else, with the RESOLVE_ flags that drivers/native.ts sets: it follows
 * nothing and leaves neither the directory nor its mount, or it fails, and then the walk in TypeScript decides. Each function
 * answers a number: what was asked for, or a negative errno. Nothing of the host is put into words here.
 *
 * Calls go through syscall(2): wrappers such as fstat and statx would tie the binary to a newer glibc than 2.17.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>
#define NAPI_VERSION 8
#include <node_api.h>

#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_statx
#if defined(__x86_64__)
#define SYS_statx 332
#else
#define SYS_statx 291
#endif
#endif
#ifndef SYS_renameat2
#if defined(__x86_64__)
#define SYS_renameat2 316
#else
#define SYS_renameat2 276
#endif
#endif
#ifndef SYS_preadv2
#if defined(__x86_64__)
#define SYS_preadv2 327
#else
#define SYS_preadv2 286
#endif
#endif
#define NO_REPLACE 1u
/* Only what is in memory: where the disk would have to be waited for, EAGAIN. */
#define NO_WAIT 0x8u
#define TMPFS 0x01021994
#define MOUNT_ID 0x1000u
#define BASIC_STATS 0x7ffu
#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif

struct how {
  uint64_t flags, mode, resolve;
};

struct stamp {
  int64_t seconds;
  uint32_t nanoseconds;
  int32_t unused;
};
struct status {
  uint32_t mask, blksize;
  uint64_t attributes;
  uint32_t nlink, uid, gid;
  uint16_t mode, unused;
  uint64_t ino, size, blocks, attributes_mask;
  struct stamp atime, btime, ctime, mtime;
  uint32_t rdev_major, rdev_minor, dev_major, dev_minor;
  uint64_t mnt_id;
  uint64_t spare[13];
};

#define MAX_PATH 4096
/* Copying so much costs about what a trip to the thread pool does. */
#define AT_ONCE 65536
/* mode, links, owner, size, mtime and ctime in ns, dev, ino */
#define FIELDS 8
/* Bytes of one getdents64: about 2,000 names. */
#define ENTRIES 65536

static int beneath(int dir, const char *path, int flags, int resolve) {
  struct how how = {.flags = (uint64_t)(unsigned)(flags | O_PATH | O_CLOEXEC), .resolve = (uint64_t)(unsigned)resolve};
  long fd = syscall(SYS_openat2, dir, path, &how, sizeof how);
  return fd < 0 ? -errno : (int)fd;
}

static int look(int fd, struct status *out, unsigned mask) {
  memset(out, 0, sizeof *out);
  return syscall(SYS_statx, fd, "", AT_EMPTY_PATH, mask, out) < 0 ? -errno : 0;
}

static void fields(const struct status *s, uint64_t *out) {
  uint64_t major = s->dev_major, minor = s->dev_minor;
  out[0] = s->mode;
  out[1] = s->nlink;
  out[2] = s->uid;
  out[3] = s->size;
  out[4] = (uint64_t)(s->mtime.seconds * 1000000000LL + s->mtime.nanoseconds);
  out[5] = (uint64_t)(s->ctime.seconds * 1000000000LL + s->ctime.nanoseconds);
  /* As makedev(3) has it, so that a version is the same whoever asked. */
  out[6] = (major & 0xfffff000u) << 32 | (major & 0xfffu) << 8 | (minor & 0xffffff00u) << 12 | (minor & 0xffu);
  out[7] = s->ino;
}

/* ------------------------------------------------------------------------------------------------- arguments */

static int number(napi_env env, napi_value value) {
  int32_t n = -1;
  napi_get_value_int32(env, value, &n);
  return n;
}

static int text(napi_env env, napi_value value, char *into, size_t size) {
  size_t length = 0;
  if (napi_get_value_string_utf8(env, value, into, size, &length) != napi_ok) return -EINVAL;
  /* It was cut if it fills the room to the last byte. */
  return length >= size - 4 ? -ENAMETOOLONG : 0;
}

static uint64_t *fieldsOf(napi_env env, napi_value value) {
  napi_typedarray_type type;
  size_t length = 0;
  void *data = NULL;
  if (napi_get_typedarray_info(env, value, &type, &length, &data, NULL, NULL) != napi_ok) return NULL;
  return type == napi_biguint64_array && length >= FIELDS ? data : NULL;
}

static napi_value answer(napi_env env, int64_t n) {
  napi_value value = NULL;
  napi_create_int64(env, n, &value);
  return value;
}

#define ARGUMENTS(n)                                                                                                  \
  napi_value given[n];                                                                                                \
  size_t count = n;                                                                                                   \
  if (napi_get_cb_info(env, info, &count, given, NULL, NULL) != napi_ok || count < n) return answer(env, -EINVAL)

/* -------------------------------------------------------------------------------------------------- at once */

/* (dir, path, flags, resolve) -> descriptor */
static napi_value openBeneath(napi_env env, napi_callback_info info) {
  ARGUMENTS(4);
  char path[MAX_PATH + 8];
  int bad = text(env, given[1], path, sizeof path);
  return answer(env, bad ? bad : beneath(number(env, given[0]), path, number(env, given[2]), number(env, given[3])));
}

/* (dir, path, flags, resolve, fields) -> 0: of a last link the link itself */
static napi_value statBeneath(napi_env env, napi_callback_info info) {
  ARGUMENTS(5);
  char path[MAX_PATH + 8];
  uint64_t *out = fieldsOf(env, given[4]);
  int bad = out ? text(env, given[1], path, sizeof path) : -EINVAL;
  if (bad) return answer(env, bad);
  int fd = beneath(number(env, given[0]), path, number(env, given[2]) | O_NOFOLLOW, number(env, given[3]));
  if (fd < 0) return answer(env, fd);
  struct status status;
  bad = look(fd, &status, BASIC_STATS);
  close(fd);
  if (!bad) fields(&status, out);
  return answer(env, bad);
}

/* (fd) -> the mount that it was opened in */
static napi_value mountOf(napi_env env, napi_callback_info info) {
  ARGUMENTS(1);
  struct status status;
  int bad = look(number(env, given[0]), &status, MOUNT_ID);
  if (bad) return answer(env, bad);
  return answer(env, status.mask & MOUNT_ID ? (int64_t)status.mnt_id : -ENOSYS);
}

/* (fromDir, from, toDir, to) -> 0: one step, and never over something */
static napi_value renameNew(napi_env env, napi_callback_info info) {
  ARGUMENTS(4);
  char from[MAX_PATH + 8], to[MAX_PATH + 8];
  int bad = text(env, given[1], from, sizeof from);
  if (!bad) bad = text(env, given[3], to, sizeof to);
  if (bad) return answer(env, bad);
  long done = syscall(SYS_renameat2, number(env, given[0]), from, number(env, given[2]), to, NO_REPLACE);
  return answer(env, done < 0 ? -errno : 0);
}

struct dirent64 {
  uint64_t ino;
  int64_t off;
  unsigned short reclen;
  unsigned char type;
  char name[];
};

/*
 * (directory opened for reading) -> some of its entries: of each one letter for what it is and its name, each ended by `/`; "" at
 * the end. Nothing is kept open or in memory between two calls.
 */
static napi_value someEntries(napi_env env, napi_callback_info info) {
  ARGUMENTS(1);
  char *from = malloc(2 * ENTRIES), *out = from ? from + ENTRIES : NULL;
  if (!from) return answer(env, -ENOMEM);
  long got = syscall(SYS_getdents64, number(env, given[0]), from, ENTRIES);
  size_t length = 0;
  for (long at = 0; at < got;) {
    const struct dirent64 *one = (const void *)(from + at);
    at += one->reclen;
    const char *name = one->name;
    if (name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]))) continue;
    /* Never longer than the entry was: its head alone has 19 bytes. */
    size_t size = strlen(name);
    out[length++] = one->type == 8 ? 'f' : one->type == 4 ? 'd' : one->type == 10 ? 'l' : one->type == 0 ? '?' : 'o';
    memcpy(out + length, name, size);
    length += size;
    out[length++] = '/';
  }
  napi_value value = NULL;
  /* Of `.` and `..` alone nothing came, but that is not the end. */
  if (got > 0 && length == 0) out[length++] = '/';
  if (got < 0) value = answer(env, -errno);
  else if (napi_create_string_utf8(env, out, length, &value) != napi_ok) value = answer(env, -ENOMEM);
  free(from);
  return value;
}

static int unnamed(int dir, int mode) {
  long fd = syscall(SYS_openat, dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
  return fd < 0 ? -errno : (int)fd;
}

/* (dir, mode) -> a file that has no name, open for writing */
static napi_value createUnnamed(napi_env env, napi_callback_info info) {
  ARGUMENTS(2);
  return answer(env, unnamed(number(env, given[0]), number(env, given[1])));
}

/* (fd, dir, name) -> 0: its first name; EEXIST if there is something of that name */
static napi_value nameUnnamed(napi_env env, napi_callback_info info) {
  ARGUMENTS(3);
  char name[MAX_PATH + 8], here[40];
  int bad = text(env, given[2], name, sizeof name);
  if (bad) return answer(env, bad);
  snprintf(here, sizeof here, "/proc/self/fd/%d", number(env, given[0]));
  long done = syscall(SYS_linkat, AT_FDCWD, here, number(env, given[1]), name, AT_SYMLINK_FOLLOW);
  return answer(env, done < 0 ? -errno : 0);
}

/* --------------------------------------------------------------------------------- in the thread pool, in one trip */

struct job {
  napi_async_work work;
  napi_deferred deferred;
  napi_ref kept;
  int dir, mode, keep, resolve;
  size_t max;
  char path[MAX_PATH + 8];
  const unsigned char *from;
  size_t length;
  int result;
  /* The event loop is standing still for it. */
  int now;
  struct status status;
  unsigned char *bytes;
  size_t got;
};

static napi_value start(napi_env env, struct job *job, const char *what, napi_async_execute_callback run,
                        napi_async_complete_callback done) {
  napi_value promise = NULL, name = NULL;
  if (napi_create_promise(env, &job->deferred, &promise) != napi_ok ||
      napi_create_string_utf8(env, what, NAPI_AUTO_LENGTH, &name) != napi_ok ||
      napi_create_async_work(env, NULL, name, run, done, job, &job->work) != napi_ok ||
      napi_queue_async_work(env, job->work) != napi_ok) {
    free(job);
    return answer(env, -ENOMEM);
  }
  return promise;
}

static void finish(napi_env env, struct job *job, napi_value value) {
  napi_resolve_deferred(env, job->deferred, value);
  if (job->kept) napi_delete_reference(env, job->kept);
  napi_delete_async_work(env, job->work);
  free(job->bytes);
  free(job);
}

static int inMemory(int fd) {
  struct statfs where;
  return fstatfs(fd, &where) == 0 && where.f_type == TMPFS;
}

static ssize_t part(const struct job *job, int fd) {
  struct iovec into = {job->bytes + job->got, job->status.size - job->got};
  if (!job->now) return read(fd, into.iov_base, into.iov_len);
  ssize_t n = syscall(SYS_preadv2, fd, &into, 1, (long)job->got, 0L, NO_WAIT);
  if (n >= 0 || errno != EOPNOTSUPP) return n;
  /* It cannot tell. In tmpfs there is no disk to wait for. */
  if (inMemory(fd)) return read(fd, into.iov_base, into.iov_len);
  errno = EAGAIN;
  return -1;
}

/*
 * By O_PATH first, so that what is no regular file is never opened with an effect on it; then again, through the magic link
 * to the very object that was looked at.
 */
static void runRead(napi_env env, void *data) {
  (void)env;
  struct job *job = data;
  int found = beneath(job->dir, job->path, job->mode, job->resolve);
  if (found < 0) {
    job->result = found;
    return;
  }
  job->result = look(found, &job->status, BASIC_STATS);
  int is_file = (job->status.mode & 0170000) == 0100000;
  if (job->result == 0 && is_file && job->status.size > 0 && job->status.size <= job->max) {
    char here[40];
    snprintf(here, sizeof here, "/proc/self/fd/%d", found);
    long fd = -1;
    if (job->now && job->status.size > AT_ONCE) job->result = -EAGAIN;
    else if ((fd = syscall(SYS_openat, AT_FDCWD, here, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0)) < 0)
      job->result = -errno;
    else if ((job->bytes = malloc(job->status.size)) == NULL) job->result = -ENOMEM;
    else
      while (job->got < job->status.size) {
        ssize_t n = part(job, (int)fd);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) job->result = -errno;
        if (n <= 0) break;
        job->got += (size_t)n;
      }
    if (fd >= 0) close((int)fd);
  }
  close(found);
}

/* Answers a negative errno, or [fields, bytes]; without bytes when it is no file, or is empty or too large. */
static napi_value valueOf(napi_env env, const struct job *job) {
  napi_value value = NULL, array = NULL, part = NULL;
  if (job->result < 0) return answer(env, job->result);
  uint64_t *out = NULL;
  unsigned char *bytes = NULL;
  napi_create_array(env, &value);
  if (napi_create_arraybuffer(env, FIELDS * sizeof *out, (void **)&out, &array) == napi_ok) {
    fields(&job->status, out);
    napi_create_typedarray(env, napi_biguint64_array, FIELDS, array, 0, &part);
    napi_set_element(env, value, 0, part);
  }
  if (job->bytes && napi_create_arraybuffer(env, job->got, (void **)&bytes, &array) == napi_ok) {
    if (job->got > 0) memcpy(bytes, job->bytes, job->got);
    napi_create_typedarray(env, napi_uint8_array, job->got, array, 0, &part);
    napi_set_element(env, value, 1, part);
  }
  return value;
}

static void doneRead(napi_env env, napi_status status, void *data) {
  struct job *job = data;
  if (status != napi_ok && job->result == 0) job->result = -ECANCELED;
  finish(env, job, valueOf(env, job));
}

/*
 * (dir, path, flags, resolve, max) -> the value itself when the file is small and in memory, else a promise of it. A trip to
 * the thread pool costs several times what such a file does.
 */
static napi_value readBeneath(napi_env env, napi_callback_info info) {
  ARGUMENTS(5);
  struct job *job = calloc(1, sizeof *job);
  if (!job) return answer(env, -ENOMEM);
  int bad = text(env, given[1], job->path, sizeof job->path);
  if (bad) {
    free(job);
    return answer(env, bad);
  }
  job->dir = number(env, given[0]);
  job->mode = number(env, given[2]);
  job->resolve = number(env, given[3]);
  job->max = (size_t)number(env, given[4]);
  job->now = 1;
  runRead(env, job);
  if (job->result != -EAGAIN) {
    napi_value value = valueOf(env, job);
    free(job->bytes);
    free(job);
    return value;
  }
  free(job->bytes);
  job->bytes = NULL;
  job->now = job->result = 0;
  job->got = 0;
  return start(env, job, "caps-fs read", runRead, doneRead);
}

static void runWrite(napi_env env, void *data) {
  (void)env;
  struct job *job = data;
  int fd = unnamed(job->dir, job->mode);
  if (fd < 0) {
    job->result = fd;
    return;
  }
  int bad = 0;
  for (size_t done = 0; !bad && done < job->length;) {
    ssize_t n = write(fd, job->from + done, job->length - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) bad = -errno;
    else done += (size_t)n;
  }
  if (!bad && job->keep >= 0 && fchmod(fd, (mode_t)job->keep) < 0) bad = -errno;
  /* Before it has a name: after a power cut the file must be whole or not there. */
  if (!bad && fsync(fd) < 0) bad = -errno;
  if (bad) close(fd);
  job->result = bad ? bad : fd;
}

static void doneWrite(napi_env env, napi_status status, void *data) {
  struct job *job = data;
  if (status != napi_ok && job->result == 0) job->result = -ECANCELED;
  finish(env, job, answer(env, job->result));
}

/*
 * (dir, mode, keep, bytes) -> the descriptor of a file without a name that holds them, on the disk, or a promise of it: the value
 * itself where it is little and there is no disk to wait for.
 */
static napi_value writeUnnamed(napi_env env, napi_callback_info info) {
  ARGUMENTS(4);
  napi_typedarray_type type;
  void *bytes = NULL;
  struct job *job = calloc(1, sizeof *job);
  if (!job) return answer(env, -ENOMEM);
  if (napi_get_typedarray_info(env, given[3], &type, &job->length, &bytes, NULL, NULL) != napi_ok ||
      type != napi_uint8_array || napi_create_reference(env, given[3], 1, &job->kept) != napi_ok) {
    free(job);
    return answer(env, -EINVAL);
  }
  job->from = bytes;
  job->dir = number(env, given[0]);
  job->mode = number(env, given[1]);
  job->keep = number(env, given[2]);
  if (job->length <= AT_ONCE && inMemory(job->dir)) {
    runWrite(env, job);
    napi_value value = answer(env, job->result);
    napi_delete_reference(env, job->kept);
    free(job);
    return value;
  }
  return start(env, job, "caps-fs write", runWrite, doneWrite);
}

NAPI_MODULE_INIT() {
  static const struct {
    const char *name;
    napi_callback act;
  } table[] = {
      {"openBeneath", openBeneath}, {"statBeneath", statBeneath},     {"mountOf", mountOf},
      {"renameNew", renameNew},     {"createUnnamed", createUnnamed}, {"nameUnnamed", nameUnnamed},
      {"readBeneath", readBeneath}, {"writeUnnamed", writeUnnamed},
      {"someEntries", someEntries},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    napi_value act;
    if (napi_create_function(env, table[i].name, NAPI_AUTO_LENGTH, table[i].act, NULL, &act) == napi_ok)
      napi_set_named_property(env, exports, table[i].name, act);
  }
  return exports;
}
