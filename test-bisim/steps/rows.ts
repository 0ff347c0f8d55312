/**
 * Every step of the sandbox, and a command with which its absence shows.
 *
 * Promise: no command harms anything where its step is left out: what it reads, writes, takes or ends was put there for it, and is taken
 * away. Steps that stop the same are left out together, and each of them is seen to hold alone.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { join } from 'node:path';
import { missing } from '../../test/probes.ts';
import { cpuSeconds, end, inFiles, inMemory, kernelLog, named, parentOf, read, reserved, until } from './outside.ts';
import { type At, eachAlone, type Row, type Setting } from './step.ts';

const CANARY = 'HOB-CANARY';
const MiB = 2 ** 20;
/** The limits, and how much more is taken. */
const GRANTED = { memoryBytes: 64 * MiB };
const TAKEN = 300;
const SURELY = 200;
const PROCESSES = 305;
const NOBODY = 33;
const GROUP = 4;
const KEY = 0x686f62;
const SHM = 'import ctypes as c; l = c.CDLL(None); l.shmat.restype = c.c_void_p; i = l.shmget';

const step = (name: string, row: Omit<Row, 'step' | 'also'> & Partial<Pick<Row, 'also'>>): Row => ({
  also: [],
  ...row,
  step: name,
});

/** A file that is there while the command runs. */
function file(path: string, make: (path: string) => void): Pick<Setting, 'undo'> {
  fs.rmSync(path, { recursive: true, force: true });
  make(path);
  return { undo: () => fs.rmSync(path, { recursive: true, force: true }) };
}

// -------------------------------------------------------------------------------------------- files, listeners, what is known

