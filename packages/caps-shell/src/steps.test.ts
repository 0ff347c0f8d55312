/**
 * Each step of the sandbox is needed: an attack that fails in the full build succeeds in a build without the
 * step.
 *
 * A row is a step, a program that prints WON if it got past the step, and the other steps that would stop it
 * anyway (`also`). Both builds that are compared skip those. As root and as an ordinary user.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { needs, requires } from '../../../test/needs.ts';
import { type Starter, starter, USER } from '../test/as.ts';
import { type Builds, builds } from '../test/builds.ts';
import type { Options } from '../test/world.ts';

const EPERM = '1';
const ENOSYS = '38';
const KEY = 4711;

interface Row {
  readonly step: string;
  /** The other steps that would stop it. */
  readonly also?: readonly string[];
  /** Its output if it succeeds. */
  readonly text: string;
  readonly options?: Options;
  /** Without the step nothing runs at all. */
  readonly refuses?: true;
  readonly only?: 'root';
  /** The granted directory is another by now. */
  readonly changed?: true;
}

/** A call for which the kernel returns another errno than the filter. This errno is the filter's. */
const filtered = (step: string, call: string, errno: string = EPERM): Row => ({
  step,
  text: `[ "$(tool call ${call})" = ${errno} ] || echo WON`,
});
const num = (x86: number, arm: number): number => (process.arch === 'arm64' ? arm : x86);

