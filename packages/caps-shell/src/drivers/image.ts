/**
 * The system image: the programs of this machine, read-only, and the few files of /etc that programs need.
 *
 * Nothing else of the host is in it: no home, /etc/shadow, host names, mail, sockets, /sys or /run. Every
 * part is taken by descriptor, so the files that were checked are those that are mounted. The caller closes
 * the image.
 */
import fs from 'node:fs';
import type { Mount, SandboxSpec } from '../sandbox-spec.ts';

interface Image extends Pick<SandboxSpec, 'mounts' | 'links' | 'files'> {
  /** Closes the descriptors of `mounts`. Call it after the start. */
  close(): void;
}

const O_PATH = 0o10000000;

/** Directories of programs. On most machines all except /usr are links into it. */
const PROGRAMS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
const SETTINGS = [
  '/etc/alternatives',
  '/etc/ssl/certs',
  '/etc/ssl/openssl.cnf',
  '/etc/pki',
  '/etc/ld.so.cache',
  '/etc/localtime',
];
/** The path inside of the node that runs this process. */
export const NODE = '/opt/hob/bin/node';
export const PATH = '/opt/hob/bin:/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin';
export const HOME = '/tmp/home';

const FILES: Readonly<Record<string, string>> = {
  '/etc/passwd': `hob:x:1000:1000:hob:${HOME}:/bin/bash\nnobody:x:65534:65534:nobody:/:/bin/false\n`,
  '/etc/group': 'hob:x:1000:\nnogroup:x:65534:\n',
  '/etc/hosts': '127.0.0.1 localhost hob\n::1 localhost\n',
  '/etc/hostname': 'hob\n',
  '/etc/resolv.conf': '',
  '/etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
};

/** Directories of this machine as mounts of the system, by their paths inside. Dispose of them after the start. */
export function openTrees(trees: Readonly<Record<string, string>>): Pick<Image, 'mounts'> & Disposable {
  const mounts: Mount[] = [];
  const close = (): void => {
    for (const { fd } of mounts) fs.closeSync(fd);
  };
  try {
    for (const [at, path] of Object.entries(trees)) mounts.push(systemMount(at, path));
  } catch (error) {
    close();
    throw error;
  }
  return { mounts, [Symbol.dispose]: close };
}

function systemMount(at: string, path: string): Mount {
  const fd = fs.openSync(path, O_PATH);
  const { dev, ino } = fs.fstatSync(fd, { bigint: true });
  return { fd, dev, ino, at, writable: false, system: true };
}

/** `trees` are more directories of this machine, by their path inside. */
export function openImage(trees: Readonly<Record<string, string>> = {}): Image {
  const mounts: Mount[] = [];
  const links: Record<string, string> = {};
  const close = (): void => {
    for (const { fd } of mounts) fs.closeSync(fd);
  };
  const add = (at: string, path: string): void => void mounts.push(systemMount(at, path));
  try {
    for (const path of [...PROGRAMS, ...SETTINGS]) {
      const found = fs.lstatSync(path, { throwIfNoEntry: false });
      if (found === undefined) continue;
      if (found.isSymbolicLink()) links[path] = fs.readlinkSync(path);
      else add(path, path);
    }
    add(NODE, process.execPath);
    for (const [at, path] of Object.entries(trees)) add(at, path);
  } catch (error) {
    close();
    throw error;
  }
  return { mounts, links, files: FILES, close };
}
