/* Tells size, times, mode, mount and free space of an object. */
#include "fscap.h"
#include <sys/vfs.h>

int look(int fd, struct status *out, unsigned mask) {
  memset(out, 0, sizeof *out);
  return syscall(SYS_statx, fd, "", AT_EMPTY_PATH, mask, out) < 0 ? -errno : 0;
}

static int64_t nanoseconds(const struct stamp *t) { return t->seconds * 1000000000LL + t->nanoseconds; }

void fields(const struct status *s, double *out) {
  out[0] = s->mode;
  out[1] = s->nlink;
  out[2] = s->uid;
  out[3] = (double)s->size;
  out[4] = (double)(nanoseconds(&s->mtime) / 1000) / 1000;
  out[5] = (double)(nanoseconds(&s->ctime) / 1000000);
  out[6] = s->mask & MOUNT_ID ? (double)s->mnt_id : 0;
}

/*
 * Must equal the text that drivers/node-fs.ts makes for the same file, so that both backends give the same
 * version.
 */
napi_value stampOf(napi_env env, const struct status *s) {
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

/* (dir, path, flags, resolve, fields) -> stamp. If the last name is a link, of the link itself. */
napi_value statBeneath(napi_env env, napi_callback_info info) {
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
napi_value statHeld(napi_env env, napi_callback_info info) {
  ARGUMENTS(2);
  double *out = fieldsOf(env, given[1]);
  struct status status;
  int bad = out ? look(number(env, given[0]), &status, BASIC_STATS) : -EINVAL;
  if (bad) return answer(env, bad);
  fields(&status, out);
  return stampOf(env, &status);
}

/* (dir, one name, fields) -> stamp. If the name is a link, of the link itself. */
napi_value statNamed(napi_env env, napi_callback_info info) {
  ARGUMENTS(3);
  char name[MAX_PATH + 8];
  double *out = fieldsOf(env, given[2]);
  int bad = out ? text(env, given[1], name, sizeof name) : -EINVAL;
  if (bad) return answer(env, bad);
  struct status status;
  memset(&status, 0, sizeof status);
  if (syscall(SYS_statx, number(env, given[0]), name, NO_FOLLOW, BASIC_STATS | MOUNT_ID, &status) < 0)
    return answer(env, -errno);
  fields(&status, out);
  return stampOf(env, &status);
}

/* (fd, room) -> 0. Stores the free bytes and all bytes of its file system in `room`. */
napi_value roomOf(napi_env env, napi_callback_info info) {
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
napi_value mountOf(napi_env env, napi_callback_info info) {
  ARGUMENTS(1);
  struct status status;
  int bad = look(number(env, given[0]), &status, MOUNT_ID);
  if (bad) return answer(env, bad);
  return answer(env, status.mask & MOUNT_ID ? (int64_t)status.mnt_id : -ENOSYS);
}
