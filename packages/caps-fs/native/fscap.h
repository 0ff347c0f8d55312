/*
 * Shared by all files of the C part: the system calls that Node lacks, and the values that cross into JavaScript.
 *
 * Calls go through syscall(2), because wrappers such as fstat and statx would require a glibc newer than
 * 2.17.
 */
#ifndef FSCAP_H
#define FSCAP_H
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
/* mode, links, owner, size, mtime in ms, ctime in ms, mount (0: not known) */
#define FIELDS 7
/* Room for five 64-bit numbers and the separators between them. */
#define STAMP 112
/* Buffer of one getdents64 call, in bytes: about 2,000 names. */
#define ENTRIES 65536

/*
 * Opens a path with O_PATH and openat2. `resolve` has the RESOLVE_ flags that drivers/native.ts sets. Returns a
 * negative errno on failure, as do all functions here that return a number.
 */
int beneath(int dir, const char *path, int flags, int resolve);
/*
 * Opens the object that the O_PATH descriptor `fd` holds for reading. Only for a regular file: opening a FIFO or
 * a device may have an effect.
 */
int reopen(int fd);
/* Whether `fd` holds a regular file. Stores its size. */
int plainFile(int fd, uint64_t *size);
/* Called once, before anything is reopened. */
void findDescriptors(void);
/* The status of the object that `fd` holds. */
int look(int fd, struct status *out, unsigned mask);
/* Stores the FIELDS numbers of a status in `out`. */
void fields(const struct status *s, double *out);
napi_value stampOf(napi_env env, const struct status *s);

/* Arguments and results. */
int number(napi_env env, napi_value value);
int text(napi_env env, napi_value value, char *into, size_t size);
double *fieldsOf(napi_env env, napi_value value);
const unsigned char *bytesOf(napi_env env, napi_value value, size_t *length);
napi_value answer(napi_env env, int64_t n);

#define ARGUMENTS(n)                                                                                                  \
  napi_value given[n];                                                                                                \
  size_t count = n;                                                                                                   \
  if (napi_get_cb_info(env, info, &count, given, NULL, NULL) != napi_ok || count < n) return answer(env, -EINVAL)

/* One trip to the thread pool. */
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

void forget(napi_env env, struct job *job);
napi_value start(napi_env env, struct job *job, const char *what, napi_async_execute_callback run,
                 napi_async_complete_callback done);
void finish(napi_env env, struct job *job, napi_value value);

/* The functions that JavaScript calls. Each has its arguments and its result above it. */
napi_value openBeneath(napi_env env, napi_callback_info info);
napi_value statBeneath(napi_env env, napi_callback_info info);
napi_value mountOf(napi_env env, napi_callback_info info);
napi_value renameNew(napi_env env, napi_callback_info info);
napi_value createUnnamed(napi_env env, napi_callback_info info);
napi_value nameUnnamed(napi_env env, napi_callback_info info);
napi_value readBeneath(napi_env env, napi_callback_info info);
napi_value writeUnnamed(napi_env env, napi_callback_info info);
napi_value statHeld(napi_env env, napi_callback_info info);
napi_value statNamed(napi_env env, napi_callback_info info);
napi_value roomOf(napi_env env, napi_callback_info info);
napi_value writeNamed(napi_env env, napi_callback_info info);
napi_value someEntries(napi_env env, napi_callback_info info);
napi_value sortedNames(napi_env env, napi_callback_info info);
napi_value filesWithout(napi_env env, napi_callback_info info);

#endif
