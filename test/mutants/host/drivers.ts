/** The mechanisms of `packages/host/src/drivers`, each with the source text that leaves it out: see `../mutant.ts`. */
import type { Mutant } from '../mutant.ts';

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'secret-file-stays',
    breaks: 'a secret is used whose file stays for others to read',
    file: 'packages/host/src/drivers/secrets.ts',
    find: '    remove(file);\n',
    replace: '',
    tests: ['packages/host/src/drivers/secrets.test.ts'],
  },
  {
    name: 'stop-lock',
    breaks: 'stop reports success while a host that cannot be seen goes on',
    file: 'packages/host/src/drivers/life.ts',
    find: "return isStoreHeld(stateDir) ? { pid: lockedBy(stateDir) } : 'nobody';",
    replace: "return 'nobody';",
    tests: ['packages/host/src/programs/own-host.test.ts'],
  },
  {
    name: 'held-fifo',
    breaks: 'a command line that is given a state whose store is a FIFO hangs for ever',
    file: 'packages/vat/src/store/drivers/sqlite.ts',
    find: 'if (!statSync(file).isFile()) return false;',
    replace: '',
    tests: ['packages/host/src/drivers/life.test.ts'],
  },
  {
    name: 'roots',
    breaks: 'a granted root may hold the host’s own state and code',
    file: 'packages/host/src/drivers/roots.ts',
    find: `for (const directory of own)
    if (overlap(place, resolvePath(directory), table) || leads(place, directory))
      throw new CapError(
        'E_ROOT_CONTAINS_HOST_STATE',
        'that directory is, contains or lies inside the state or the code of the host, or has a link on the way to them: grant another, or move the state with --state',
      );`,
    replace: `for (const directory of own) {
  }`,
    tests: ['packages/host/src/drivers/roots.test.ts'],
  },
  {
    name: 'roots-links',
    breaks: 'an agent leads a link in its root to a file of its own, and the host trusts that file',
    file: 'packages/host/src/drivers/roots.ts',
    find: ' || leads(place, directory)',
    replace: '',
    tests: ['packages/host/src/drivers/roots.test.ts'],
  },
  {
    name: 'secret-file-owner',
    breaks: 'an agent takes a secret from a file that others may read',
    file: 'packages/host/src/drivers/secrets.ts',
    find: ' || (mode & 0o077) !== 0',
    replace: '',
    tests: ['packages/host/src/handover.test.ts'],
  },
  {
    name: 'secret-file-gone',
    breaks: 'the file that a secret was handed over in stays',
    file: 'packages/host/src/drivers/secrets.ts',
    find: '    rmSync(file, { force: true });',
    replace: '',
    tests: ['packages/host/src/handover.test.ts'],
  },
  {
    name: 'secret-new-file',
    breaks: 'a secret is written into a file that is there, whoever may read it',
    file: 'packages/host/src/drivers/secrets.ts',
    find: ' | constants.O_EXCL',
    replace: '',
    tests: ['packages/host/src/handover.test.ts', 'packages/host/src/programs/by-secret.test.ts'],
  },
  {
    name: 'outbound-retry',
    breaks: 'a checkpoint that could not be sent is not sent later',
    file: 'packages/host/src/drivers/checkpoints.ts',
    find: 'if (end?.aborted !== true) timer = setTimeout(() => void tryIt(), delay).unref();',
    replace: '',
    tests: ['packages/host/src/drivers/checkpoints.test.ts'],
  },
  {
    name: 'outbound-cut',
    breaks: 'a checkpoint that a kill cut short spoils the next one',
    file: 'packages/host/src/drivers/checkpoints.ts',
    find: "${endsLine(descriptor) ? '' : '\\n'}",
    replace: '',
    tests: ['packages/host/src/drivers/checkpoints.test.ts'],
  },
  {
    name: 'life-ending',
    breaks: 'a host that is just ending cannot be stopped by an ordinary user',
    file: 'packages/host/src/drivers/life.ts',
    find: "return (Number(fields[6]) & EXITING) === 0 ? undefined : 'ending';",
    replace: 'return undefined;',
    tests: ['packages/host/src/drivers/life.test.ts'],
  },
];
