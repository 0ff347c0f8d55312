/**
 * `npm run attack:shell -- --vm`: runs the tests of `cgroup.test.ts` in a virtual machine, where cgroup v2 is
 * delegated.
 *
 * It exits 0 only if all of them ran there and passed, as root and as an ordinary user. It is for machines
 * whose memory controller belongs to cgroup v1, or that delegate nothing. It writes only to a temporary
 * folder of this machine.
 *
 * Needs x64, and on Debian: apt install qemu-system-x86 linux-image-cloud-amd64 busybox-static (and
 * e2fsprogs, cpio).
 */
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { builds } from '../test/builds.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const TEST = 'packages/caps-shell/src/cgroup.test.ts';
const USER = 54_321;
/** Programs for the world of the job and for the test. `cc` only says its version: everything is built before. */
const PROGRAMS = ['bash', 'sh', 'cat', 'cc', 'cp', 'head', 'id', 'ls', 'mkdir', 'mkfifo', 'mount', 'rm', 'sed', 'seq'];
const MORE = ['setpriv', 'sleep', 'true', 'unshare'];
const MODULES = ['virtio_ring', 'virtio', 'virtio_pci_legacy_dev', 'virtio_pci_modern_dev', 'virtio_pci', 'virtio_blk'];

/** Before there is a disk: busybox, and what the kernel needs to find the disk. */
const FIRST = `#!/bin/busybox sh
/bin/busybox mkdir -p /dev /new
/bin/busybox mount -t devtmpfs dev /dev
for m in ${MODULES.join(' ')}; do [ -e /$m.ko ] && /bin/busybox insmod /$m.ko; done
/bin/busybox mount -t ext4 /dev/vda /new
exec /bin/busybox switch_root /new /run.sh
`;
/** The words with which a shell moves into a subgroup of the cgroup that was given to it, as the page for operators has them. */
function moved(): string {
  const page = readFileSync(join(ROOT, 'docs', 'deployment.md'), 'utf8');
  const words = /^ExecStart=\/bin\/sh -c '(.*)' sh /m.exec(page)?.[1];
  if (words === undefined) throw new Error('docs/deployment.md has no line that moves into a subgroup');
  return words.replaceAll('$$', '$');
}

/** As root the host is in the root of the tree; as a user in a subgroup of what was given to that user. */
const THEN = `#!/bin/bash
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
busybox chmod 1777 /tmp; busybox chmod 777 /repo/node_modules
mount -t cgroup2 none /sys/fs/cgroup
echo "hob-vm: controllers $(cat /sys/fs/cgroup/cgroup.controllers)"
cd /repo
export HOB_REQUIRE=linux,cc,userns,cgroup2 NO_COLOR=1 CI=1 HOME=/tmp PATH=/usr/bin
run() { "$@" node --no-warnings node_modules/vitest/vitest.mjs run --reporter=verbose ${TEST}; }
run; root=$?
cd /sys/fs/cgroup; echo '+memory +pids' > cgroup.subtree_control
mkdir given; for f in . cgroup.procs cgroup.subtree_control; do busybox chown ${USER}:${USER} given/$f; done
cd /repo; rm -rf node_modules/.vite* /tmp/*; busybox chown -R ${USER} packages/caps-shell/build; echo 0 > /sys/fs/cgroup/given/cgroup.procs
run setpriv --reuid ${USER} --regid ${USER} --clear-groups sh -c '${moved()}' sh; user=$?
echo "hob-vm: root $root user $user"
busybox poweroff -f
`;