const ROWS: readonly Row[] = [
  // Namespaces. Without some the others cannot be used, and nothing runs.
  { step: 'userns', text: 'echo WON', refuses: true },
  { step: 'mntns', text: 'echo WON', refuses: true },
  { step: 'pidns', text: 'echo WON', refuses: true },
  { step: 'utsns', text: 'echo WON', refuses: true },
  { step: 'netns', text: '(exec 3<>/dev/tcp/127.0.0.1/$PORT) 2>/dev/null && echo WON' },
  { step: 'ipcns', text: `tool shm-get ${KEY} | sed s/HOB-CANARY/WON/` },
  { step: 'cgroupns', text: '[ "$(readlink /proc/self/ns/cgroup)" = "$CGROUP" ] && echo WON' },
  { step: 'hostname', text: '[ "$(hostname)" = hob ] || echo WON' },
  // Identity.
  {
    step: 'unroot',
    also: ['procro', 'landlock'],
    only: 'root',
    text: 'f=/proc/sys/kernel/core_pattern; read -r x < $f; echo "$x" > $f && echo WON',
  },
  { step: 'idmap', only: 'root', text: 'echo x > /ws/new || echo WON' },
  {
    step: 'groups',
    only: 'root',
    text: '[ -z "$(sed -n "s/^Groups:[[:space:]]*//p" /proc/self/status)" ] || echo WON',
  },
  { step: 'pipe-owner', only: 'root', text: 'echo x > /dev/stdout || echo WON' },
  { step: 'dumpable', text: 'ls /proc/1/fd >/dev/null 2>&1 && echo WON' },
  { step: 'caps', text: 'grep -q "CapBnd:.*0000000000000000" /proc/self/status || echo WON' },
  { step: 'nnp', also: ['caps'], text: 'grep -q "NoNewPrivs:.*1" /proc/self/status || echo WON' },
  { step: 'nnp', text: 'echo WON', refuses: true },
  { step: 'keyring', also: ['keys'], text: 'tool key && echo WON' },
  { step: 'keys', also: ['keyring'], text: 'tool key && echo WON' },
  { step: 'oom', text: '[ "$(cat /proc/self/oom_score_adj)" = 800 ] || echo WON' },
  // Possessions.
  {
    step: 'close',
    text: 'for n in 6 7 8 9 1{0..9} 2{0..9}; do cat /proc/self/fd/$n/../secret 2>/dev/null; done | sed s/HOB-CANARY/WON/',
  },
  { step: 'status', also: ['close'], text: `{ echo '{"state":"leader","status":0}' >&4; } && echo WON` },
  // Views.
  {
    step: 'covered',
    only: 'root',
    options: { grants: { '/over': { path: 'over' } } },
    text: 'sed s/HOB-CANARY/WON/ /over/in/secret',
  },
  { step: 'readonly', also: ['landlock'], text: 'echo x 2>/dev/null > /ro/new && echo WON' },
  { step: 'nosuid', text: 'grep " /ws " /proc/mounts | grep -q nosuid || echo WON' },
  { step: 'nodev', text: 'grep " /ws " /proc/mounts | grep -q nodev || echo WON' },
  { step: 'nodev', only: 'root', text: 'head -c 1 /ws/device >/dev/null && echo WON' },
  { step: 'landlock', text: '(exec 3<>/ro/fifo && echo x >&3) && echo WON' },
  { step: 'landlock', also: ['oom'], text: 'echo 0 > /proc/self/oom_score_adj && echo WON' },
  { step: 'rootro', text: 'mkdir /new 2>/dev/null && echo WON' },
  { step: 'detach', text: '[ -e "/..$FOLDER/secret" ] && echo WON' },
  {
    step: 'procro',
    also: ['unroot', 'landlock'],
    only: 'root',
    text: 'f=/proc/sys/kernel/core_pattern; read -r x < $f; echo "$x" > $f && echo WON',
  },
  { step: 'procro', text: 'grep " /proc/sys " /proc/mounts | grep -q " ro," || echo WON' },
  { step: 'procmask', text: '[ -z "$(cat /proc/cmdline)" ] || echo WON' },
  { step: 'nouserns', also: ['namespaces'], text: 'unshare -U true && echo WON' },
  { step: 'namespaces', also: ['nouserns'], text: 'unshare -U true && echo WON' },
  // The filter. Every number of both machines: filter.test.ts.
  { step: 'seccomp', text: 'grep -q "Seccomp:.*2" /proc/self/status || echo WON' },
  filtered('mounts', `${num(165, 40)} 1 1 1 0 1`),
  filtered('mounts', '430 s:tmpfs 0', ENOSYS),
  filtered('namespaces', `${num(308, 268)} -1 0`),
  filtered('kernel', `${num(298, 241)} 0 0 0 0 0`),
  filtered('handles', `${num(303, 264)} -1 s:x 1 1 0`),
  filtered('peek', `${num(310, 270)} 1 0 0 0 0 1`),
  filtered('clock', `${num(227, 112)} 9999 0`),
  filtered('clone3', '435 0 0', ENOSYS),
  filtered('openat2', '437 -1 s:x 0 0', ENOSYS),
  filtered('io_uring', '425 0 0', ENOSYS),
  filtered('memfd', `${num(319, 279)} s:x 0`, ENOSYS),
  filtered('terminal', `${num(16, 29)} 0 0x5412 s:x`),
  filtered('families', `${num(41, 198)} 17 3 0`, '97'),
  // AF_PACKET, AF_VSOCK and AF_XDP: the kernel makes both sockets before it finds that they cannot be a pair.
  ...[17, 40, 44].map((family) => filtered('families', `${num(53, 199)} ${family} 3 0 s:${'x'.repeat(8)}`, '97')),
  { step: 'lease', text: `exec 3</ro/file; case "$(tool call ${num(72, 25)} 3 1024 0)" in ok*) echo WON;; esac` },
  { step: 'setid', text: 'rm -f /ws/f; touch /ws/f; chmod u+s /ws/f 2>/dev/null && echo WON' },
  { step: 'setid', text: 'rm -f /ws/f; touch /ws/f; chmod g+s /ws/f 2>/dev/null; [ -g /ws/f ] && echo WON' },
  ...(process.arch === 'x64' ? [{ step: 'compat', text: 'case "$(tool int80 20)" in ok*) echo WON;; esac' }] : []),
  // Limits.
  {
    step: 'tmpsize',
    options: { limits: { tmpBytes: 4 << 20 } },
    text: 'head -c 8000000 /dev/zero > /tmp/x && echo WON',
  },
  {
    step: 'fsize',
    options: { limits: { fileBytes: 1 << 20 } },
    text: 'head -c 2000000 /dev/zero > /ws/big; [ "$(stat -c %s /ws/big)" = 2000000 ] && echo WON; rm -f /ws/big',
  },
  {
    step: 'nproc',
    also: ['pidmax', 'cgroup'],
    options: { limits: { processes: 20 } },
    text: '[ "$(tool forks 60 1)" = 60 ] && echo WON',
  },
  {
    step: 'pidmax',
    also: ['nproc', 'cgroup'],
    options: { limits: { processes: 20 } },
    text: '[ "$(tool forks 400 2)" = 400 ] && echo WON',
  },
  { step: 'inotify', text: '[ "$(tool inotify 20 0)" -gt 8 ] && echo WON' },
  { step: 'sigpending', text: '[ "$(ulimit -i)" = 4096 ] || echo WON' },
  {
    step: 'data',
    also: ['memory'],
    options: { limits: { memoryBytes: 64 << 20 } },
    text: 'tool reserve 5000 && echo WON',
  },
  {
    step: 'memory',
    also: ['cgroup'],
    options: { limits: { memoryBytes: 96 << 20 } },
    text: 'for i in 1 2 3; do tool eat 50 1 & done; wait; echo WON',
  },
  {
    step: 'unowned',
    also: ['cgroup'],
    options: { limits: { memoryBytes: 96 << 20 } },
    text: 'head -c 200M /dev/zero > /tmp/x; sleep 0.3; echo WON',
  },
  // 480 times the 208 KiB that a socket may have waiting.
  ...['', 'closed'].map((how) => ({
    step: 'sockets',
    also: ['cgroup'],
    options: { limits: { memoryBytes: 64 << 20 } },
    text: `for i in 1 2 3 4; do tool sockets 120 ${how} & done; wait; echo WON`,
  })),
  {
    step: 'cpu',
    also: ['cpu-each'],
    options: { limits: { cpuMs: 200 } },
    text: 'tool burn 800; echo WON',
  },
  {
    step: 'cpu-each',
    also: ['cpu'],
    options: { limits: { cpuMs: 200 } },
    text: 'tool burn 1500 && echo WON',
  },
  { step: 'unwaited', also: ['cgroup'], options: { limits: { cpuMs: 500 } }, text: 'tool unwaited 16 150 && echo WON' },
  // Mount points: nothing is made in a granted directory, and no link there is followed.
  { step: 'beneath', options: { grants: { '/ws/made': { path: '' } } }, text: 'echo WON' },
  { step: 'strict', options: { grants: { '/ws/link/in': { path: '' } } }, text: 'echo WON' },
  { step: 'stale', text: 'echo WON', changed: true },
  // A directory between two mounts cannot be moved away; a mount covers what it was told to cover, or nothing
  // runs.
  {
    step: 'pin',
    options: { grants: { '/ws/real/in': { path: '' } } },
    text: 'mv /ws/real /ws/gone && echo WON; mv /ws/gone /ws/real',
  },
  { step: 'covers', options: { grants: { '/ws/real/in': { path: '', covers: { dev: 1n, ino: 1n } } } }, text: 'echo WON' }, // biome-ignore format: one line
  { step: 'program', text: 'echo WON', options: { is: { dev: 1n, ino: 1n, size: 1n, mtimeNs: 1n } } },
];

