/*
 * Reads the spec: fields that end in NUL, a name and then its values. Nothing is split, quoted, unescaped or
 * looked up in PATH. Everything that is not understood exactly is refused: a spec of a newer caller must not
 * be obeyed by half.
 */
#include "world.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct spec spec = {.channel = -1, .door = -1, .cgroup = -1};

/* In memory that the outer process and pid 1 share. The payload's exec unmaps it. */
static struct { size_t length; char text[SPEC_BYTES]; } *said;
static size_t at;

static _Noreturn void refuse(void) { fail_at("spec", EINVAL, -1); }

static char *field(void) {
  if (at >= said->length) refuse();
  char *start = said->text + at;
  at += strlen(start) + 1; /* `length` is within the array and its last byte is NUL */
  return start;
}

static uint64_t number(void) {
  const char *from = field();
  uint64_t value = 0;
  if (*from == 0 || strlen(from) > 19) refuse();
  for (; *from; from++) {
    if (*from < '0' || *from > '9') refuse();
    value = value * 10 + (uint64_t)(*from - '0');
  }
  return value;
}

static bool either(const char *yes, const char *no) {
  const char *word = field();
  if (strcmp(word, yes) == 0) return true;
  if (strcmp(word, no) != 0) refuse();
  return false;
}

/* An absolute path inside, without empty parts, `.` and `..`, so that each part is one lookup. */
static const char *inside_path(void) {
  const char *path = field();
  if (path[0] != '/' || path[1] == 0) refuse();
  for (const char *part = path; *part;) {
    const char *name = ++part;
    while (*part && *part != '/') part++;
    size_t n = (size_t)(part - name);
    if (n == 0 || n > 255 || (n == 1 && name[0] == '.') || (n == 2 && name[0] == '.' && name[1] == '.')) refuse();
  }
  return path;
}

static int descriptor(void) {
  uint64_t fd = number();
  if (fd < 3 || fd > 1 << 20) refuse();
  return (int)fd;
}

static void read_limit(void) {
  static const struct { const char *name; size_t offset; } known[] = {
      {"memory", offsetof(struct limits, memory)},         {"cpu-ms", offsetof(struct limits, cpu_ms)},
      {"processes", offsetof(struct limits, processes)},   {"file-bytes", offsetof(struct limits, file_bytes)},
      {"tmp-bytes", offsetof(struct limits, tmp_bytes)},   {"shm-bytes", offsetof(struct limits, shm_bytes)},
      {"open-files", offsetof(struct limits, open_files)},
  };
  const char *which = field();
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(known[i].name, which) == 0) {
      *(uint64_t *)((char *)&spec.limits + known[i].offset) = number();
      return;
    }
  refuse();
}

static void read_entry(const char *name) {
  if (strcmp(name, "arg") == 0) {
    if (spec.arg_count == MAX_WORDS) refuse();
    spec.args[spec.arg_count++] = field();
  } else if (strcmp(name, "env") == 0) {
    if (spec.env_count == MAX_WORDS) refuse();
    spec.env[spec.env_count++] = field();
  } else if (strcmp(name, "mount") == 0) {
    if (spec.mount_count == MAX_MOUNTS) refuse();
    struct mount *m = &spec.mounts[spec.mount_count++];
    m->fd = descriptor();
    m->dev = (dev_t)number();
    m->ino = (ino_t)number();
    m->writable = either("rw", "ro");
    m->system = either("system", "granted");
    m->at = inside_path();
    m->tree = -1;
    if (m->system && m->writable) refuse();
  } else if (strcmp(name, "covers") == 0) {
    if (spec.mount_count == 0 || spec.mounts[spec.mount_count - 1].covers) refuse();
    struct mount *m = &spec.mounts[spec.mount_count - 1];
    m->covers = true;
    m->covered_dev = (dev_t)number();
    m->covered_ino = (ino_t)number();
  } else if (strcmp(name, "link") == 0) {
    if (spec.link_count == MAX_LINKS) refuse();
    const char *path = inside_path();
    spec.links[spec.link_count++] = (struct path_text){path, field()};
  } else if (strcmp(name, "file") == 0) {
    if (spec.file_count == MAX_FILES) refuse();
    const char *path = inside_path();
    spec.files[spec.file_count++] = (struct path_text){path, field()};
  } else if (strcmp(name, "limit") == 0) {
    read_limit();
  } else if (strcmp(name, "program") == 0) {
    spec.program.path = inside_path();
  } else if (strcmp(name, "is") == 0) {
    spec.program.known = true;
    spec.program.dev = (dev_t)number();
    spec.program.ino = (ino_t)number();
    spec.program.size = number();
    spec.program.mtime_ns = number();
  } else if (strcmp(name, "cwd") == 0) {
    spec.cwd = field();
    if (spec.cwd[0] != '/') refuse();
  } else if (strcmp(name, "channel") == 0) {
    spec.channel = descriptor();
  } else if (strcmp(name, "door") == 0) {
    spec.door = descriptor();
  } else if (strcmp(name, "listen") == 0) {
    if (spec.listener_count == MAX_LISTENERS) refuse();
    struct listener *l = &spec.listeners[spec.listener_count++];
    if (either("unix", "tcp")) {
      l->path = inside_path();
    } else {
      uint64_t port = number();
      if (port == 0 || port > 65535) refuse();
      l->port = (uint16_t)port;
    }
  } else if (strcmp(name, "cgroup") == 0) {
    spec.cgroup = descriptor();
  } else if (strcmp(name, "linger") == 0) {
    spec.linger = true;
  } else if (strcmp(name, "input") == 0) {
    spec.input = true;
  } else {
    refuse();
  }
}

void make_room_for_spec(void) {
  said = mmap(NULL, sizeof *said, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (said == MAP_FAILED) fail("spec");
}

bool read_spec(int fd) {
  for (;;) {
    ssize_t n = read(fd, said->text + said->length, SPEC_BYTES - said->length);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("spec");
    if (n == 0) return said->length > 0;
    said->length += (size_t)n;
    if (said->length == SPEC_BYTES) fail_at("spec", E2BIG, -1);
  }
}

void parse_spec(void) {
  if (said->length == 0 || said->text[said->length - 1] != 0) refuse();
  if (strcmp(field(), "hob-sandbox/1") != 0) refuse();
  for (;;) {
    const char *name = field();
    /* The last field is `end`. A spec that was cut off has none. */
    if (strcmp(name, "end") == 0 && at == said->length) break;
    read_entry(name);
  }
  /* Every limit must be given. A missing one does not mean "unlimited". */
  const struct limits *l = &spec.limits;
  if (!l->memory || !l->cpu_ms || !l->processes || !l->file_bytes || !l->tmp_bytes || !l->shm_bytes || !l->open_files) refuse();
  if (!spec.program.path || !spec.cwd || spec.arg_count == 0) refuse();
  if ((spec.door >= 0) != (spec.listener_count > 0)) refuse();
}