export function runInVm(say: (text: string) => void): boolean {
  const kernel = newestKernel();
  builds().without('cgroup');
  const folder = mkdtempSync(join(tmpdir(), 'hob-vm-'));
  try {
    const first = makeFirst(join(folder, 'first'), kernel);
    const disk = makeDisk(join(folder, 'disk'));
    // No acceleration: it works everywhere, and is fast enough.
    const machine = [
      '-accel',
      'tcg,thread=multi',
      '-m',
      '2048',
      '-smp',
      '2',
      '-nographic',
      '-no-reboot',
      '-nic',
      'none',
    ];
    const boot = ['-kernel', join('/boot', `vmlinuz-${kernel}`), '-initrd', first];
    const append = 'console=ttyS0 quiet panic=-1 cgroup_no_v1=all lsm=landlock';
    const said = run('qemu-system-x86_64', [
      ...[...machine, ...boot, '-append', append],
      ...['-drive', `file=${disk},format=raw,if=virtio,snapshot=on`],
    ]);
    say(said.slice(Math.max(0, said.indexOf('hob-vm:'))));
    return said.includes('hob-vm: root 0 user 0');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function newestKernel(): string {
  const found = readdirSync('/boot').filter((name) => /^vmlinuz-.*amd64$/.test(name));
  const name = found.sort().at(-1);
  if (process.arch !== 'x64' || name === undefined || !existsSync('/bin/busybox'))
    throw new Error('install a kernel to boot: apt install qemu-system-x86 linux-image-cloud-amd64 busybox-static');
  return name.slice('vmlinuz-'.length);
}

function makeFirst(folder: string, kernel: string): string {
  mkdirSync(join(folder, 'bin'), { recursive: true });
  copyFileSync('/bin/busybox', join(folder, 'bin', 'busybox'));
  writeFileSync(join(folder, 'init'), FIRST, { mode: 0o755 });
  const drivers = join('/lib/modules', kernel, 'kernel', 'drivers');
  for (const name of MODULES)
    for (const at of ['virtio', 'block'])
      if (existsSync(join(drivers, at, `${name}.ko`)))
        copyFileSync(join(drivers, at, `${name}.ko`), join(folder, `${name}.ko`));
  run('sh', ['-c', `cd ${folder} && find . | cpio -o -H newc --quiet > ${folder}.cpio`]);
  return `${folder}.cpio`;
}

/** A machine as small as the test allows: this checkout, Node, and a few programs with their libraries. */
function makeDisk(folder: string): string {
  for (const name of ['usr/bin', 'usr/lib', 'usr/lib64', 'proc', 'sys', 'dev', 'tmp', 'etc', 'repo'])
    mkdirSync(join(folder, name), { recursive: true });
  for (const name of ['bin', 'lib', 'lib64']) symlinkSync(`usr/${name}`, join(folder, name));
  writeFileSync(join(folder, 'run.sh'), THEN, { mode: 0o755 });
  for (const name of [
    'packages',
    'test',
    'scripts',
    'node_modules',
    'package.json',
    'vitest.config.ts',
    'tsconfig.json',
  ])
    cpSync(join(ROOT, name), join(folder, 'repo', name), { recursive: true, verbatimSymlinks: true });
  copyFileSync('/bin/busybox', join(folder, 'usr', 'bin', 'busybox'));
  addProgram(folder, 'node', process.execPath);
  for (const name of [...PROGRAMS, ...MORE]) addProgram(folder, name, `/usr/bin/${name}`);
  // The files that vitest loads and that are not JavaScript.
  const native = run('find', [join(folder, 'repo', 'node_modules'), '-name', '*.node'])
    .trim()
    .split('\n');
  for (const path of native.filter(Boolean)) addLibraries(folder, path);
  const disk = `${folder}.ext4`;
  run('truncate', ['-s', '1500M', disk]);
  run('/sbin/mkfs.ext4', ['-q', '-E', 'root_owner=0:0', '-d', folder, disk]);
  return disk;
}

function addProgram(folder: string, name: string, path: string): void {
  copyFileSync(path, join(folder, 'usr', 'bin', name));
  addLibraries(folder, path);
}

function addLibraries(folder: string, path: string): void {
  for (const [, library = ''] of run('sh', ['-c', `ldd ${path} || true`]).matchAll(/(\/\S+) \(0x/g)) {
    const to = join(folder, library.startsWith('/usr/') ? library : `/usr${library}`);
    mkdirSync(dirname(to), { recursive: true });
    copyFileSync(library, to);
  }
}

function run(command: string, args: readonly string[]): string {
  const done = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (done.status !== 0)
    throw new Error(
      `${command}: ${done.error?.message ?? done.stderr} (apt install qemu-system-x86 busybox-static cpio)`,
    );
  return done.stdout;
}