const test = requires('linux', 'cc', 'userns', 'unprivileged', 'mkfifo');
const asRoot = needs('root') ? (['root', 'user'] as const) : (['user'] as const);

/** Each row also runs in a program that was started ahead, because that takes some steps in another order. */
const ways = asRoot.flatMap((name) => [[name, 'started for it'] as const, [name, 'started ahead'] as const]);

describe.each(ways)('as %s, %s', (name, way) => {
  let all: Builds;
  let who: Starter;
  let folder: string;
  let port = 0;
  const server = createServer((socket) => socket.destroy());

  test.beforeAll(async () => {
    all = builds();
    folder = mkdtempSync(join(tmpdir(), 'hob-steps-'));
    for (const each of ['ws', 'ro', 'ws/real', 'ws/real/in', 'over', 'over/in']) mkdirSync(join(folder, each));
    for (const each of ['secret', 'over/in/secret', 'ro/file']) writeFileSync(join(folder, each), 'HOB-CANARY\n');
    spawnSync('mkfifo', ['-m', '666', join(folder, 'ro', 'fifo')]);
    symlinkSync('real', join(folder, 'ws', 'link'));
    if (needs('root')) {
      spawnSync('mknod', ['-m', '666', join(folder, 'ws', 'device'), 'c', '1', '5']);
      const id = name === 'root' ? 0 : USER;
      spawnSync('mount', ['-t', 'tmpfs', 'none', join(folder, 'over', 'in')]);
      for (const each of ['ws', 'ro', 'ws/real', 'ws/real/in', 'ro/file']) chownSync(join(folder, each), id, id);
    }
    chmodSync(folder, 0o755);
    spawnSync(all.tool, ['shm-put', String(KEY)]);
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    port = (server.address() as { port: number }).port;
    who = await starter(name, all.tool);
  });
  test.afterAll(async () => {
    await who?.close();
    await new Promise((done) => server.close(done));
    spawnSync(all.tool, ['shm-remove', String(KEY)]);
    if (needs('root')) spawnSync('umount', ['-l', join(folder, 'over', 'in')]);
    rmSync(folder, { recursive: true, force: true });
  });

  const outcome = async (row: Row, built: string): Promise<'won' | 'held' | 'refused'> => {
    const ws = { path: join(folder, 'ws') };
    const { grants, ...options } = row.options ?? {};
    const more = Object.entries(grants ?? {}).map(([at, grant]) => [
      at,
      { ...grant, path: join(folder, grant.path || 'ro') },
    ]);
    const world: Options = {
      ...options,
      built,
      ahead: way === 'started ahead',
      changed: row.changed ?? false,
      grants: { '/ws': ws, '/ro': { path: join(folder, 'ro'), writable: false }, ...Object.fromEntries(more) },
      trees: { '/opt/tool': all.tool },
      env: {
        PORT: String(port),
        FOLDER: folder,
        CGROUP: spawnSync('readlink', ['/proc/self/ns/cgroup'], { encoding: 'utf8' }).stdout.trim(),
      },
    };
    try {
      const { stdout } = await who.run(`tool() { /opt/tool "$@"; }; { ${row.text}\n} 2>/dev/null`, world);
      return stdout.includes('WON') ? 'won' : 'held';
    } catch {
      return 'refused';
    }
  };

  for (const [i, row] of ROWS.entries()) {
    if (row.only === 'root' && name !== 'root') continue;
    const also = row.also ?? [];
    test(`${i} ${row.step}${also.length > 0 ? `, where ${also.join(' and ')} would hold it` : ''}`, async () => {
      // First as it should be: a mutant may leave something behind.
      const whole = await outcome(row, also.length > 0 ? all.without(...also) : all.sandbox);
      // The sandbox with every step, as users have it, is attacked in one of the two ways to start.
      if (also.length > 0 && way === 'started ahead') expect(await outcome(row, all.sandbox)).not.toBe('won');
      const mutant = await outcome(row, all.without(row.step, ...also));
      if (row.refuses) {
        expect(mutant).toBe('refused');
        return;
      }
      expect({ mutant, whole: whole === 'won' }).toEqual({ mutant: 'won', whole: false });
    });
  }
});
