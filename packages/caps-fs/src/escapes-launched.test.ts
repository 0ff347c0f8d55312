/** The same table in processes of their own: another user, other mounts, and kernels without openat2. */
import { execFile, execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { missing, needs } from '../../../test/probes.ts';
import { backends, lacks } from '../test/backends.ts';

const run = promisify(execFile);
const child = new URL('../test/escapes/child.ts', import.meta.url).pathname;
const opens = new URL('../test/opens-child.ts', import.meta.url).pathname;
const hooks = new URL('../../../scripts/resolve.mjs', import.meta.url).pathname;
const node = [process.execPath, '--import', hooks];
const launcher = path.join(os.tmpdir(), `caps-fs-seccomp-${process.pid}`);
// Only for what hangs: on a busy machine a table takes a minute.
const minutes = 5 * 60_000;

const launched = requires('cc', 'mkfifo');
launched.beforeAll(() => {
  execFileSync('cc', ['-O2', '-o', launcher, new URL('../test/seccomp.c', import.meta.url).pathname]);
});
launched.afterAll(() => fs.rmSync(launcher, { force: true }));

interface Told {
  readonly rows: number;
  readonly cells: number;
  readonly faults: string[];
}

async function ask<T>([program = '', ...args]: readonly string[], user?: number): Promise<T> {
  // Which backend is said to the child by its arguments only: `auto` is what is found out.
  const env = { ...process.env, CAPS_FS_BACKEND: undefined };
  const as = user === undefined ? { env } : { env, uid: user, gid: user };
  const { stdout } = await run(program, args, { ...as, maxBuffer: 1 << 26 });
  return JSON.parse(stdout) as T;
}

async function playTable(command: readonly string[], least: number, user?: number): Promise<void> {
  const { rows, faults } = await ask<Told>(command, user);
  expect(faults).toEqual([]);
  expect(rows).toBeGreaterThanOrEqual(least);
}

const users: readonly (readonly [who: string, user: number | undefined])[] = needs('root')
  ? [
      ['root', undefined],
      ['another user', 65_534],
    ]
  : [['an ordinary user', undefined]];

for (const backend of backends) {
  const lacking = await lacks(backend);
  const skip = (context: { skip(reason?: string): void }) => lacking !== undefined && context.skip(lacking);

  // As whoever runs the tests it is in escapes-table.test.ts.
  requires('root', 'unprivileged', 'mkfifo')(
    `${backend}: the table as another user`,
    async (context) => {
      skip(context);
      await playTable([...node, child, backend], 300, 65_534);
    },
    minutes,
  );

  requires('userns', 'unshare')(
    `${backend}: mounts and bind mounts`,
    async (context) => {
      skip(context);
      const namespace = ['unshare', '--user', '--map-root-user', '--mount'];
      await playTable([...namespace, ...node, child, backend, 'mounts'], 15);
    },
    minutes,
  );
}

// Both answers mean that there is no openat2, so each of them plays one half of the table, and each user all of it.
for (const [who, user] of users) {
  for (const [half, answer] of (['ENOSYS', 'EPERM'] as const).entries()) {
    (user === undefined ? launched : requires('cc', 'mkfifo', 'unprivileged'))(
      `where openat2 fails with ${answer} the table holds all the same, as ${who}`,
      async () => {
        await playTable([launcher, answer, ...node, child, 'auto', `half:${half}`], 300, user);
      },
      minutes,
    );
  }
}

for (const answer of ['ENOSYS', 'EPERM'] as const) {
  launched(`where openat2 fails with ${answer} native is refused, and never half there`, async () => {
    expect(await ask([launcher, answer, ...node, opens])).toEqual({ auto: 'ok', proc: 'ok', native: 'UNSUPPORTED' });
  });
}

launched('proc opens and reads where openat2 would kill the process', async () => {
  expect(await ask([launcher, 'KILL', ...node, opens, 'proc'])).toEqual({ proc: 'ok' });
});

test('as whoever runs this, what was asked for is what is there', async () => {
  const lacking = await lacks('native');
  const native = lacking === undefined ? 'ok' : 'UNSUPPORTED';
  expect(await ask([...node, opens])).toEqual({ auto: 'ok', proc: 'ok', native });
  expect(missing('linux')).toBeUndefined();
});
