/*
 * The system calls that Node lacks: openat2, renameat2 without replacing, unnamed files (O_TMPFILE), and jobs
 * that make several calls in one trip to the thread pool.
 *
 * Promise: a path goes through openat2 and nothing else, with the RESOLVE_ flags that drivers/native.ts sets.
 * It follows no link and leaves neither the directory nor its mount. If it fails, the walk in TypeScript
 * decides. Each function returns a negative errno on failure. No text of the host is returned.
 *
 * Calls go through syscall(2), because wrappers such as fstat and statx would require a glibc newer than
 * 2.17.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
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
/* RWF_NOWAIT: fail with EAGAIN instead of waiting for the disk. */
#define NO_WAIT 0x8u
#define MOUNT_ID 0x1000u
#define BASIC_STATS 0x7ffu
/* AT_SYMLINK_NOFOLLOW and AT_NO_AUTOMOUNT, as in lstat(2). */
#define NO_FOLLOW 0x900
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
/* Copying this many bytes takes about as long as a trip to the thread pool. */
#define AT_ONCE 65536
/* mode, links, owner, size, mtime in ms, ctime in ms */
#define FIELDS 6
/* Room for five 64-bit numbers and the separators between them. */
#define STAMP 112
/* Buffer of one getdents64 call, in bytes: about 2,000 names. */
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

static int64_t nanoseconds(const struct stamp *t) { return t->seconds * 1000000000LL + t->nanoseconds; }

static void fields(const struct status *s, double *out) {
  out[0] = s->mode;
  out[1] = s->nlink;
  out[2] = s->uid;
  out[3] = (double)s->size;
  out[4] = (double)(nanoseconds(&s->mtime) / 1000) / 1000;
  out[5] = (double)(nanoseconds(&s->ctime) / 1000000);
}

/*
 * ------------------------------------------------------------------------------------------------- arguments
 */

static int number(napi_env env, napi_value value) {
  int32_t n = -1;
  napi_get_value_int32(env, value, &n);
  return n;
}

static int text(napi_env env, napi_value value, char *into, size_t size) {
  size_t length = 0;
  if (napi_get_value_string_utf8(env, value, into, size, &length) != napi_ok) return -EINVAL;
  /* A text that fills the buffer may have been cut, perhaps in the middle of a character. */
  return length >= size - 4 ? -ENAMETOOLONG : 0;
}

static double *fieldsOf(napi_env env, napi_value value) {
  napi_typedarray_type type;
  size_t length = 0;
  void *data = NULL;
  if (napi_get_typedarray_info(env, value, &type, &length, &data, NULL, NULL) != napi_ok) return NULL;
  return type == napi_float64_array && length >= FIELDS ? data : NULL;
}

static napi_value answer(napi_env env, int64_t n) {
  napi_value value = NULL;
  napi_create_int64(env, n, &value);
  return value;
}

/*
 * Must equal the text that drivers/node-fs.ts makes for the same file, so that both backends give the same
 * version.
 */
static napi_value stampOf(napi_env env, const struct status *s) {
  /* The encoding of makedev(3). */
  uint64_t major = s->dev_major, minor = s->dev_minor;
  uint64_t dev = (major & 0xfffff000u) << 32 | (major & 0xfffu) << 8 | (minor & 0xffffff00u) << 12 | (minor & 0xffu);
  char stamp[STAMP];
  int length = snprintf(stamp, sizeof stamp, "%llu:%llu:%llu:%lld:%lld", (unsigned long long)dev,
                        (unsigned long long)s->ino, (unsigned long long)s->size, (long long)nanoseconds(&s->mtime),
                        (long long)nanoseconds(&s->ctime));
  napi_value value = NULL;
  napi_create_string_latin1(env, stamp, (size_t)length, &value);
  return value;
}

#define ARGUMENTS(n)                                                                                                  \
  napi_value given[n];                                                                                                \
  size_t count = n;                                                                                                   \
  if (napi_get_cb_info(env, info, &count, given, NULL, NULL) != napi_ok || count < n) return answer(env, -EINVAL)

