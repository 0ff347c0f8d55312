/**
 * The native parts as `npm run native` builds them: the same bytes everywhere, small in memory, and for arm64 too.
 *
 * qemu-user runs single programs and has no namespaces and no seccomp. So of the arm64 program this shows that it starts,
 * reads a request, and refuses when it cannot confine. Whole worlds on arm64 are not tested here.
 */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { expect, onTestFinished } from 'vitest';
import { openImage } from '../packages/caps-shell/src/drivers/image.ts';
import { startSandbox } from '../packages/caps-shell/src/drivers/sandbox.ts';
import { encodeSpec, type SandboxSpec } from '../packages/caps-shell/src/sandbox-spec.ts';
import { build, type Checksums, checksumsOf, differences, PARTS, type Part } from '../scripts/native/build.ts';
import { zigProgram } from '../scripts/zig.mjs';
import { requires } from './needs.ts';
import { QEMU } from './probes.ts';
import { ROOT } from './sources.ts';

const [SANDBOX, FSCAP] = PARTS as readonly [Part, Part];

function emptyFolder(): string {
  const folder = fs.mkdtempSync(join(tmpdir(), 'hob-native-build-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  return folder;
}

/** Builds in a folder of this test. In a clean checkout the compiler first builds its C library, which takes minutes. */
async function built(part: Part): Promise<{ readonly into: string; readonly checksums: Checksums }> {
  const into = emptyFolder();
  const cache = join(ROOT, '.toolchain', 'zig-cache');
  return { into, checksums: await build(part, { zig: zigProgram().zig as string, into, cache }) };
}

requires('zig')(
  'a build in another folder gives the bytes whose checksums are in the repository',
  async () => {
    for (const part of PARTS) expect((await built(part)).checksums).toEqual(checksumsOf(part));
  },
  900_000,
);

requires('zig')(
  'a build that differs from the checksums is refused by name, and so are sources that changed',
  async () => {
    const { checksums } = await built(SANDBOX);
    expect(differences(SANDBOX, checksums)).toEqual([]);
    const other = { ...checksums, files: { ...checksums.files, 'linux-arm64': 'x' } };
    expect(differences(SANDBOX, other)).toEqual([expect.stringContaining('linux-arm64/hob-sandbox has other bytes')]);
    expect(differences(SANDBOX, { ...checksums, sources: 'x' })).toEqual([expect.stringContaining('npm run native')]);
  },
);

const WORLD: Omit<SandboxSpec, 'mounts' | 'links' | 'files'> = {
  program: '/bin/sh',
  args: ['sh', '-c', 'echo up; read line'],
  env: {},
  cwd: '/',
  limits: {
    memoryBytes: 2 ** 28,
    cpuMs: 60_000,
    processes: 16,
    fileBytes: 2 ** 20,
    tmpBytes: 2 ** 20,
    shmBytes: 2 ** 20,
    openFiles: 64,
  },
  input: true,
  linger: false,
  channel: false,
};

/** Memory of a process in KiB: its own, and its share of what it has in common with others. */
function pssOf(pid: number): number {
  const [, kib] = /^Pss:\s+(\d+) kB$/m.exec(fs.readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? [];
  return Number(kib);
}

requires(
  'userns',
  'zig',
  'root',
)('each process of the sandbox program takes at most 0.5 MB while a job runs', async () => {
  const { into, checksums } = await built(SANDBOX);
  const platform = `linux-${process.arch}` as keyof Checksums['files'];
  const file = join(into, platform, 'hob-sandbox');
  fs.writeFileSync(`${file}.json`, JSON.stringify({ binary: checksums.files[platform] }));
  const image = openImage();
  const job = startSandbox({ ...WORLD, ...image }, { built: file });
  try {
    job.stderr.resume();
    await new Promise((up) => job.stdout.once('data', up));
    const { pid } = await job.started;
    const [, outer] = /^PPid:\t(\d+)$/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    const kib = { outer: pssOf(Number(outer)), 'pid 1': pssOf(pid) };
    console.log(`memory of the sandbox program (PSS, KiB): ${JSON.stringify(kib)}`);
    expect(Math.max(...Object.values(kib))).toBeLessThanOrEqual(512);
  } finally {
    job.signal(9);
    await job.closed;
    image.close();
  }
});

/** Runs the arm64 program with a request; returns its status lines and what the job printed. */
async function onArm64(
  program: string,
  request: Uint8Array,
): Promise<{ readonly status: string; readonly stdout: string }> {
  const child = spawn(QEMU, [program], { stdio: ['ignore', 'pipe', 'inherit', 'pipe', 'pipe', 'pipe'] });
  const [, stdout, , spec, status] = child.stdio as unknown as [null, Readable, null, Writable, Readable];
  const said = { status: '', stdout: '' };
  status.on('data', (text) => (said.status += text));
  stdout.on('data', (text) => (said.stdout += text));
  spec.on('error', () => {});
  spec.end(request);
  await new Promise((done) => child.once('close', done));
  return said;
}

requires('zig', 'qemu')('the arm64 program reads a request, and where it cannot confine nothing runs', async () => {
  const { into } = await built(SANDBOX);
  const program = join(into, 'linux-arm64', 'hob-sandbox');
  const refused = { status: '{"state":"failed","stage":"spec","errno":22}\n', stdout: '' };
  expect(await onArm64(program, Buffer.from('hob-sandbox/9\0end\0'))).toEqual(refused);
  const request = encodeSpec({ ...WORLD, mounts: [], links: {}, files: {}, input: false }, [], {});
  expect(await onArm64(program, request.subarray(0, -1))).toEqual(refused);
  const { status, stdout } = await onArm64(program, request);
  // Its request is understood. The emulator has no namespaces.
  expect(status).toMatch(/^\{"state":"failed","stage":"(?!spec)\w+","errno":\d+\}\n$/);
  expect(stdout).toBe('');
});

requires('zig')('the C part of directories names no C library and no symbol that glibc or musl lacks', async () => {
  const { into } = await built(FSCAP);
  for (const platform of ['linux-x64', 'linux-arm64']) {
    const text = fs.readFileSync(join(into, platform, 'fscap.node'), 'latin1');
    expect(text).not.toMatch(/libc\.so|libc\.musl|ld-linux|GLIBC_/);
    const symbols = (/\0((?:[a-zA-Z_]\w*\0){8,})/.exec(text)?.[1] ?? '').split('\0').filter((name) => name !== '');
    const others = symbols.filter((name) => !/^(?:napi|node_api)_/.test(name)).sort();
    expect(others.filter((name) => !IN_BOTH.has(name))).toEqual([]);
    expect(others.length).toBeGreaterThan(5);
  }
});

/** Symbols of POSIX, or as old as Linux: in every glibc and musl that Node runs on, with the same meaning of all arguments. */
const IN_BOTH: ReadonlySet<string> = new Set(
  '__errno_location calloc close fchmod free fstatfs fsync malloc memchr memcpy memmem memmove memset pread realloc snprintf strcmp strlen syscall unlinkat write'.split(
    ' ',
  ),
);
