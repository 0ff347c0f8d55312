/**
 * Finds out what this machine can do, by doing it.
 *
 * Nothing is concluded from settings or versions. `probe` builds a whole world and checks it from inside. It
 * names the first step that fails, with its errno and the remedy, and does not guess about later steps.
 */
import fs from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { CapError } from '@hob/vat';
import { type Failure, remedyFor } from '../errors.ts';
import { delegated } from './cgroup.ts';
import { HOME, openImage, PATH } from './image.ts';
import { sandboxProgram } from './program.ts';
import { startSandbox } from './sandbox.ts';

/**
 * One thing that a sandbox needs from this machine. `errno` and `remedy` say why it is missing and how to
 * get it.
 */
export interface Layer {
  readonly name: string;
  readonly ok: boolean;
  readonly errno?: string;
  readonly remedy?: string;
}

/**
 * The abilities of this machine. `ok` is true if jobs can run here. Later layers are left out after the first
 * that fails.
 */
export interface Probed {
  readonly ok: boolean;
  readonly layers: readonly Layer[];
}

const CGROUP = 'memory, processes and time counted by a cgroup';

/** The layers in the order in which a world is built, with the stages of each. */
const LAYERS: readonly (readonly [name: string, stages: readonly string[]])[] = [
  ['platform', ['platform']],
  ['helper', ['helper']],
  [CGROUP, ['cgroup', 'memory']],
  ['owners of files (idmap)', ['idmap', 'groups', 'stale']],
  ['user namespace', ['userns', 'map', 'ids', 'session', 'pdeathsig', 'dumpable']],
  ['mounts', ['private', 'mount', 'dev', 'tmpfs', 'root', 'devpts', 'mountpoint', 'pin', 'link', 'file', 'pivot']],
  ['fresh /proc', ['proc', 'nouserns']],
  ['network, host name, keyring', ['lo', 'hostname', 'keyring']],
  ['no rights, filter, limits', ['caps', 'nnp', 'landlock', 'seccomp', 'rlimit', 'close']],
];

/** Runs inside, and prints facts about the world. */
const QUESTIONS = `
sed -n 's/^\\(CapBnd\\|CapEff\\|NoNewPrivs\\|Seccomp\\):[[:space:]]*/\\1=/p' /proc/self/status
echo "uid=$(id -u)"
echo "sys=$(sed -n 's#^[^ ]* /proc/sys [^ ]* \\([^,]*\\),.*#\\1#p' /proc/mounts)"
echo "pids=$(cat /proc/sys/kernel/pid_max)"
echo granted > /granted/file && echo "granted=yes"
mkfifo /granted/fifo && if (exec 3<>/seen/fifo) 2> /dev/null; then echo fifo=written; else echo fifo=refused; fi`;
const EXPECTED: Readonly<Record<string, string>> = {
  CapBnd: '0000000000000000',
  CapEff: '0000000000000000',
  NoNewPrivs: '1',
  Seccomp: '2',
  uid: '1000',
  sys: 'ro',
  granted: 'yes',
};
/** The limit of processes here, unlike any default of a machine. */
const PROCESSES = 400;

/**
 * Builds one whole sandbox, looks at it from inside, and removes it. `built` is the sandbox
 * program. Resolves also if the machine can do nothing; rejects only on a bug.
 */
export async function probe(built: string = sandboxProgram()): Promise<Probed> {
  let failure: Failure | undefined;
  let said: ReadonlyMap<string, string> = new Map();
  try {
    said = await look(built);
  } catch (error) {
    if (!(error instanceof CapError)) throw error;
    failure = failureOf(error);
  }
  const layers: Layer[] = [];
  for (const [name, stages] of LAYERS) {
    if (failure !== undefined && stages.includes(failure.stage)) return broken(layers, name, failure);
    // A machine without cgroups gets its row below.
    if (name !== CGROUP || 'dir' in delegated()) layers.push({ name, ok: true });
  }
  if (failure !== undefined) return broken(layers, `a program (${failure.stage})`, failure);
  for (const [name, value] of Object.entries(EXPECTED))
    if (said.get(name) !== value) return broken(layers, `${name} inside`, { stage: 'inside', errno: 'EPROTO' });
  layers.push({ name: 'a program inside', ok: true });
  const ownPids = said.get('pids') === String(PROCESSES + 2);
  layers.push(
    ownPids
      ? { name: 'own limit of process ids', ok: true }
      : // Not needed: RLIMIT_NPROC limits processes too.
        { name: 'own limit of process ids (not needed)', ok: false, errno: 'EACCES', remedy: 'Linux 6.14 or newer' },
  );
  layers.push(
    said.get('fifo') === 'refused'
      ? { name: 'no writing to FIFOs of read-only directories (Landlock)', ok: true }
      : // Everything else works without it. README.md says what stays possible.
        {
          name: 'no writing to FIFOs of read-only directories (not needed)',
          ok: false,
          errno: 'EOPNOTSUPP',
          remedy: 'Linux 5.19 or newer with landlock among its security modules (kernel parameter lsm=landlock,…)',
        },
  );
  const place = delegated();
  if ('why' in place)
    // The other limits work without it. README.md says what they do not count.
    layers.push({ name: `${CGROUP} (not needed)`, ok: false, errno: 'EOPNOTSUPP', remedy: place.why });
  return { ok: true, layers };
}

function broken(before: readonly Layer[], name: string, { stage, errno }: Failure): Probed {
  return { ok: false, layers: [...before, { name, ok: false, errno, remedy: remedyFor(stage, errno) }] };
}

async function look(built: string): Promise<ReadonlyMap<string, string>> {
  const folder = fs.mkdtempSync(join(os.tmpdir(), 'hob-probe-'));
  const image = openImage();
  const fd = fs.openSync(folder, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
  const { dev, ino } = fs.fstatSync(fd, { bigint: true });
  try {
    const job = startSandbox(
      {
        ...image,
        mounts: [
          ...image.mounts,
          { fd, dev, ino, at: '/granted', writable: true, system: false },
          { fd, dev, ino, at: '/seen', writable: false, system: false },
        ],
        program: '/bin/sh',
        args: ['sh', '-c', QUESTIONS],
        env: { PATH, HOME },
        cwd: '/',
        limits: {
          memoryBytes: 2 ** 30,
          cpuMs: 30_000,
          processes: PROCESSES,
          fileBytes: 2 ** 20,
          tmpBytes: 2 ** 20,
          shmBytes: 2 ** 20,
          openFiles: 256,
        },
        input: false,
        linger: false,
        channel: false,
      },
      { built },
    );
    job.stderr.resume();
    let text = '';
    job.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    await job.closed;
    await job.ended;
    return new Map(
      text.split('\n').flatMap((line) => (line.includes('=') ? [line.split('=', 2) as [string, string]] : [])),
    );
  } finally {
    fs.closeSync(fd);
    image.close();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** Reads stage and errno back from the text of the error: `(stage: ERRNO)`. */
function failureOf(error: CapError): Failure {
  const [, stage = 'inside', errno = 'EIO'] = /\(([\w-]+): (\w+)\)/.exec(error.message) ?? [];
  return { stage, errno };
}
