/*
 * Looks which files of a directory do not contain a text.
 *
 * Promise: nothing that is not a regular file is opened for its data. Each call reads at most as many bytes as
 * it was given, and leaves no descriptor open: a search thread may be ended after any call.
 */
#include "fscap.h"

/* As in search/scan.ts: a file with a NUL in its beginning is binary. */
#define BINARY_WITHIN 8192
/* Results other than a size. */
#define NOT_JUDGED (-1)
#define TOO_MUCH (-2)

struct memory {
  unsigned char *bytes;
  size_t room;
};

static int makeRoom(struct memory *memory, size_t size) {
  if (size <= memory->room) return 0;
  unsigned char *bytes = realloc(memory->bytes, size);
  if (!bytes) return -ENOMEM;
  memory->bytes = bytes;
  memory->room = size;
  return 0;
}

/* Returns the size of the file if all of it was read. TOO_MUCH: it has more than `left` bytes. */
static int64_t readFile(int dir, const char *name, uint64_t max, uint64_t left, struct memory *into) {
  int found = (int)syscall(SYS_openat, dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);
  if (found < 0) return NOT_JUDGED;
  uint64_t size = 0, got = 0;
  int fd = -1, plain = plainFile(found, &size) > 0 && size <= max;
  if (plain && size > 0 && size <= left && !makeRoom(into, (size_t)size)) fd = reopen(found);
  close(found);
  if (plain && size == 0) return 0;
  if (plain && size > left) return TOO_MUCH;
  if (fd < 0) return NOT_JUDGED;
  while (got < size) {
    ssize_t n = pread(fd, into->bytes + got, (size_t)(size - got), (off_t)got);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    got += (uint64_t)n;
  }
  close(fd);
  return got == size ? (int64_t)size : NOT_JUDGED;
}

/*
 * (dir, names with a NUL after each, max, bytes, text, sizes) -> how many of the files it has looked at. For each of
 * these it stores its size in `sizes` if it is a text of at most `max` bytes that does not contain the text, and else
 * -1: the caller reads that one itself. It reads no more than `bytes`, and stops before the file that has more. If that
 * is the first one, the caller reads it.
 */
napi_value filesWithout(napi_env env, napi_callback_info info) {
  ARGUMENTS(6);
  size_t namesLength = 0, textLength = 0;
  const char *names = (const char *)bytesOf(env, given[1], &namesLength);
  const unsigned char *text = bytesOf(env, given[4], &textLength);
  napi_typedarray_type type;
  size_t places = 0;
  void *data = NULL;
  int ok = napi_get_typedarray_info(env, given[5], &type, &places, &data, NULL, NULL) == napi_ok;
  if (!ok || type != napi_float64_array || !names || !text || textLength == 0) return answer(env, -EINVAL);
  if (namesLength == 0 || names[namesLength - 1] != 0) return answer(env, -EINVAL);
  double *sizes = data;
  const int dir = number(env, given[0]);
  const uint64_t max = (uint64_t)number(env, given[2]);
  uint64_t left = (uint64_t)number(env, given[3]);
  struct memory memory = {NULL, 0};
  size_t done = 0;
  for (size_t at = 0; at < namesLength && done < places; at += strlen(names + at) + 1) {
    int64_t size = readFile(dir, names + at, max, left, &memory);
    if (size == TOO_MUCH && done > 0) break;
    if (size > 0) left -= (uint64_t)size;
    const size_t head = size < BINARY_WITHIN ? (size_t)size : BINARY_WITHIN;
    if (size > 0 && (memchr(memory.bytes, 0, head) || memmem(memory.bytes, (size_t)size, text, textLength)))
      size = NOT_JUDGED;
    sizes[done++] = size < 0 ? NOT_JUDGED : (double)size;
    if (size == TOO_MUCH) break;
  }
  free(memory.bytes);
  return answer(env, (int64_t)done);
}
