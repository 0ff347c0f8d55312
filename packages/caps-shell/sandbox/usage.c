/*
 * Checks the job's memory and CPU time against its limits, every few milliseconds, in pid 1.
 *
 * The kernel counts each process by itself, so this file adds up all processes of the world. Where the job
 * has a cgroup, the kernel's own sums are used too.
 */
#include "world.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Returns the number of KiB after `name` in /proc/PID/smaps_rollup, in bytes. */
static uint64_t bytes_after(const char *text, const char *name) {
  const char *found = strstr(text, name);
  return found ? strtoull(found + strlen(name), NULL, 10) << 10 : 0;
}

/* Reads the file `name` of process `pid`. Returns its length, or -1. */
static ssize_t read_proc(int proc, const char *pid, const char *name, char *into, size_t size) {
  char path[64];
  snprintf(path, sizeof path, "%s/%s", pid, name);
  int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t n = read(fd, into, size - 1);
  close(fd);
  if (n >= 0) into[n] = 0;
  return n;
}

/* A directory entry as getdents64 returns it. */
struct entry { uint64_t ino; int64_t off; unsigned short length; unsigned char type; char name[]; };

/*
 * The CPU time of each process when it was last seen. If a parent ignores SIGCHLD, nobody waits for its
 * children, and the kernel adds their time to no other process.
 */
struct seen { uint64_t pid, start, ticks; };
static struct seen *before, *now;
static size_t before_count, now_count, capacity;
static uint64_t gone_ticks;

static void add_seen(struct seen s) {
  if (now_count == capacity) {
    capacity = capacity ? 2 * capacity : 256;
    before = realloc(before, capacity * sizeof *before);
    now = realloc(now, capacity * sizeof *now);
    if (!before || !now) _exit(1);
  }
  now[now_count++] = s;
}

/*
 * Returns the ticks of all processes ever seen, without those of their children. Both lists are sorted by
 * pid, like /proc.
 */
static uint64_t ticks_of_all_seen(void) {
  uint64_t living = 0;
  for (size_t i = 0, j = 0; i < before_count; i++) {
    while (j < now_count && now[j].pid < before[i].pid) j++;
    if (j == now_count || now[j].pid != before[i].pid || now[j].start != before[i].start) gone_ticks += before[i].ticks;
  }
  for (size_t j = 0; j < now_count; j++) living += now[j].ticks;
  struct seen *old = before;
  before = now, now = old;
  before_count = now_count, now_count = 0;
  return gone_ticks + living;
}

struct sums {
  uint64_t memory, processes;
  uint64_t ticks; /* of the living, and of those that they waited for; pid 1 waited for the rest */
  uint64_t seen;  /* of all processes ever seen */
};

/*
 * Adds up all processes. `exact` divides shared memory among the processes that share it, which is slow; a
 * process that hides its share counts in full.
 */
static struct sums add_up(int proc, bool exact) {
  static char entries[32768], text[4096];
  const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  struct sums sums = {0};
  lseek(proc, 0, SEEK_SET);
  for (long n; (n = syscall(SYS_getdents64, proc, entries, sizeof entries)) > 0;)
    for (long at = 0; at < n;) {
      struct entry *e = (struct entry *)(entries + at);
      at += e->length;
      if (e->name[0] < '1' || e->name[0] > '9' || strcmp(e->name, "1") == 0) continue;
      ++sums.processes;
      if (exact && read_proc(proc, e->name, "smaps_rollup", text, sizeof text) > 0) {
        sums.memory += bytes_after(text, "Pss_Anon:") + bytes_after(text, "Pss_Shmem:") + bytes_after(text, "SwapPss:");
      } else if (read_proc(proc, e->name, "statm", text, sizeof text) > 0) {
        char *next;
        strtoull(text, &next, 10);
        sums.memory += strtoull(next, NULL, 10) * page;
      }
      if (read_proc(proc, e->name, "stat", text, sizeof text) > 0) {
        char *rest = strrchr(text, ')'); /* the name may contain anything, even a `)` */
        for (int field = 2; rest && field < 14; field++) rest = strchr(rest + 1, ' ');
        struct seen s = {strtoull(e->name, NULL, 10), 0, 0};
        for (int field = 14; rest && field <= 22; field++) {
          uint64_t value = strtoull(rest, &rest, 10);
          if (field <= 17) sums.ticks += value;
          if (field <= 15) s.ticks += value;
          s.start = value;
        }
        add_seen(s);
      }
    }
  sums.seen = ticks_of_all_seen();
  return sums;
}

static uint64_t file_system_bytes(const char *path) {
  struct statfs s;
  return statfs(path, &s) < 0 ? 0 : (s.f_blocks - s.f_bfree) * (uint64_t)s.f_bsize;
}

/*
 * Memory that belongs to no process: files in a tmpfs, SysV segments, bytes sent to a socket and not yet
 * received.
 */
static uint64_t unowned_bytes(int proc) {
  struct { int used; unsigned long total, resident, swapped, attempts, successes; } info = {0};
  const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  if (WITHOUT("unowned")) return 0;
  uint64_t bytes = file_system_bytes("/tmp") + file_system_bytes("/dev/shm");
  if (syscall(SYS_shmctl, 0, 14 /* SHM_INFO */, &info) >= 0) bytes += (info.resident + info.swapped) * page;
  char text[1024];
  if (!WITHOUT("sockets") && read_proc(proc, "1", "net/sockstat", text, sizeof text) > 0) bytes += socket_bytes(text);
  return bytes;
}

/* Updates `shared`, and sets its `limit` if one is exceeded. Returns the ms until the next check. */
int check_usage(int proc) {
  const uint64_t tick_us = 1000000u / (uint64_t)sysconf(_SC_CLK_TCK);
  struct sums sums = add_up(proc, false);
  uint64_t unowned = unowned_bytes(proc);
  /*
   * The quick sum counts shared memory once for each process. Only if that is too much, the exact sum is
   * needed.
   */
  if (sums.memory + unowned > spec.limits.memory) sums = add_up(proc, true);
  uint64_t memory = sums.memory + unowned;
  struct rusage waited;
  getrusage(RUSAGE_CHILDREN, &waited);
  uint64_t cpu = sums.ticks * tick_us +
                 (uint64_t)(waited.ru_utime.tv_sec + waited.ru_stime.tv_sec) * 1000000u + (uint64_t)(waited.ru_utime.tv_usec + waited.ru_stime.tv_usec);
  /* Both sums miss some processes, and neither counts one twice. */
  if (sums.seen * tick_us > cpu && !WITHOUT("unwaited")) cpu = sums.seen * tick_us;
  uint64_t in_cgroup = cgroup_number("cpu.stat", "usage_usec ");
  if (in_cgroup > cpu) cpu = in_cgroup;
  if (cpu > shared->cpu_us) shared->cpu_us = cpu;
  shared->memory = memory;
  if (memory > shared->peak) shared->peak = memory;
  if (sums.processes > shared->processes) shared->processes = sums.processes;
  if (memory > spec.limits.memory && !WITHOUT("memory")) shared->limit = LIMIT_MEMORY;
  else if (cpu / 1000 > spec.limits.cpu_ms && !WITHOUT("cpu")) shared->limit = LIMIT_CPU;
  return memory > spec.limits.memory / 2 ? 5 : 20;
}
