/** The granter's answers to requests with the secret of a granter, as processes, against a host in this one. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import type { FsCap } from '@hob/caps-fs';
import { E } from '@hob/vat';
import { expect, test } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { Program } from '../../../../test/processes.ts';
import { later, type Scene, scene } from '../../test/asking.ts';
import { code, held } from '../../test/test-host.ts';
import type { Request } from '../index.ts';
import { approve } from './commands.ts';

const resolveHook = new URL('../../../../scripts/resolve.mjs', import.meta.url).href;

test('inbox, grant and refuse work, and a yes with a digest is bound to the request that was shown', async () => {
  const at = await scene();
  const state = join(at.folder, 'state');
  const hob = async (
    ...args: readonly string[]
  ): Promise<{ readonly code: number | string; readonly said: string }> => {
    const program = new Program('hob', [...args, '--state', state], { stdin: `${at.granterSecret}\n` });
    const ended = await program.ended;
    return { code: ended, said: program.lines.join('\n') };
  };
  expect(await hob('inbox')).toEqual({ code: 0, said: 'no request waits' });
  at.write('a.txt', 'one\n');
  await E(at.owner).grant(at.session.id, 'work', 'notes', { gated: ['write'] });
  const written = later(E(held<FsCap>(at.agent, 'work')).write('a.txt', 'two\n'));
  const [asked] = await at.inbox();
  const short = asked!.digest.slice(0, 12);
  expect((await hob('inbox')).said).toMatch(/^R1\tS1\tyes\t[^\t]*\treplaces the file “a.txt” by 4 characters, through “work”$/); // biome-ignore format: one line
  const shown = (await hob('inbox', asked!.id)).said;
  for (const part of [`digest ${short}`, `asked by session “${at.session.id}”`, 'the caller waits', '    -one', '    +two', 'this one call, and nothing else']) // biome-ignore format: one line
    expect(shown).toContain(part);
  // The request has changed since it was shown: the digest is that of another request.
  at.write('a.txt', 'something longer\n');
  expect(await hob('grant', asked!.id, short)).toEqual({ code: 1, said: expect.stringMatching(/^hob: the request has changed since it was shown/) }); // biome-ignore format: one line
  const [anew] = await at.inbox();
  expect(await hob('grant', anew!.id, short)).toEqual({ code: 1, said: expect.stringMatching(/^hob: the request has another digest now/) }); // biome-ignore format: one line
  expect(await hob('grant', anew!.id, anew!.digest.slice(0, 4))).toMatchObject({ code: 1 });
  expect((await hob('inbox', anew!.id)).said).toContain('which has CHANGED since it was shown');
  expect((await hob('grant', anew!.id, anew!.digest.slice(0, 12))).said).toMatch(/^approved R2: it replaces the file/);
  await written;
  expect(at.file('a.txt')).toBe('two\n');
  const denied = at.request({}).catch((error: Error) => error.message);
  const [next] = await at.inbox();
  expect((await hob('refuse', next!.id, 'not', 'today', '--lasting')).said).toBe('refused R3, for as long as its session lasts'); // biome-ignore format: one line
  expect(await denied).toContain('not today');
  expect(await code(at.request({}))).toBe('denied');
  expect(await hob('inbox', 'R999')).toEqual({ code: 1, said: expect.stringMatching(/^hob: /) }); // biome-ignore format: one line
});

async function asking(): Promise<{
  readonly at: Scene;
  readonly request: Request;
  hob(...args: readonly string[]): Promise<{ readonly code: number | string; readonly said: string }>;
}> {
  const at = await scene();
  const state = join(at.folder, 'state');
  at.request({ terms: { uses: 50, for: 80 * 86_400_000, methods: ['readText', 'stat'] } });
  const [request] = await at.inbox();
  return {
    at,
    request: request!,
    async hob(...args) {
      const program = new Program('hob', [...args, '--state', state], { stdin: `${at.granterSecret}\n` });
      const ended = await program.ended;
      return { code: ended, said: program.lines.join('\n') };
    },
  };
}

test('approve with narrower terms grants those terms, and shows the requested terms in one line first', async () => {
  const { at, request, hob } = await asking();
  const short = request.digest.slice(0, 12);
  expect((await hob('inbox', request.id)).said.split('\n')).toContain(
    '  terms: 50 calls, within 80 days; methods: readText, stat',
  );
  const wider = await hob('grant', request.id, short, '--uses', '51');
  expect(wider).toEqual({
    code: 1,
    said: 'hob: an approval can only be narrower than the request: uses was asked as 50',
  });
  expect(await hob('grant', request.id, short, '--uses', '1', '--for', '5m', '--methods', 'readText')).toEqual({
    code: 0,
    said: 'approved R1 on these terms: once, within 5 min; methods: readText',
  });
  const [grant] = await E(at.owner).list();
  expect(grant).toMatchObject({ usesLeft: 1 });
  expect(grant!.until).toBeLessThanOrEqual(Date.now() + 300_000);
});

test('approve with one narrower term leaves the others as they were asked', async () => {
  const { at, request, hob } = await asking();
  const said = await hob('grant', '--uses', '3', request.id, request.digest.slice(0, 12));
  expect(said.said).toBe(`approved R1 on these terms: 3 calls, within 80 days; methods: readText, stat`);
  expect((await E(at.owner).list())[0]).toMatchObject({ usesLeft: 3 });
});

test('a gated call takes no terms: they are refused, not ignored', async () => {
  const { at, hob } = await asking();
  await E(at.owner).grant(at.session.id, 'work', 'notes', { gated: ['write'] });
  void later(E(held<FsCap>(at.agent, 'work')).write('a.txt', 'x'));
  const [, call] = await at.inbox(2);
  const refused = await hob('grant', call!.id, call!.digest.slice(0, 12), '--for', '5m');
  expect(refused).toEqual({ code: 1, said: expect.stringMatching(/^hob: an approved call runs once/) });
  expect(await at.inbox(2)).toHaveLength(2);
});

test('nothing is approved if the person does not confirm the terms that are shown', async () => {
  const { at, request } = await asking();
  const [shown, said]: [string[], string[]] = [[], []];
  const approval = { id: request.id, digest: request.digest, terms: { uses: 1 }, wall: Date.now() };
  const no = await approve(
    at.owner,
    approval,
    async (lines) => shown.push(...lines) === 0,
    (line) => said.push(line),
  );
  expect(no).toBe(1);
  expect(shown).toEqual([
    `request ${request.id}: it lets session “${at.session.id}” use “notes”: 50 calls, within 80 days`,
    'approve it on these terms: once, within 80 days; methods: readText, stat',
  ]);
  expect(said).toEqual([`nothing was approved: ${request.id} still waits for an answer`]);
  expect(await E(at.owner).list()).toEqual([]);
  expect(await at.inbox()).toHaveLength(1);
});

/** A terminal: says `secret` and then `word` to whoever asks, and prints what it saw. */
const terminal = `
import os, pty, sys
secret, word, *command = sys.argv[1:]
pid, fd = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
seen, said = b'', 0
while True:
    try:
        part = os.read(fd, 4096)
    except OSError:
        break
    if not part:
        break
    seen += part
    if said == 0 and b'secret' in seen:
        os.write(fd, secret.encode() + b'\\n'); said = 1
    if said == 1 and b'(yes or no)' in seen:
        os.write(fd, word.encode() + b'\\n'); said = 2
sys.stdout.write(seen.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;

requires('python')(
  'at a terminal the terms are shown and a yes is asked for; anything else approves nothing',
  async () => {
    const { at, request } = await asking();
    const person = (word: string): Promise<{ readonly code: number | string; readonly said: string }> => {
      const cli = ['--import', resolveHook, join(import.meta.dirname, '../../../cli/src/main.ts')];
      const args = [
        'grant',
        request.id,
        request.digest.slice(0, 12),
        '--uses',
        '1',
        '--state',
        join(at.folder, 'state'),
      ];
      return new Promise((resolve) =>
        execFile(
          'python3',
          ['-c', terminal, at.granterSecret, word, process.execPath, ...cli, ...args],
          (error, said) => resolve({ code: error === null ? 0 : (error.code ?? 'none'), said }),
        ),
      );
    };
    const no = await person('no');
    expect(no.code).toBe(1);
    expect(no.said).toContain('approve it on these terms: once, within 80 days; methods: readText, stat');
    expect(no.said).not.toContain(at.granterSecret);
    expect(await E(at.owner).list()).toEqual([]);
    expect((await person('yes')).code).toBe(0);
    expect((await E(at.owner).list())[0]).toMatchObject({ usesLeft: 1 });
  },
);
