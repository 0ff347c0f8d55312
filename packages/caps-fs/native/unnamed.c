/* Writes files that get their name only when they are complete. */
#include "fscap.h"

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
napi_value createUnnamed(napi_env env, napi_callback_info info) {
  ARGUMENTS(2);
  return answer(env, unnamed(number(env, given[0]), number(env, given[1])));
}

/* (fd, dir, name) -> 0. Gives the file its first name. -EEXIST if the name is taken. */
napi_value nameUnnamed(napi_env env, napi_callback_info info) {
  ARGUMENTS(3);
  char name[MAX_PATH + 8];
  int bad = text(env, given[2], name, sizeof name);
  return answer(env, bad ? bad : nameIt(number(env, given[0]), number(env, given[1]), name));
}

/*
 * (dir, name, temporary, mode, keep, bytes, fields) -> stamp. Makes a file with these bytes, which appears
 * under its name in one step. Without a temporary it fails with EEXIST if the name is taken. It does not
 * sync: for file systems without a disk.
 */
napi_value writeNamed(napi_env env, napi_callback_info info) {
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
napi_value writeUnnamed(napi_env env, napi_callback_info info) {
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
