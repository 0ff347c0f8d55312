/* Reads a whole file: at once if it is small and in memory, or else in one trip to the thread pool. */
#include "fscap.h"
#include <sys/uio.h>

/*
 * Opens with O_PATH first, so that opening has no effect on something that is not a regular file. Then opens
 * the same object again. Returns 0 without a descriptor if it is not a file, is empty,
 * or is larger than `max`. The status is filled only if it is wanted.
 */
static int openToRead(struct job *job, const char *path, int resolve, size_t max, int is_wanted) {
  int found = beneath(job->dir, path, 0, resolve);
  if (found < 0) return found;
  uint64_t size = 0;
  int file = is_wanted ? look(found, &job->status, BASIC_STATS) : plainFile(found, &size);
  if (is_wanted && file == 0) {
    file = (job->status.mode & 0170000) == 0100000;
    size = job->status.size;
  }
  if (file > 0 && size > 0 && size <= max) {
    job->length = (size_t)size;
    job->fd = reopen(found);
    if (job->fd < 0) file = job->fd;
  }
  close(found);
  return file < 0 ? file : 0;
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
napi_value readBeneath(napi_env env, napi_callback_info info) {
  ARGUMENTS(6);
  char path[MAX_PATH + 8];
  struct job job = {.dir = number(env, given[0]), .fd = -1};
  double *out = fieldsOf(env, given[5]);
  int bad = text(env, given[1], path, sizeof path);
  if (!bad) bad = openToRead(&job, path, number(env, given[2]), (size_t)number(env, given[3]), out != NULL);
  if (bad || job.fd < 0) return answer(env, bad);
  napi_value memory = NULL;
  if (napi_create_arraybuffer(env, job.length, (void **)&job.bytes, &memory) != napi_ok) bad = -ENOMEM;
  else bad = job.length > AT_ONCE ? -EAGAIN : readOn(&job, number(env, given[4]));
  if (bad == -EAGAIN) return readLater(env, &job, memory, given[5], out != NULL);
  close(job.fd);
  return bad ? answer(env, bad) : valueOf(env, &job, memory, out);
}
