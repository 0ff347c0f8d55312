/*
 * A preloaded stand-in for fsync. It records the content that the disk would hold if the power failed now.
 *
 * Promise: for every file and folder below POWERCUT_ROOT, POWERCUT_SHADOW holds what was in it at its last fsync (or
 * fdatasync), and nothing later. The process may be killed at any moment: an entry is the one before that fsync, or its own.
 * Writes that this shim does not see (sync, syncfs, msync, O_DSYNC) do not count as durable: it may blame a program wrongly, and
 * clears none wrongly, save one that relies on a write to a file while another thread is inside an fsync of that file.
 *
 * Threads: one fsync after the other, whatever its file, since all share one draft, one buffer and the pins. A folder in which
 * another thread makes or renames an entry just then is kept with that entry or without, as a disk may.
 *
 * Only fsync has to be watched. Writes, truncations, renames and removals stay where kill -9 leaves them, in the page cache,
 * and `powercut.ts` compares: the real folder is what was written, the shadow what was synced. So the real fsync is not made.
 *
 * The shadow's entries, KEY = <inode>-<birth in ns>, since an inode's number is used again after its removal:
 *   KEY        the bytes of that file
 *   KEY.names  of a folder: `KEY TYPE NAME\0` per entry, TYPE being f(ile), d(irectory) or o(ther)
 *
 * Built by shim.ts: cc -shared -fPIC -O2 powercut.c
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A file of which a descriptor is kept. See pin(). */
struct pin {
  struct pin *next;
  dev_t dev;
  ino_t ino;
  int fd;
};

static const char *root, *shadow;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct pin *pins;
static char buffer[256 * 1024];
static char draft[PATH_MAX], entry[PATH_MAX]; /* in the shadow: being written, and its place */

/* A shim that fails must not look like a disk that holds less, or more. */
static void die(const char *what) {
  fprintf(stderr, "powercut: %s: %s\n", what, strerror(errno));
  abort();
}

/* Read once, before main: getenv is not safe beside a thread that sets a variable. */
__attribute__((constructor)) static void set_up(void) {
  root = getenv("POWERCUT_ROOT"); /* as /proc/self/fd names it: absolute, without links */
  shadow = getenv("POWERCUT_SHADOW");
}

/*
 * Whether the descriptor is of something below the root, or of the root itself. A removed file still counts:
 * its name may come back.
 */
static int is_watched(int fd) {
  char link[64], path[PATH_MAX];
  if (root == NULL) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0; /* no such descriptor: the real call says so */
  path[length] = '\0';
  size_t root_length = strlen(root);
  return strncmp(path, root, root_length) == 0 && (path[root_length] == '\0' || path[root_length] == '/');
}

static void key_of(int folder, const char *name, int flags, char key[64], mode_t *mode) {
  struct statx is;
  if (statx(folder, name, flags | AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_TYPE | STATX_BTIME, &is) != 0) {
    key[0] = '\0'; /* removed since it was listed */
    return;
  }
  *mode = is.stx_mode;
  unsigned long long born = (unsigned long long)is.stx_btime.tv_sec * 1000000000ull + is.stx_btime.tv_nsec;
  snprintf(key, 64, "%llu-%llu", (unsigned long long)is.stx_ino, born);
}

static void write_all(int fd, const char *from, size_t length) {
  while (length > 0) {
    ssize_t written = write(fd, from, length);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) die("the shadow cannot be written");
    from += written;
    length -= (size_t)written;
  }
}

/* A new draft in the shadow; publish() puts it in its place, whole. */
static int begin(const char *key, const char *suffix) {
  if (shadow == NULL) die("POWERCUT_SHADOW names no folder");
  int a = snprintf(entry, sizeof entry, "%s/%s%s", shadow, key, suffix);
  int b = snprintf(draft, sizeof draft, "%s/draft-%d", shadow, (int)getpid());
  if (a < 0 || b < 0 || (size_t)a >= sizeof entry || (size_t)b >= sizeof draft) die("POWERCUT_SHADOW is too long");
  int to = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (to < 0) die("the shadow cannot be written");
  return to;
}

static void publish(int to) {
  if (close(to) != 0 || rename(draft, entry) != 0) die("the shadow cannot be written");
}

/*
 * A readable descriptor of the same file, kept until the process ends. Kept, because POSIX drops all of a
 * process's locks on a file when it closes any descriptor of it, and SQLite's locks are under test. It also
 * keeps the inode's number from being given to another file.
 */
static int pin(int fd, const struct stat *is) {
  for (struct pin *one = pins; one != NULL; one = one->next)
    if (one->dev == is->st_dev && one->ino == is->st_ino) return one->fd;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  struct pin *one = malloc(sizeof *one);
  if (one == NULL) die("no memory");
  *one = (struct pin){.next = pins, .dev = is->st_dev, .ino = is->st_ino, .fd = open(link, O_RDONLY | O_CLOEXEC)};
  if (one->fd < 0) die("a synced file cannot be read");
  pins = one;
  return one->fd;
}

static void keep_file(int fd, const struct stat *is, const char *key) {
  int from = pin(fd, is);
  int to = begin(key, "");
  for (off_t at = 0;;) {
    ssize_t got = pread(from, buffer, sizeof buffer, at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) die("a synced file cannot be read");
    if (got == 0) break;
    write_all(to, buffer, (size_t)got);
    at += got;
  }
  publish(to);
}

static void keep_names(int fd, const char *key) {
  int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* the caller's own has a place in the listing */
  DIR *folder = again < 0 ? NULL : fdopendir(again);
  if (folder == NULL) die("a synced folder cannot be listed");
  int to = begin(key, ".names");
  for (struct dirent *one; (one = readdir(folder)) != NULL;) {
    if (strcmp(one->d_name, ".") == 0 || strcmp(one->d_name, "..") == 0) continue;
    char of[64], line[64 + 4 + sizeof one->d_name];
    mode_t mode = 0;
    key_of(again, one->d_name, 0, of, &mode);
    if (of[0] == '\0') continue;
    int length = snprintf(line, sizeof line, "%s %c %s", of, S_ISREG(mode) ? 'f' : S_ISDIR(mode) ? 'd' : 'o', one->d_name);
    write_all(to, line, (size_t)length + 1); /* with its NUL */
  }
  publish(to);
  closedir(folder);
}

static int sync_to_shadow(int fd, long call) {
  struct stat is;
  if (!is_watched(fd) || fstat(fd, &is) != 0 || !(S_ISREG(is.st_mode) || S_ISDIR(is.st_mode)))
    return (int)syscall(call, fd);
  int before = errno;
  char key[64];
  mode_t mode = 0;
  pthread_mutex_lock(&lock);
  key_of(fd, "", AT_EMPTY_PATH, key, &mode);
  if (key[0] == '\0') die("a synced file cannot be looked at");
  if (S_ISDIR(is.st_mode)) keep_names(fd, key);
  else keep_file(fd, &is, key);
  pthread_mutex_unlock(&lock);
  errno = before;
  return 0;
}

int fsync(int fd) { return sync_to_shadow(fd, SYS_fsync); }
int fdatasync(int fd) { return sync_to_shadow(fd, SYS_fdatasync); }
