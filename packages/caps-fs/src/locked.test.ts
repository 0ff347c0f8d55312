/** The cap removes the files that a program leaves behind, also those that their modes lock for everybody. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { needs } from '../../../test/probes.ts';
import { backends, lacks } from '../test/backends.ts';

const child = new URL('../test/locked-child.ts', import.meta.url).pathname;
const hooks = new URL('../../../scripts/resolve.mjs', import.meta.url).pathname;
const users: readonly (readonly [who: string, user: number | undefined])[] = needs('root')
  ? [
      ['root', undefined],
      ['an ordinary user', 54_321],
    ]
  : [['an ordinary user', undefined]];

for (const backend of backends) {
  const lacking = await lacks(backend);
  for (const [who, user] of users)
    requires('linux', 'unprivileged')(
      `${backend}: a tree of directories with mode 000 is removed, as ${who}`,
      (context) => {
        if (lacking !== undefined) context.skip(lacking);
        const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'caps-fs-'));
        onTestFinished(() => {
          execFileSync('chmod', ['-R', 'u+rwx', folder]);
          fs.rmSync(folder, { recursive: true, force: true });
        });
        if (user !== undefined) fs.chownSync(folder, user, user);
        const as = user === undefined ? {} : { uid: user, gid: user };
        const text = execFileSync(process.execPath, ['--no-warnings', '--import', hooks, child, folder, backend], as);
        // Root passes by modes; a user is refused to read, and learns so.
        const reads = who === 'root' ? 'ok' : 'NOT_PERMITTED';
        expect(JSON.parse(text.toString())).toEqual({
          read: reads,
          list: reads,
          excepted: 'NOT_PERMITTED',
          keptMode: '0',
          readOnly: 'READ_ONLY',
          full: 'NOT_EMPTY',
          fullMode: '0',
          empty: 'ok',
          tree: 'ok',
          kept: 'ok',
          fullThen: 'ok',
          beside: '500',
          left: ['beside'],
        });
      },
    );
}