const SEEN: readonly Row[] = [
  step('netns', { text: 'cat notes.txt > /dev/tcp/127.0.0.1/@PORT@', everywhere: true }),
  step('detach', { text: 'cat /..@HOME@/.netrc' }),
  step('close', { text: 'for n in 6 7 8 9 1{0..9} 2{0..9}; do cat /proc/self/fd/$n/../.netrc; done 2> /dev/null' }),
  step('dumpable', { text: 'for each in /proc/1/fd/*; do cat $each/../.netrc; done 2> /dev/null', also: ['close'] }),
  step('covered', {
    text: 'cat /over/in/papers',
    root: true,
    lacks: () => (spawnSync('mount', ['--version']).status === 0 ? undefined : 'it has no program mount'),
    setting: ({ machine: { base } }) => {
      const over = join(base, 'var/over');
      const hidden = join(over, 'in');
      fs.mkdirSync(hidden, { recursive: true });
      fs.writeFileSync(join(hidden, 'papers'), `${CANARY}\n`);
      spawnSync('mount', ['-t', 'tmpfs', 'none', hidden]);
      return {
        launched: { grants: { '/over': { path: over } } },
        undo: () => {
          spawnSync('umount', ['-l', hidden]);
          fs.rmSync(over, { recursive: true, force: true });
        },
      };
    },
  }),
  step('readonly', { text: 'echo x > @BASE@/srv/new', also: ['landlock'] }),
  // A directory of the work directory has a read-only mount within it. The job moves it away and makes its own of that name.
  step('pin', {
    text: 'mv outer moved && mkdir -p outer/in && echo x > outer/in/hook',
    setting: ({ machine: { work } }) => {
      const inner = join(work, 'outer/in');
      const hook = join(inner, 'hook');
      const planted = file(join(work, 'outer'), () => {
        fs.mkdirSync(inner, { recursive: true });
        fs.writeFileSync(hook, '');
      });
      return {
        launched: { grants: { [inner]: { path: inner, writable: false } } },
        after: () => (read(hook) === '' ? undefined : 'put its own where it was granted only reading'),
        undo: () => {
          planted.undo?.();
          fs.rmSync(join(work, 'moved'), { recursive: true, force: true });
        },
      };
    },
  }),
  // Since the grant somebody else has moved the directory that a mount hides, and has made another one in its place.
  step('covers', {
    text: 'cat moved/papers',
    setting: ({ machine: { base, work } }) => {
      const [place, moved] = ['place', 'moved'].map((name) => join(work, name)) as [string, string];
      const planted = file(place, () => fs.mkdirSync(place));
      fs.writeFileSync(join(place, 'papers'), `${CANARY}\n`);
      const { dev, ino } = fs.statSync(place, { bigint: true });
      fs.renameSync(place, moved);
      fs.mkdirSync(place);
      return {
        launched: { grants: { [place]: { path: join(base, 'srv'), writable: false, covers: { dev, ino } } } },
        undo: () => {
          planted.undo?.();
          fs.rmSync(moved, { recursive: true, force: true });
        },
      };
    },
  }),
  step('landlock', {
    text: 'echo x > @BASE@/srv/fifo',
    setting: ({ machine: { base } }) => {
      const planted = file(join(base, 'srv/fifo'), (path) => spawnSync('mkfifo', ['-m', '666', path]));
      const fd = fs.openSync(join(base, 'srv/fifo'), fs.constants.O_RDWR | fs.constants.O_NONBLOCK);
      return {
        after: () => (arrived(fd) ? 'wrote into a FIFO of the machine' : undefined),
        undo: () => {
          fs.closeSync(fd);
          planted.undo?.();
        },
      };
    },
  }),
  step('lease', {
    text: '/opt/tool lease @BASE@/srv/leased',
    setting: ({ machine: { base } }) => ({
      ...file(join(base, 'srv/leased'), (path) => fs.writeFileSync(path, '')),
      begun: async () =>
        canWrite(join(base, 'srv/leased')) ? undefined : 'holds up whoever writes a file of the machine',
    }),
  }),
  step('ipcns', {
    text: `python3 -c '${SHM}(${KEY}, 64, 0); print(c.string_at(l.shmat(i, None, 4096)) if i >= 0 else "")'`,
    setting: ({ python }) => {
      spawnSync(python, ['-c', `${SHM}(${KEY}, 64, 0o1666); c.memmove(l.shmat(i, None, 0), b"${CANARY}", 11)`]);
      return { undo: () => spawnSync(python, ['-c', `${SHM}(${KEY}, 64, 0); l.shmctl(i, 0, None)`]) };
    },
  }),
  step('hostname', {
    text: 'cat /proc/sys/kernel/hostname',
    setting: () => ({ launched: { planted: { hostname: CANARY } } }),
  }),
  // A name that is given later reaches only who shares the names.
  step('utsns', {
    text: 'touch started; until [ -e go ]; do sleep 0.05; done; cat /proc/sys/kernel/hostname',
    also: ['hostname'],
    setting: ({ machine: { work } }) => ({
      launched: { planted: { hostname: 'before', renames: [join(work, 'started'), CANARY, join(work, 'go')] } },
    }),
  }),
  step('cgroupns', {
    text: 'cat /proc/self/cgroup',
    lacks: () => (groupFolder() === undefined ? 'it may make no cgroup' : undefined),
    setting: () => {
      const folder = groupFolder() as string;
      fs.mkdirSync(folder, { recursive: true });
      return { launched: { planted: { cgroup: folder } }, undo: () => fs.rmdirSync(folder) };
    },
  }),
  step('procmask', {
    text: 'cat /proc/cmdline',
    setting: () => ({ secret: read('/proc/cmdline').trim() }),
  }),
  ...eachAlone(['keyring', 'keys'], {
    text: '/opt/tool key',
    setting: () => ({ launched: { planted: { key: CANARY } } }),
  }),
  step('groups', {
    text: 'cat @BASE@/srv/papers',
    root: true,
    setting: ({ machine: { base } }) => ({
      launched: { planted: { group: GROUP } },
      ...file(join(base, 'srv/papers'), (path) => {
        fs.writeFileSync(path, `${CANARY}\n`, { mode: 0o640 });
        fs.chmodSync(path, 0o640);
        fs.chownSync(path, NOBODY, GROUP);
      }),
    }),
  }),
  step('nodev', {
    text: 'echo "@MARK@ was here" > device',
    root: true,
    lacks: () =>
      fs.existsSync('/dev/kmsg') && kernelLog() !== '' ? undefined : 'the log of the kernel is not to be had',
    setting: ({ machine: { work }, mark }) => {
      const before = kernelLog().split(mark).length;
      return {
        ...file(join(work, 'device'), (path) => spawnSync('mknod', ['-m', '666', path, 'c', '1', '11'])),
        after: () => (kernelLog().split(mark).length > before ? 'wrote into the log of the kernel' : undefined),
      };
    },
  }),
  // A harmless one, put back at once.
  ...eachAlone(
    ['unroot', 'procro'],
    {
      text: 'echo 11 > /proc/sys/kernel/printk_ratelimit_burst',
      root: true,
      setting: () => {
        const setting = '/proc/sys/kernel/printk_ratelimit_burst';
        const before = read(setting);
        return {
          after: () => (read(setting) === before ? undefined : 'changed a setting of the kernel'),
          undo: () => read(setting) !== before && fs.writeFileSync(setting, before),
        };
      },
    },
    ['landlock'],
  ),
  step('families', {
    text: '/opt/tool vsock 50013',
    lacks: ({ python }) => (isFree(python, 50_013) ? undefined : 'it has no sockets of such a family'),
    setting: ({ python }) => ({
      begun: async () => (isFree(python, 50_013) ? undefined : 'took a port of the machine'),
    }),
  }),
  step('terminal', {
    text: "/opt/tool type terminal x$'\\n'",
    setting: async ({ machine: { work }, python }) => {
      const at = join(work, 'terminal');
      const server = spawn(python, [join(import.meta.dirname, 'terminal.py'), at], {
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      let said = '';
      const over = once(server, 'close');
      server.stdout.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
      await until(() => said.includes('ready'), 20_000);
      return {
        after: async () => {
          if (server.exitCode === null) server.kill();
          await over;
          return said.includes('typed') ? 'typed into a terminal of the machine' : undefined;
        },
        undo: () => fs.rmSync(at, { force: true }),
      };
    },
  }),
];

function arrived(fd: number): boolean {
  try {
    return fs.readSync(fd, Buffer.alloc(1)) > 0;
  } catch {
    return false;
  }
}

/** Without waiting. */
function canWrite(path: string): boolean {
  try {
    fs.closeSync(fs.openSync(path, fs.constants.O_WRONLY | fs.constants.O_NONBLOCK));
    return true;
  } catch {
    return false;
  }
}

/** Where a cgroup can be made. */
function groupFolder(): string | undefined {
  const found = ['', '/unified', '/pids', '/systemd']
    .map((name) => `/sys/fs/cgroup${name}`)
    .find((folder) => fs.existsSync(`${folder}/cgroup.procs`) && writable(folder));
  return found === undefined ? undefined : `${found}/${CANARY}-${process.pid}`;
}
function writable(folder: string): boolean {
  try {
    fs.accessSync(folder, fs.constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** A port of AF_VSOCK, that no network namespace has for itself. */
const isFree = (python: string, port: number): boolean =>
  spawnSync(python, ['-c', `import socket; socket.socket(40, socket.SOCK_STREAM).bind((0xffffffff, ${port}))`])
    .status === 0;

// ------------------------------------------------------------------------------------------------------------- rights

/** A program outside may hold rights for whoever starts it. */
const withRights = ({ tool, folder, python }: At): Setting => {
  const rights = join(folder, 'rights');
  fs.copyFileSync(tool, rights);
  // VFS_CAP_REVISION_2 and effective; CAP_SYS_ADMIN.
  const value = 'struct.pack("<5I", 0x02000001, 1 << 21, 0, 0, 0)';
  spawnSync(python, ['-c', `import os, struct; os.setxattr("${rights}", "security.capability", ${value})`]);
  return { launched: { trees: { '/opt/rights': rights } } };
};
const REMOUNTS = { text: '/opt/rights remount @BASE@/srv', root: true, setting: withRights } as const;
const OWN_MEMORY = {
  text: '/opt/tool tmpfs unshare @TAKEN@',
  setting: () => ({ launched: { limits: GRANTED }, watch: tookFiles() }),
} as const;

function tookFiles(): () => string | undefined {
  const before = inFiles();
  return () => (inFiles() - before > SURELY ? `took ${SURELY} MiB of memory, and more than was granted` : undefined);
}

const RIGHTS: readonly Row[] = [
  // Rights of a program, and what they would be used for.
  ...eachAlone(['caps', 'nnp', 'nosuid', 'mounts'], REMOUNTS),
  step('seccomp', { ...REMOUNTS, also: ['caps', 'nnp', 'nosuid'] }),
  // A user namespace of one's own, with all the rights in it.
  ...eachAlone(['nouserns', 'namespaces', 'mounts'], OWN_MEMORY),
  step('clone3', { ...OWN_MEMORY, text: '/opt/tool tmpfs clone3 @TAKEN@', also: ['nouserns', 'mounts'] }),
  // The file that stays behind: a program that runs as its owner, whoever starts it.
  step('setid', { text: 'chmod u+s run.sh' }),
  step('seccomp', { text: 'chmod u+s run.sh' }),
  step('openat2', { text: '/opt/tool openat2 new.sh' }),
  step('io_uring', { text: '/opt/tool ring new.sh' }),
  step('compat', {
    text: '/opt/tool int80 run.sh',
    lacks: () => (process.arch === 'x64' ? undefined : 'its processor has no other machine in it'),
  }),
];

// ------------------------------------------------------------------------------------------------------------- limits

const COUNTED = {
  text: 'exec -a @MARK@-job /opt/tool forks 500',
  setting: ({ mark }: At) => ({
    launched: { limits: { processes: PROCESSES } },
    watch: () => (named(`${mark}-job`).length > PROCESSES + 25 ? 'more processes than were granted' : undefined),
  }),
} as const;
const BUSY = {
  text: 'exec -a @MARK@-job /opt/tool busy',
  setting: ({ mark }: At) => ({
    launched: { limits: { cpuMs: 200 } },
    watch: () => (cpuSeconds(`${mark}-job`) > 1.8 ? 'took more time of the processor than was granted' : undefined),
  }),
} as const;

const LIMITS: readonly Row[] = [
  step('tmpsize', {
    text: '/opt/tool fill /tmp/x @TAKEN@',
    setting: () => ({ launched: { limits: { tmpBytes: 4 * MiB } }, watch: tookFiles() }),
  }),
  step('rootro', {
    text: 'mkdir /new && /opt/tool fill /new/x @TAKEN@',
    also: ['tmpsize'],
    setting: () => ({ launched: { limits: GRANTED }, watch: tookFiles() }),
  }),
  step('unowned', {
    text: '/opt/tool fill /tmp/x @TAKEN@',
    also: ['cgroup'],
    setting: () => ({ launched: { limits: { ...GRANTED, tmpBytes: 512 * MiB } }, watch: tookFiles() }),
  }),
  step('memfd', {
    text: '/opt/tool memfd @TAKEN@',
    also: ['cgroup'],
    setting: () => ({ launched: { limits: GRANTED }, watch: tookFiles() }),
  }),
  step('memory', {
    text: 'for i in 1 2 3; do (exec -a @MARK@-job /opt/tool eat 100) & done; wait',
    also: ['cgroup'],
    setting: ({ mark }) => ({
      launched: { limits: GRANTED },
      watch: () => (inMemory(`${mark}-job`) > SURELY ? 'took more memory than was granted' : undefined),
    }),
  }),
  step('data', {
    text: 'exec -a @MARK@-job /opt/tool reserve 5000',
    also: ['memory'],
    setting: ({ mark }) => ({
      launched: { limits: GRANTED },
      watch: () => (reserved(`${mark}-job`) > 4900 ? 'reserved more memory than was granted' : undefined),
    }),
  }),
  step('fsize', {
    text: 'head -c 2000000 /dev/zero > big',
    setting: ({ machine: { work } }) => ({
      launched: { limits: { fileBytes: MiB } },
      after: () =>
        (fs.statSync(join(work, 'big'), { throwIfNoEntry: false })?.size ?? 0) > MiB
          ? 'a larger file than was granted'
          : undefined,
    }),
  }),
  ...eachAlone(['nproc', 'pidmax'], COUNTED, ['cgroup']),
  ...eachAlone(['cpu', 'cpu-each'], BUSY),
  step('sockets', {
    text: 'exec -a @MARK@-job /opt/tool sockets 480',
    also: ['cgroup'],
    setting: ({ mark }) => ({
      launched: { limits: GRANTED },
      // It is ended before it is under way.
      begun: async () => {
        await until(() => named(`${mark}-job`).length === 0, 1_000);
        return named(`${mark}-job`).length > 0 ? 'took more memory than was granted, in sockets' : undefined;
      },
    }),
  }),
  step('cgroup', {
    text: 'for i in 1 2 3; do (exec -a @MARK@-job /opt/tool eat 100) & done; wait',
    also: ['memory'],
    lacks: () => missing('cgroup2'),
    setting: ({ mark }) => ({
      launched: { limits: GRANTED },
      watch: () => (inMemory(`${mark}-job`) > SURELY ? 'took more memory than was granted' : undefined),
    }),
  }),
  step('unwaited', {
    text: '/opt/tool unwaited',
    also: ['cgroup'],
    setting: ({ machine: { work } }) => ({
      launched: { limits: { cpuMs: 500 } },
      after: () => {
        const done = fs.existsSync(join(work, 'done'));
        fs.rmSync(join(work, 'done'), { force: true });
        return done ? 'took more time of the processor than was granted' : undefined;
      },
    }),
  }),
  step('inotify', {
    text: 'exec -a @MARK@-job /opt/tool inotify 60',
    setting: ({ mark }) => ({
      begun: async () =>
        instances(named(`${mark}-job`)[0]) > 8
          ? 'took more inotify instances of its user than were granted'
          : undefined,
    }),
  }),
  step('sigpending', {
    text: 'exec -a @MARK@-job /opt/tool hold',
    setting: ({ mark }) => ({
      begun: async () => {
        const found = /^Max pending signals +(\S+)/m.exec(read(`/proc/${named(`${mark}-job`)[0]}/limits`))?.[1];
        return found !== undefined && (found === 'unlimited' || Number(found) > 4096)
          ? 'may have more signals waiting for its user than were granted'
          : undefined;
      },
    }),
  }),
  step('own-id', {
    text: 'exec -a @MARK@-job /opt/tool hold',
    root: true,
    setting: ({ mark }) => ({
      begun: async () =>
        /^Uid:\s+1999990010\s/m.test(read(`/proc/${named(`${mark}-job`)[0]}/status`))
          ? 'has the id that other jobs have, and takes from what is theirs'
          : undefined,
    }),
  }),
  step('oom', {
    text: 'exec -a @MARK@-job /opt/tool hold',
    setting: ({ mark }) => ({
      begun: async () => {
        const [pid = 0] = named(`${mark}-job`);
        return Number(read(`/proc/${pid}/oom_score_adj`)) < 800 ? 'stands last when memory runs out' : undefined;
      },
    }),
  }),
];

function instances(pid: number | undefined): number {
  const folder = `/proc/${pid}/fd`;
  return fs.readdirSync(folder).filter((fd) => fs.readlinkSync(join(folder, fd)) === 'anon_inode:inotify').length;
}

// ----------------------------------------------------------------------------------------------------------- launching

/** One link of what was granted leads to where everybody may write. */
const THROUGH_A_LINK = {
  text: ':',
  setting: ({ machine: { base, work } }: At): Setting => {
    const open = join(base, 'var/open');
    fs.mkdirSync(open, { recursive: true });
    fs.chmodSync(open, 0o777);
    fs.symlinkSync(open, join(work, 'link'));
    return {
      launched: { grants: { [join(work, 'link/made')]: { path: join(base, 'srv'), writable: false } } },
      after: () => (fs.readdirSync(open).length > 0 ? 'the set-up made a directory outside' : undefined),
      undo: () => fs.rmSync(open, { recursive: true, force: true }),
    };
  },
} as const;

const LAUNCH: readonly Row[] = [
  // The number of the descriptor is given out again, for another directory.
  step('stale', {
    text: 'cat .netrc',
    setting: ({ machine: { home, work } }) => ({ launched: { grants: { [work]: { path: home } }, changed: true } }),
  }),
  // Granted was a program that counts; by now it is one that tells.
  step('program', {
    text: '',
    setting: ({ machine: { base, home } }) => {
      const path = join(base, 'srv/counter');
      const planted = file(path, () => fs.writeFileSync(path, '#!/bin/sh\nwc -c < "$1"\n', { mode: 0o755 }));
      const { dev, ino, size, mtimeNs } = fs.statSync(path, { bigint: true });
      fs.writeFileSync(path, '#!/bin/sh\ncat "$1"\n');
      return {
        launched: {
          grants: { [home]: { path: home, writable: false } },
          program: path,
          args: ['counter', join(home, '.netrc')],
          is: { dev, ino, size, mtimeNs },
        },
        ...planted,
      };
    },
  }),
  ...eachAlone(['beneath', 'strict'], THROUGH_A_LINK),
  // The starter of the job is killed.
  ...eachAlone(['lifeline', 'pdeathsig'], {
    text: 'touch started; exec -a @MARK@-left sleep 1000',
    setting: ({ mark }) => {
      const left = (): readonly number[] => named(`${mark}-left`);
      return {
        begun: async () => {
          await until(() => left().length > 0, 10_000);
          const [pid = 0] = left();
          const first = parentOf(pid);
          const outer = parentOf(first);
          if (!read(`/proc/${outer}/cmdline`).startsWith('hob-sandbox')) throw new Error('who started it is not found');
          end(outer);
          const gone = await until(() => left().length === 0, 3_000);
          if (!gone) end(first);
          return gone ? undefined : 'left a process';
        },
        undo: () => left().forEach(end),
      };
    },
  }),
  step('status', {
    text: `{ echo '{"state":"leader","status":0}'; echo '{"state":"ended","how":"exit","code":0}'; } >&4; exit 9`,
    also: ['close'],
    setting: () => ({
      after: (status) => (status === 0 ? 'its caller was told that it ended with 0, and not with 9' : undefined),
    }),
  }),
];

// ---------------------------------------------------------------------------------------------- no effect outside follows

/** A call that the filter answers otherwise than the kernel does. */
const answered = (name: string, call: string, why: string): Row =>
  step(name, {
    text: `printf '#include <errno.h>\\n#include <stdio.h>\\n#include <sys/syscall.h>\\n#include <unistd.h>\\nint main(void) { syscall(${call}); printf("%%d\\\\n", errno); }\\n' > call.c && cc -o /tmp/call call.c && /tmp/call`,
    as: 'unexplained',
    why,
    everywhere: true,
  });
const LESS = 'without it less works, not more: a benign command fails';
const NOTHING = 'without it no program starts at all, which a run counts under "started"';

const DIFFERENT: readonly Row[] = [
  answered(
    'handles',
    'SYS_name_to_handle_at, -1, "x", 1, 1, 0',
    'the kernel itself opens by handle for none who lacks rights over the whole machine, or only what lies below a mount',
  ),
  answered(
    'peek',
    'SYS_process_vm_readv, 1, 0, 0, 0, 0, 1',
    'no process outside has a number inside; and what it could read there, `ptrace` reads, which is allowed among one’s own',
  ),
  answered(
    'clock',
    'SYS_clock_settime, 9999, 0',
    'the clock belongs to no namespace, and a right over the whole machine sets it; no step left out gives that',
  ),
  answered(
    'kernel',
    'SYS_perf_event_open, 0, 0, 0, 0, 0',
    'each of its calls asks for a right over the whole machine, or is about the caller alone',
  ),
  step('idmap', { text: 'echo x > new', as: 'unexplained', why: LESS, everywhere: true, root: true }),
  step('pipe-owner', {
    text: 'echo x > /dev/stdout && touch new',
    as: 'unexplained',
    why: LESS,
    everywhere: true,
    root: true,
  }),
  ...['userns', 'mntns', 'pidns', 'utsns', 'nnp'].map((name) =>
    step(name, { text: 'true', as: 'not started', why: NOTHING, everywhere: true }),
  ),
];

export const ROWS: readonly Row[] = [...SEEN, ...RIGHTS, ...LIMITS, ...LAUNCH, ...DIFFERENT];
export { TAKEN };