/*
 * -------------------------------------------------------------------------------------------------- at once
 */

/* (dir, path, flags, resolve) -> descriptor */
static napi_value openBeneath(napi_env env, napi_callback_info info) {
  ARGUMENTS(4);
  char path[MAX_PATH + 8];
  int bad = text(env, given[1], path, sizeof path);
  return answer(env, bad ? bad : beneath(number(env, given[0]), path, number(env, given[2]), number(env, given[3])));
}

/* (dir, path, flags, resolve, fields) -> stamp. If the last name is a link, of the link itself. */
static napi_value statBeneath(napi_env env, napi_callback_info info) {
  ARGUMENTS(5);
  char path[MAX_PATH + 8];
  double *out = fieldsOf(env, given[4]);
  int bad = out ? text(env, given[1], path, sizeof path) : -EINVAL;
  if (bad) return answer(env, bad);
  int fd = beneath(number(env, given[0]), path, number(env, given[2]) | O_NOFOLLOW, number(env, given[3]));
  if (fd < 0) return answer(env, fd);
  struct status status;
  bad = look(fd, &status, BASIC_STATS);
  close(fd);
  if (bad) return answer(env, bad);
  fields(&status, out);
  return stampOf(env, &status);
}

/* (fd, fields) -> stamp of the object that fd holds */
static napi_value statHeld(napi_env env, napi_callback_info info) {
  ARGUMENTS(2);
  double *out = fieldsOf(env, given[1]);
  struct status status;
  int bad = out ? look(number(env, given[0]), &status, BASIC_STATS) : -EINVAL;
  if (bad) return answer(env, bad);
  fields(&status, out);
  return stampOf(env, &status);
}

/* (dir, one name, fields) -> stamp. If the name is a link, of the link itself. */
static napi_value statNamed(napi_env env, napi_callback_info info) {
  ARGUMENTS(3);
  char name[MAX_PATH + 8];
  double *out = fieldsOf(env, given[2]);
  int bad = out ? text(env, given[1], name, sizeof name) : -EINVAL;
  if (bad) return answer(env, bad);
  struct status status;
  memset(&status, 0, sizeof status);
  if (syscall(SYS_statx, number(env, given[0]), name, NO_FOLLOW, BASIC_STATS, &status) < 0)
    return answer(env, -errno);
  fields(&status, out);
  return stampOf(env, &status);
}

/* (fd, room) -> 0. Stores the free bytes and all bytes of its file system in `room`. */
static napi_value roomOf(napi_env env, napi_callback_info info) {
  ARGUMENTS(2);
  double *out = fieldsOf(env, given[1]);
  struct statfs where;
  if (!out) return answer(env, -EINVAL);
  if (fstatfs(number(env, given[0]), &where) < 0) return answer(env, -errno);
  out[0] = (double)where.f_bavail * (double)where.f_bsize;
  out[1] = (double)where.f_blocks * (double)where.f_bsize;
  return answer(env, 0);
}

/* (fd) -> id of the mount that it was opened in */
static napi_value mountOf(napi_env env, napi_callback_info info) {
  ARGUMENTS(1);
  struct status status;
  int bad = look(number(env, given[0]), &status, MOUNT_ID);
  if (bad) return answer(env, bad);
  return answer(env, status.mask & MOUNT_ID ? (int64_t)status.mnt_id : -ENOSYS);
}

/* (fromDir, from, toDir, to) -> 0. Renames in one step and never replaces anything. */
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

static int isDots(const char *name) { return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2])); }

