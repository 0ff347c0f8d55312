/** The mechanisms of `caps-fs`, each with the source text that leaves it out: see `mutant.ts`. */
import type { Mutant } from './mutant.ts';

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'fs-mount-terms',
    breaks: 'a directory with except, a quota or a choice of operations is mounted all the same',
    file: 'packages/caps-fs/src/mountable.ts',
    find: 'const rights = rightsOf(place.terms);',
    replace: "const rights = rightsOf(place.terms) ?? 'rw';",
    tests: ['packages/caps-fs/src/mountable.test.ts'],
  },
  {
    name: 'fs-mount-hold',
    breaks: 'a cap is closed before whoever mounted it has let go',
    file: 'packages/caps-fs/src/mountable.ts',
    find: '  life.enter();',
    replace: '',
    also: [{ file: 'packages/caps-fs/src/mountable.ts', find: '          life.leave();', replace: '' }],
    tests: ['packages/caps-fs/src/mountable.test.ts'],
  },
  {
    name: 'fs-openat2-links',
    breaks: 'the one system call of the native backend follows links and leaves the directory',
    file: 'packages/caps-fs/src/drivers/native.ts',
    find: `const links = 0x02 | 0x04;
const beneath = 0x08;`,
    replace: `const links = 0;
const beneath = 0;`,
    tests: ['packages/caps-fs/src/drivers/native.test.ts', 'packages/caps-fs/src/escapes.test.ts'],
  },
  {
    name: 'fs-openat2-mounts',
    breaks: 'the one system call of the native backend goes into other mounts',
    file: 'packages/caps-fs/src/drivers/native.ts',
    find: 'const otherMounts = 0x01;',
    replace: 'const otherMounts = 0;',
    tests: ['packages/caps-fs/src/escapes.test.ts'],
  },
  {
    name: 'fs-floor',
    breaks: 'a holder of a directory fills the disk to the last byte',
    file: 'packages/caps-fs/src/root/room.ts',
    find: 'if (room.total === 0) return;',
    replace: 'return;',
    tests: ['packages/caps-fs/src/root/room.test.ts'],
  },
  {
    name: 'fs-except',
    breaks: 'an excepted name can be opened',
    file: 'packages/caps-fs/src/root/terms.ts',
    find: 'return namedBy(terms.excepted, name);',
    replace: 'return false;',
    tests: ['packages/caps-fs/src/root/terms.test.ts'],
  },
  {
    name: 'fs-thread-line',
    breaks: 'a search whose cap is closed waits for those of others',
    file: 'packages/caps-fs/src/search/drivers/thread.ts',
    find: "  ended.addEventListener('abort', leave);",
    replace: '',
    tests: ['packages/caps-fs/src/search/seek.test.ts'],
  },
  {
    name: 'fs-thread-end',
    breaks: 'a search goes on when its cap is closed',
    file: 'packages/caps-fs/src/search/drivers/thread.ts',
    find: "  ended.addEventListener('abort', closed);",
    replace: '',
    tests: ['packages/caps-fs/src/search/seek.test.ts'],
  },
  {
    name: 'fs-breath',
    breaks: 'a loop over small files is the only thing that the process does',
    file: 'packages/caps-fs/src/drivers/yield.ts',
    find: 'if (since < oneIn) return undefined;',
    replace: 'return undefined;',
    tests: ['packages/caps-fs/src/root/life.test.ts'],
  },
  {
    name: 'fs-commit-place',
    breaks: 'a write lands in a directory that was renamed away meanwhile',
    file: 'packages/caps-fs/src/files/draft.ts',
    find: 'using target = locate(this.#place, path);',
    replace: 'using target = { ...this.#beginning.target, [Symbol.dispose]: () => {} };',
    tests: ['packages/caps-fs/src/parallel.test.ts'],
  },
  {
    name: 'fs-remove-in-place',
    breaks: 'a recursive removal is seen in pieces',
    file: 'packages/caps-fs/src/files/tree.ts',
    find: `const name = temporaryName(kernel.random);
    kernel.rename(target.dir, target.name, target.dir, name);`,
    replace: 'const name = target.name;',
    also: [
      {
        file: 'packages/caps-fs/src/files/tree.ts',
        find: `    // A removal of a directory above it was quicker.
    if (failedWith(error, 'ENOENT')) return;
    putBack(place.root.kernel, target);`,
        replace: '',
      },
    ],
    tests: ['packages/caps-fs/src/parallel.test.ts'],
  },
  {
    name: 'fs-append-order',
    breaks: 'a file is renamed while an append writes to it',
    file: 'packages/caps-fs/src/root/order.ts',
    find: 'return !this.#exclusive && !(exclusive && this.#sharing > 0);',
    replace: 'return true;',
    tests: ['packages/caps-fs/src/root/order.test.ts'],
  },
  {
    name: 'fs-copy-source',
    breaks: 'a copy shows a file that its source no longer names',
    file: 'packages/caps-fs/src/files/content.ts',
    find: 'using now = find(place, source);',
    replace: `return;
        using now = find(place, source);`,
    tests: ['packages/caps-fs/src/root/order.test.ts'],
  },
  {
    name: 'fs-close-deep',
    breaks: 'what was made deep enough from a cap is used after it was closed',
    file: 'packages/caps-fs/src/root/life.ts',
    find: `for (const child of life.#children) all.push(child);
    }`,
    replace: `for (const child of life.#children) all.push(child);
      if (all.length > 1_000) break;
    }`,
    tests: ['packages/caps-fs/src/root/life.test.ts'],
  },
  {
    name: 'fs-line-bytes',
    breaks: 'writes that wait for their turn take all memory',
    file: 'packages/caps-fs/src/root/limits.ts',
    find: 'const maxWaitingBytes = 64 * 1024 * 1024;',
    replace: 'const maxWaitingBytes = Number.POSITIVE_INFINITY;',
    tests: ['packages/caps-fs/src/root/life.test.ts'],
  },
  {
    name: 'fs-except-weight',
    breaks: 'patterns of except make each name take as long as a holder likes',
    file: 'packages/caps-fs/src/root/terms.ts',
    find: 'const maxWeight = 65_536;',
    replace: 'const maxWeight = Number.POSITIVE_INFINITY;',
    tests: ['packages/caps-fs/src/root/terms.test.ts'],
  },
  {
    name: 'fs-close-keeps',
    breaks: 'of each cap that was closed something stays in memory for ever',
    file: 'packages/caps-fs/src/directory.ts',
    find: '    forgotten.unregister(life);',
    replace: '',
    also: [
      {
        file: 'packages/caps-fs/src/root/life.ts',
        find: 'for (const life of all) life.#closing.abort(reason);',
        replace: 'for (const life of all) life.#closing.abort(undefined);',
      },
    ],
    tests: ['packages/caps-fs/src/root/life.test.ts'],
  },
  {
    name: 'fs-line-end',
    breaks: 'what stood in line when a cap was closed is still done',
    file: 'packages/caps-fs/src/directory.ts',
    find: `        // The cap may have closed while this operation was queued. Then it must not start.
        if (wait) refuseIfClosed(life);`,
    replace: '',
    tests: ['packages/caps-fs/src/root/life.test.ts'],
  },
  {
    name: 'fs-edit-here',
    breaks: 'an edit that takes long holds everybody up',
    file: 'packages/caps-fs/src/search/edit.ts',
    find: 'const lightEdits = 32 * 1024 * 1024;',
    replace: 'const lightEdits = Number.POSITIVE_INFINITY;',
    tests: ['packages/caps-fs/src/search/edit.test.ts'],
  },
  {
    name: 'fs-at-once',
    breaks: 'a search of a large tree holds everybody up',
    file: 'packages/caps-fs/src/search/at-once.ts',
    find: `const fewEntries = 500;
const fewBytes = 512 * 1024;

/** Steps for comparing names with patterns and rules. */
const fewSteps = 1_000_000;
/** Steps for comparing all names with the excepted patterns. */
const fewCompared = 4_000_000;
/** At worst, finding a text takes its length times the length of the file. */
const shortText = 128;`,
    replace: `const fewEntries = Number.POSITIVE_INFINITY;
const fewBytes = Number.POSITIVE_INFINITY;
const fewSteps = Number.POSITIVE_INFINITY;
const fewCompared = Number.POSITIVE_INFINITY;
const shortText = Number.POSITIVE_INFINITY;`,
    tests: ['packages/caps-fs/src/search/at-once.test.ts'],
  },
  {
    name: 'fs-sweep',
    breaks: 'what a killed write left stays for ever',
    file: 'packages/caps-fs/src/files/sweep.ts',
    find: "if (!permits(place.terms, 'remove')) return;",
    replace: 'return;',
    tests: ['packages/caps-fs/src/files/sweep.test.ts'],
  },
  {
    name: 'fs-nofollow',
    breaks: 'a swap of a directory with a link between two looks leads out',
    file: 'packages/caps-fs/src/drivers/node-fs.ts',
    find: 'O_PATH | O_DIRECTORY | O_NOFOLLOW',
    replace: 'O_PATH | O_DIRECTORY',
    also: [{ file: 'packages/caps-fs/src/drivers/node-fs.ts', find: 'O_PATH | O_NOFOLLOW', replace: 'O_PATH' }],
    tests: ['packages/caps-fs/src/escapes.test.ts'],
  },
  {
    name: 'fs-mount',
    breaks: 'a mount beneath the root is entered',
    file: 'packages/caps-fs/src/root/resolve.ts',
    find: `export function refuseOtherMount(place: Place, fd: number): void {
  if (place.root.kernel.mountOf(fd) !== place.root.mount) throw refusal('RESOLVED_OUTSIDE');
}`,
    replace: 'export function refuseOtherMount(place: Place, fd: number): void {}',
    tests: ['packages/caps-fs/src/escapes.test.ts'],
  },
  {
    name: 'fs-device',
    breaks: 'a FIFO or a device is opened',
    file: 'packages/caps-fs/src/root/resolve.ts',
    find: "  if (found.status.kind !== 'file') throw refusal('NOT_A_FILE');",
    replace: '',
    tests: ['packages/caps-fs/src/escapes.test.ts'],
  },
  {
    name: 'fs-sticky',
    breaks: 'a stranger’s link in a sticky directory is followed',
    file: 'packages/caps-fs/src/root/resolve.ts',
    find: 'if ((dir.mode & 0o1002) !== 0o1002) return undefined;',
    replace: 'return undefined;',
    tests: ['packages/caps-fs/src/escapes.test.ts'],
  },
  {
    name: 'fs-dotdot',
    breaks: 'a path may go upwards',
    file: 'packages/caps-fs/src/root/path.ts',
    find: "  if (parts.includes('..')) throw refusal('PATH_ESCAPES');",
    replace: '',
    tests: ['packages/caps-fs/src/escapes.test.ts'],
  },
  {
    name: 'fs-trailing-slash',
    breaks: 'a file is found by a name that says directory',
    file: 'packages/caps-fs/src/root/path.ts',
    find: "return { names, directory: !isName(parts.at(-1) ?? '') };",
    replace: 'return { names, directory: false };',
    tests: ['packages/caps-fs/src/escapes.test.ts'],
  },
  {
    name: 'fs-atomic',
    breaks: 'a reader meets no file while it is replaced',
    file: 'packages/caps-fs/src/files/draft.ts',
    find: 'const done = writeNamed(kernel, beginning, bytes);',
    replace: `if (keepMode !== undefined) kernel.unlink(target.dir, target.name);
      const done = writeNamed(kernel, beginning, bytes);`,
    also: [
      {
        file: 'packages/caps-fs/src/files/draft.ts',
        find: 'this.#giveName(target, present === undefined);',
        replace: `if (present) {
        kernel.unlink(target.dir, target.name);
        await kernel.yieldToEventLoop();
      }
      this.#giveName(target, present === undefined);`,
      },
    ],
    tests: ['packages/caps-fs/src/files/draft.test.ts', 'packages/caps-fs/src/memory.test.ts'],
  },
  {
    name: 'fs-write-order',
    breaks: 'a small write goes ahead of an append that is under way',
    file: 'packages/caps-fs/src/files/content.ts',
    find: 'return order.exclusive(body);',
    replace: 'return body();',
    tests: ['packages/caps-fs/src/memory.test.ts'],
  },
  {
    name: 'fs-in-memory',
    breaks: 'everybody waits for the disk when a small file is written',
    file: 'packages/caps-fs/src/open.ts',
    find: 'inMemory: kernel.inMemory(fd),',
    replace: 'inMemory: true,',
    tests: ['packages/caps-fs/src/memory.test.ts'],
  },
  {
    name: 'fs-durable',
    breaks: 'a durable write does not wait until its name is on the disk',
    file: 'packages/caps-fs/src/files/draft.ts',
    find: "readable: options.durable ? own(kernel, kernel.reopen(target.dir, 'read')) : undefined,",
    replace: 'readable: undefined,',
    tests: ['packages/caps-fs/src/traps.test.ts'],
  },
  {
    name: 'fs-size',
    breaks: 'a file that says 0 bytes is empty',
    file: 'packages/caps-fs/src/files/content.ts',
    find: 'if (file.status.size > 0) return await fill(place, file.fd, Math.min(wanted, size), offset);',
    replace: 'return await fill(place, file.fd, Math.min(wanted, size), offset);',
    tests: ['packages/caps-fs/src/traps.test.ts'],
  },
  {
    name: 'fs-retry',
    breaks: 'a name that changes while it is looked at is given up at once',
    file: 'packages/caps-fs/src/root/resolve.ts',
    find: "if (this.#retries > maxRetries) throw refusal('BUSY');",
    replace: "throw refusal('BUSY');",
    tests: ['packages/caps-fs/src/traps.test.ts'],
  },
  {
    name: 'fs-handle',
    breaks: 'a descriptor is closed while another operation uses it',
    file: 'packages/caps-fs/src/base/handle.ts',
    find: '    if (this.#holders > 0) return;',
    replace: '',
    tests: ['packages/caps-fs/src/root/life.test.ts'],
  },
  {
    name: 'fs-quota',
    breaks: 'a quota is not charged',
    file: 'packages/caps-fs/src/root/terms.ts',
    find: 'for (const meter of terms.meters) meter.check(cost);',
    replace: `return;
  for (const meter of terms.meters) meter.check(cost);`,
    tests: ['packages/caps-fs/src/root/terms.test.ts'],
  },
  {
    name: 'fs-read-only',
    breaks: 'a read-only directory is written',
    file: 'packages/caps-fs/src/root/terms.ts',
    find: 'return { ...terms, writes: false };',
    replace: 'return { ...terms, writes: true };',
    tests: ['packages/caps-fs/src/root/terms.test.ts'],
  },
  {
    name: 'symlink',
    breaks: 'a link leads out of the directory',
    file: 'packages/caps-fs/src/root/resolve.ts',
    find: "    if (!this.#left) throw refusal('RESOLVED_OUTSIDE');",
    replace: '',
    tests: ['packages/caps-fs/src/escapes.test.ts'],
  },
  {
    name: 'rules-unreadable',
    breaks: 'a search shows what is ignored when the disk cannot give the rules',
    file: 'packages/caps-fs/src/search/seek.ts',
    find: '      if (!(error instanceof CapError) && !isPassing(error)) throw error;',
    replace: '      void error;',
    tests: ['packages/caps-fs/src/unreadable.test.ts'],
  },
  {
    name: 'fs-locked',
    breaks: 'a directory that a program locked cannot be removed',
    file: 'packages/caps-fs/src/files/tree.ts',
    find: '  kernel.chmodHeld(dir, (mode & 0o7777) | 0o700);',
    replace: '',
    tests: ['packages/caps-fs/src/locked.test.ts'],
  },
  {
    name: 'fs-locked-back',
    breaks: 'a removal that is refused leaves other modes behind',
    file: 'packages/caps-fs/src/files/tree.ts',
    find: 'kernel.chmodHeld(dir, mode & 0o7777);',
    replace: '',
    tests: ['packages/caps-fs/src/locked.test.ts'],
  },
];
