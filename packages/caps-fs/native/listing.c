/* Lists a directory: some entries at a time, or all names sorted. */
#include "fscap.h"

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
napi_value someEntries(napi_env env, napi_callback_info info) {
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
napi_value sortedNames(napi_env env, napi_callback_info info) {
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