/*
 * (directory opened for reading) -> some of its entries, or "" at the end. Each entry is one letter for its
 * kind, its name, and `/`. Nothing stays open or in memory between two calls.
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
    if (isDots(name)) continue;
    /* The output fits: it adds two bytes to the name, and the head of the entry alone has 19. */
    size_t size = strlen(name);
    out[length++] = one->type == 8 ? 'f' : one->type == 4 ? 'd' : one->type == 10 ? 'l' : one->type == 0 ? '?' : 'o';
    memcpy(out + length, name, size);
    length += size;
    out[length++] = '/';
  }
  napi_value value = NULL;
  /* Only `.` and `..` were read. Return something else than "", because this is not the end. */
  if (got > 0 && length == 0) out[length++] = '/';
  if (got < 0) value = answer(env, -errno);
  else if (napi_create_string_utf8(env, out, length, &value) != napi_ok) value = answer(env, -ENOMEM);
  free(from);
  return value;
}

/* Gives an unnamed file its first name. -EEXIST if the name is taken. */
static int nameIt(int fd, int dir, const char *name) {
  char here[40];
  snprintf(here, sizeof here, "/proc/self/fd/%d", fd);
  return syscall(SYS_linkat, AT_FDCWD, here, dir, name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

static int fill(int fd, const unsigned char *from, size_t length, int keep) {
  for (size_t done = 0; done < length;) {
    ssize_t n = write(fd, from + done, length - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -errno;
    done += (size_t)n;
  }
  return keep >= 0 && fchmod(fd, (mode_t)keep) < 0 ? -errno : 0;
}

static int unnamed(int dir, int mode) {
  long fd = syscall(SYS_openat, dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
  return fd < 0 ? -errno : (int)fd;
}

/* (dir, mode) -> descriptor of an unnamed file, open for writing */
static napi_value createUnnamed(napi_env env, napi_callback_info info) {
  ARGUMENTS(2);
  return answer(env, unnamed(number(env, given[0]), number(env, given[1])));
}

/* (fd, dir, name) -> 0. Gives the file its first name. -EEXIST if the name is taken. */
static napi_value nameUnnamed(napi_env env, napi_callback_info info) {
  ARGUMENTS(3);
  char name[MAX_PATH + 8];
  int bad = text(env, given[2], name, sizeof name);
  return answer(env, bad ? bad : nameIt(number(env, given[0]), number(env, given[1]), name));
}

static const unsigned char *bytesOf(napi_env env, napi_value value, size_t *length) {
  napi_typedarray_type type;
  void *bytes = NULL;
  int ok = napi_get_typedarray_info(env, value, &type, length, &bytes, NULL, NULL) == napi_ok;
  if (!ok || type != napi_uint8_array) return NULL;
  /* An empty array may have a null address, and NULL means failure here. */
  return bytes ? bytes : (const unsigned char *)"";
}

/*
 * (dir, name, temporary, mode, keep, bytes, fields) -> stamp. Makes a file with these bytes, which appears
 * under its name in one step. Without a temporary it fails with EEXIST if the name is taken. It does not
 * sync: for file systems without a disk.
 */
static napi_value writeNamed(napi_env env, napi_callback_info info) {
  ARGUMENTS(7);
  char name[MAX_PATH + 8], temporary[MAX_PATH + 8];
  size_t length = 0;
  double *out = fieldsOf(env, given[6]);
  const unsigned char *bytes = bytesOf(env, given[5], &length);
  int dir = number(env, given[0]), bad = out && bytes ? text(env, given[1], name, sizeof name) : -EINVAL;
  if (!bad) bad = text(env, given[2], temporary, sizeof temporary);
  if (bad) return answer(env, bad);
  int fd = unnamed(dir, number(env, given[3]));
  if (fd < 0) return answer(env, fd);
  bad = fill(fd, bytes, length, number(env, given[4]));
  if (!bad) bad = nameIt(fd, dir, temporary[0] ? temporary : name);
  if (!bad && temporary[0] && syscall(SYS_renameat2, dir, temporary, dir, name, 0) < 0) {
    bad = -errno;
    unlinkat(dir, temporary, 0);
  }
  struct status status;
  if (!bad) bad = look(fd, &status, BASIC_STATS);
  close(fd);
  if (bad) return answer(env, bad);
  fields(&status, out);
  return stampOf(env, &status);
}

/*
 * --------------------------------------------------------------------------------- in the thread pool, in
 * one trip
 */

struct job {
  napi_async_work work;
  napi_deferred deferred;
  /* References that keep the buffer and the array for the fields alive while the job runs. */
  napi_ref kept, into;
  int dir, mode, keep, fd, result;
  const unsigned char *from;
  unsigned char *bytes;
  size_t length, got;
  struct status status;
};

static void forget(napi_env env, struct job *job) {
  if (job->kept) napi_delete_reference(env, job->kept);
  if (job->into) napi_delete_reference(env, job->into);
  if (job->work) napi_delete_async_work(env, job->work);
  if (job->fd >= 0) close(job->fd);
  free(job);
}

static napi_value start(napi_env env, struct job *job, const char *what, napi_async_execute_callback run,
                        napi_async_complete_callback done) {
  napi_value promise = NULL, name = NULL;
  if (napi_create_promise(env, &job->deferred, &promise) != napi_ok ||
      napi_create_string_utf8(env, what, NAPI_AUTO_LENGTH, &name) != napi_ok ||
      napi_create_async_work(env, NULL, name, run, done, job, &job->work) != napi_ok ||
      napi_queue_async_work(env, job->work) != napi_ok) {
    forget(env, job);
    return answer(env, -ENOMEM);
  }
  return promise;
}

static void finish(napi_env env, struct job *job, napi_value value) {
  napi_resolve_deferred(env, job->deferred, value);
  forget(env, job);
}

/*
 * Opens with O_PATH first, so that opening has no effect on something that is not a regular file. Then opens
 * the same object again through its magic link. Returns 0 without a descriptor if it is not a file, is empty,
 * or is larger than `max`.
 */
static int openToRead(struct job *job, const char *path, int resolve, size_t max) {
  int found = beneath(job->dir, path, 0, resolve);
  if (found < 0) return found;
  int bad = look(found, &job->status, BASIC_STATS);
  if (!bad && (job->status.mode & 0170000) == 0100000 && job->status.size > 0 && job->status.size <= max) {
    char here[40];
    snprintf(here, sizeof here, "/proc/self/fd/%d", found);
    job->fd = (int)syscall(SYS_openat, AT_FDCWD, here, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);
    if (job->fd < 0) bad = -errno;
  }
  close(found);
  return bad;
}

/*
 * Reads until the buffer is full or the file ends; it may have shrunk. -EAGAIN: the rest would have to wait
 * for the disk.
 */
static int readOn(struct job *job, int may_wait) {
  while (job->got < job->length) {
    struct iovec rest = {job->bytes + job->got, job->length - job->got};
    ssize_t n = may_wait ? pread(job->fd, rest.iov_base, rest.iov_len, (off_t)job->got)
                         : syscall(SYS_preadv2, job->fd, &rest, 1, (long)job->got, 0L, NO_WAIT);
    if (n < 0 && errno == EINTR) continue;
    /* EOPNOTSUPP: the file system does not support NO_WAIT. */
    if (n < 0) return errno == EOPNOTSUPP ? -EAGAIN : -errno;
    if (n == 0) break;
    job->got += (size_t)n;
  }
  return 0;
}

/* Returns the bytes, or [bytes, stamp] if fields are wanted. Only the bytes that were filled are exposed. */
static napi_value valueOf(napi_env env, const struct job *job, napi_value memory, double *out) {
  napi_value value = NULL, part = NULL;
  if (job->got < job->length) {
    unsigned char *bytes = NULL;
    if (napi_create_arraybuffer(env, job->got, (void **)&bytes, &memory) != napi_ok) return answer(env, -ENOMEM);
    if (job->got > 0) memcpy(bytes, job->bytes, job->got);
  }
  if (napi_create_typedarray(env, napi_uint8_array, job->got, memory, 0, &part) != napi_ok) return answer(env, -ENOMEM);
  if (!out) return part;
  fields(&job->status, out);
  napi_create_array_with_length(env, 2, &value);
  napi_set_element(env, value, 0, part);
  napi_set_element(env, value, 1, stampOf(env, &job->status));
  return value;
}

static void runRead(napi_env env, void *data) {
  (void)env;
  struct job *job = data;
  job->result = readOn(job, 1);
}

static void doneRead(napi_env env, napi_status status, void *data) {
  struct job *job = data;
  napi_value memory = NULL, into = NULL;
  if (status != napi_ok && job->result == 0) job->result = -ECANCELED;
  napi_get_reference_value(env, job->kept, &memory);
  if (job->into) napi_get_reference_value(env, job->into, &into);
  double *out = into ? fieldsOf(env, into) : NULL;
  finish(env, job, job->result < 0 ? answer(env, job->result) : valueOf(env, job, memory, out));
}

/* Continues a read in the thread pool. */
static napi_value readLater(napi_env env, const struct job *now, napi_value memory, napi_value into, int is_wanted) {
  struct job *job = malloc(sizeof *job);
  if (!job) {
    close(now->fd);
    return answer(env, -ENOMEM);
  }
  *job = *now;
  if (napi_create_reference(env, memory, 1, &job->kept) != napi_ok ||
      (is_wanted && napi_create_reference(env, into, 1, &job->into) != napi_ok)) {
    forget(env, job);
    return answer(env, -ENOMEM);
  }
  return start(env, job, "caps-fs read", runRead, doneRead);
}

/*
 * (dir, path, resolve, max, is the file system in memory, fields or undefined) -> the bytes, or [bytes,
 * stamp] if fields are given; 0 if it is not a file, is empty or is too large; or a negative errno. A small
 * file in memory is returned at once, because a trip to the thread pool takes several times as long as
 * reading it. Otherwise a promise is returned.
 */
static napi_value readBeneath(napi_env env, napi_callback_info info) {
  ARGUMENTS(6);
  char path[MAX_PATH + 8];
  struct job job = {.dir = number(env, given[0]), .fd = -1};
  double *out = fieldsOf(env, given[5]);
  int bad = text(env, given[1], path, sizeof path);
  if (!bad) bad = openToRead(&job, path, number(env, given[2]), (size_t)number(env, given[3]));
  if (bad || job.fd < 0) return answer(env, bad);
  job.length = job.status.size;
  napi_value memory = NULL;
  if (napi_create_arraybuffer(env, job.length, (void **)&job.bytes, &memory) != napi_ok) bad = -ENOMEM;
  else bad = job.length > AT_ONCE ? -EAGAIN : readOn(&job, number(env, given[4]));
  if (bad == -EAGAIN) return readLater(env, &job, memory, given[5], out != NULL);
  close(job.fd);
  return bad ? answer(env, bad) : valueOf(env, &job, memory, out);
}

/*
 * Strict UTF-8: no surrogates and no overlong forms. Any other name would reach JavaScript as a different
 * name.
 */
static int isUtf8(const char *text) {
  for (const unsigned char *at = (const void *)text; *at;) {
    if (*at < 0x80) {
      at++;
      continue;
    }
    unsigned char low = 0x80, high = 0xbf;
    int more = *at >= 0xc2 && *at <= 0xdf ? 1 : (*at & 0xf0) == 0xe0 ? 2 : *at >= 0xf0 && *at <= 0xf4 ? 3 : 0;
    if (!more) return 0;
    if (*at == 0xe0) low = 0xa0;
    if (*at == 0xed) high = 0x9f;
    if (*at == 0xf0) low = 0x90;
    if (*at == 0xf4) high = 0x8f;
    for (at++; more > 0; more--, at++) {
      if (*at < low || *at > high) return 0;
      low = 0x80;
      high = 0xbf;
    }
  }
  return 1;
}

/* The UTF-8 names of a directory, one after the other, each with a 0 byte at its end. */
struct names {
  napi_async_work work;
  napi_deferred deferred;
  int dir, result;
  size_t max, count, length, room;
  char *names, *sorted;
};

/* Reads more names. Returns 1 if there may be more, 0 at the end or at `max`, or a negative errno. */
static int moreNames(struct names *all) {
  char from[ENTRIES / 2] __attribute__((aligned(8)));
  long got = syscall(SYS_getdents64, all->dir, from, sizeof from);
  if (got <= 0) return got < 0 ? -errno : 0;
  if (all->room - all->length < (size_t)got) {
    size_t room = 2 * all->room + (size_t)got;
    char *names = realloc(all->names, room);
    if (!names) return -ENOMEM;
    all->names = names;
    all->room = room;
  }
  for (long at = 0; at < got;) {
    const struct dirent64 *one = (const void *)(from + at);
    at += one->reclen;
    if (isDots(one->name) || !isUtf8(one->name)) continue;
    size_t size = strlen(one->name) + 1;
    memcpy(all->names + all->length, one->name, size);
    all->length += size;
    all->count += 1;
    if (all->count >= all->max) return 0;
  }
  return 1;
}

static int inOrder(const char *a, const char *b) { return strcmp(a, b) <= 0; }

/* Returns the end of the sorted run that begins at `from`. A run in reverse order is reversed first. */
static size_t runFrom(const char **names, size_t from, size_t count) {
  size_t end = from + 1;
  if (end == count || inOrder(names[from], names[end])) {
    while (end < count && inOrder(names[end - 1], names[end])) end++;
    return end;
  }
  while (end < count && !inOrder(names[end - 1], names[end])) end++;
  for (size_t a = from, b = end - 1; a < b; a++, b--) {
    const char *name = names[a];
    names[a] = names[b];
    names[b] = name;
  }
  return end;
}

/*
 * A natural merge sort. Returns where the result is: `names` or `other`. Many file systems list names nearly
 * in order, and tmpfs nearly in reverse order. This then compares each name a few times, where qsort would
 * compare it a dozen times.
 */
static const char **merged(const char **names, const char **other, size_t count) {
  for (size_t runs = 2; runs > 1;) {
    runs = 0;
    for (size_t from = 0; from < count; runs++) {
      size_t middle = runFrom(names, from, count);
      size_t end = middle < count ? runFrom(names, middle, count) : count;
      for (size_t a = from, b = middle, out = from; out < end; out++)
        other[out] = b == end || (a < middle && inOrder(names[a], names[b])) ? names[a++] : names[b++];
      from = end;
    }
    const char **swap = names;
    names = other;
    other = swap;
  }
  return names;
}

/* Sorts the names and joins them with `/`. The byte order of UTF-8 equals the order of its code points. */
static int sortNames(struct names *all) {
  const char **each = malloc((2 * all->count + 1) * sizeof *each);
  all->sorted = malloc(all->length + 1);
  if (!each || !all->sorted) {
    free(each);
    return -ENOMEM;
  }
  const char *name = all->names;
  for (size_t i = 0; i < all->count; i++, name += strlen(name) + 1) each[i] = name;
  const char **sorted = merged(each, each + all->count, all->count);
  char *out = all->sorted;
  for (size_t i = 0; i < all->count; i++) {
    size_t size = strlen(sorted[i]);
    memcpy(out, sorted[i], size);
    out += size;
    *out++ = '/';
  }
  free(each);
  return 0;
}

static void runNames(napi_env env, void *data) {
  (void)env;
  struct names *all = data;
  int more = 1;
  while (more > 0) more = moreNames(all);
  all->result = more < 0 ? more : sortNames(all);
}

static napi_value namesOf(napi_env env, struct names *all) {
  napi_value value = NULL;
  /* Leave out the `/` after the last name. */
  size_t length = all->length > 0 ? all->length - 1 : 0;
  if (all->result < 0) value = answer(env, all->result);
  else if (napi_create_string_utf8(env, all->sorted, length, &value) != napi_ok) value = answer(env, -ENOMEM);
  free(all->names);
  free(all->sorted);
  return value;
}

static void doneNames(napi_env env, napi_status status, void *data) {
  struct names *all = data;
  if (status != napi_ok && all->result == 0) all->result = -ECANCELED;
  napi_resolve_deferred(env, all->deferred, namesOf(env, all));
  napi_delete_async_work(env, all->work);
  free(all);
}

/*
 * (directory opened for reading, max) -> its UTF-8 names, at most `max`, sorted by code point and joined by
 * `/`. Returns a promise if the names do not fit into one getdents64 call, which holds about 1,000.
 */
static napi_value sortedNames(napi_env env, napi_callback_info info) {
  ARGUMENTS(2);
  struct names now = {.dir = number(env, given[0]), .max = (size_t)number(env, given[1])};
  int more = moreNames(&now);
  /* The end of the directory shows only in a second call. */
  if (more > 0) more = moreNames(&now);
  if (more <= 0) {
    now.result = more < 0 ? more : sortNames(&now);
    return namesOf(env, &now);
  }
  struct names *all = malloc(sizeof *all);
  napi_value promise = NULL, name = NULL;
  if (all) *all = now;
  if (!all || napi_create_promise(env, &all->deferred, &promise) != napi_ok ||
      napi_create_string_utf8(env, "caps-fs list", NAPI_AUTO_LENGTH, &name) != napi_ok ||
      napi_create_async_work(env, NULL, name, runNames, doneNames, all, &all->work) != napi_ok ||
      napi_queue_async_work(env, all->work) != napi_ok) {
    free(now.names);
    free(all);
    return answer(env, -ENOMEM);
  }
  return promise;
}

static void runWrite(napi_env env, void *data) {
  (void)env;
  struct job *job = data;
  int fd = unnamed(job->dir, job->mode);
  if (fd < 0) {
    job->result = fd;
    return;
  }
  int bad = fill(fd, job->from, job->length, job->keep);
  /* Synced before it gets a name: after a power cut the file must be whole or absent. */
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
 * (dir, mode, keep, bytes) -> promise of the descriptor of an unnamed file that holds the bytes and is synced
 */
static napi_value writeUnnamed(napi_env env, napi_callback_info info) {
  ARGUMENTS(4);
  struct job *job = calloc(1, sizeof *job);
  if (!job) return answer(env, -ENOMEM);
  job->fd = -1;
  job->from = bytesOf(env, given[3], &job->length);
  if (!job->from || napi_create_reference(env, given[3], 1, &job->kept) != napi_ok) {
    forget(env, job);
    return answer(env, -EINVAL);
  }
  job->dir = number(env, given[0]);
  job->mode = number(env, given[1]);
  job->keep = number(env, given[2]);
  return start(env, job, "caps-fs write", runWrite, doneWrite);
}

/* Increase this when the arguments or the result of a function change. drivers/part.ts checks it. */
#define PART 2

NAPI_MODULE_INIT() {
  static const struct {
    const char *name;
    napi_callback act;
  } table[] = {
      {"openBeneath", openBeneath}, {"statBeneath", statBeneath},     {"mountOf", mountOf},
      {"renameNew", renameNew},     {"createUnnamed", createUnnamed}, {"nameUnnamed", nameUnnamed},
      {"readBeneath", readBeneath}, {"writeUnnamed", writeUnnamed},
      {"statHeld", statHeld},       {"statNamed", statNamed},
      {"roomOf", roomOf},           {"writeNamed", writeNamed},
      {"someEntries", someEntries}, {"sortedNames", sortedNames},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    napi_value act;
    if (napi_create_function(env, table[i].name, NAPI_AUTO_LENGTH, table[i].act, NULL, &act) == napi_ok)
      napi_set_named_property(env, exports, table[i].name, act);
  }
  napi_set_named_property(env, exports, "part", answer(env, PART));
  return exports;
}
