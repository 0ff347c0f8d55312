/** The granter's commands about requests, as processes, against a host in this one. */
import { join } from 'node:path';
import type { FsCap } from '@hob/caps-fs';
import { E } from '@hob/vat';
import { expect, test } from 'vitest';
import { later, scene } from '../../test/asking.ts';
import { code, held } from '../../test/house.ts';
import { Program } from '../demo/processes.ts';
import { leaveNote } from '../drivers/state-dir.ts';

test('requests, request, approve, refuse: each does what it says, and a yes is for the digest that was shown', async () => {
  const at = await scene();
  const state = join(at.folder, 'state');
  leaveNote(state, { url: at.url, pid: process.pid });
  const hob = async (
    ...args: readonly string[]
  ): Promise<{ readonly code: number | string; readonly said: string }> => {
    const program = new Program('cli.ts', [...args, '--state', state], { stdin: `${at.granterSecret}\n` });
    const ended = await program.ended;
    return { code: ended, said: program.lines.join('\n') };
  };
  expect(await hob('requests')).toEqual({ code: 0, said: 'nothing is asked' });
  at.write('a.txt', 'one\n');
  await E(at.owner).grant(at.session.id, 'work', 'notes', { gated: ['write'] });
  const written = later(E(held<FsCap>(at.agent, 'work')).write('a.txt', 'two\n'));
  const [asked] = await at.inbox();
  const short = asked!.digest.slice(0, 12);
  expect((await hob('requests')).said).toBe(
    `${asked!.id}  ${short}  ${at.session.id}  replaces the file “a.txt” by 4 characters, through “work”`,
  );
  const shown = (await hob('request', asked!.id)).said;
  for (const part of [`digest ${short}`, `asked by ${at.session.id}`, 'who asked waits', '    -one', '    +two', 'this one call, and nothing else']) // biome-ignore format: one line
    expect(shown).toContain(part);
  // What it showed has changed meanwhile: the digest is that of another request.
  at.write('a.txt', 'something longer\n');
  expect(await hob('approve', asked!.id, short)).toEqual({ code: 1, said: expect.stringMatching(/^hob: it has changed since it was shown/) }); // biome-ignore format: one line
  const [anew] = await at.inbox();
  expect(await hob('approve', anew!.id, short)).toEqual({ code: 1, said: expect.stringMatching(/^hob: something else is asked now/) }); // biome-ignore format: one line
  expect(await hob('approve', anew!.id, anew!.digest.slice(0, 4))).toMatchObject({ code: 1 });
  expect((await hob('request', anew!.id)).said).toContain(`in place of ${asked!.id}: what that showed has CHANGED`);
  expect((await hob('approve', anew!.id, anew!.digest.slice(0, 12))).said).toMatch(
    /^approved q\d+-\w+: it replaces the file/,
  );
  await written;
  expect(at.file('a.txt')).toBe('two\n');
  const denied = at.request({}).catch((error: Error) => error.message);
  const [next] = await at.inbox();
  expect((await hob('refuse', next!.id, 'not', 'today', '--lasting')).said).toBe(`refused ${next!.id}, for as long as its session lasts`); // biome-ignore format: one line
  expect(await denied).toContain('not today');
  expect(await code(at.request({}))).toBe('denied');
  expect(await hob('request', 'q999-none')).toEqual({ code: 1, said: expect.stringMatching(/^hob: nothing of that id is asked/) }); // biome-ignore format: one line
});
