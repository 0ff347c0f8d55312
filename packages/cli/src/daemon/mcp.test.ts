/** `hob mcp` as an agent host starts it: real processes, and a client that writes the lines of MCP itself. */
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { hobHome } from '../../test/hob.ts';
import { LineClient } from '../../test/mcp-client.ts';

const test = requires('linux');

/** The command line and the environment of each process that has these words in its command line. */
function processesWith(
  ...words: readonly string[]
): readonly { readonly line: string; readonly environment: string }[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const line = /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/cmdline`, 'latin1') : '';
      if (!words.every((word) => line.includes(word))) return [];
      return [{ line, environment: readFileSync(`/proc/${pid}/environ`, 'latin1') }];
    } catch {
      return [];
    }
  });
}

for (const era of ['older', 'newer'] as const)
  test(`a client of the ${era} era lists the verbs, calls them, and its list stays as it is`, async () => {
    const hob = hobHome();
    await hob.serve();
    const client = await LineClient.open(hob, era);
    const before = await client.ask('tools/list', {});
    const names = (before.result!['tools'] as readonly { name: string }[]).map(({ name }) => name);
    expect(names).toEqual(['caps', 'read', 'write', 'edit', 'list', 'search', 'run', 'job', 'call', 'request_cap', 'wait_for']); // biome-ignore format: one line
    const read = await client.call('read', { cap: 'src', path: 'a.txt' });
    expect([read.content![0]!.text, read.structuredContent]).toEqual(['one\n', { text: 'one\n' }]);
    const held = await client.call('caps', {});
    expect(held.structuredContent!['caps']).toMatchObject([
      { cap: 'edit', state: 'live', asks: true },
      { cap: 'src', state: 'live', verbs: ['read', 'list'] },
    ]);
    const refused = await client.call('read', { cap: 'other', path: 'a.txt' });
    expect(refused).toMatchObject({ isError: true, structuredContent: { code: 'no-such-object', ask: 'other' } });
    const after = await client.ask('tools/list', {});
    expect(JSON.stringify(after.result!['tools'])).toBe(JSON.stringify(before.result!['tools']));
    client.running.child.stdin!.end();
    expect(await client.running.ended).toBe(0);
  });

test('the secret is in no command line and no environment, and its file goes when the agent ends', async () => {
  const hob = hobHome();
  await hob.serve();
  const client = await LineClient.open(hob, 'older');
  const [server] = processesWith('--secret-file', hob.folder, 'main.');
  const file = /--secret-file\0([^\0]+)/.exec(server!.line)![1] as string;
  const secret = readFileSync(file, 'utf8').trim();
  expect(secret.length).toBeGreaterThan(20);
  const seen = processesWith(hob.folder);
  expect(seen.length).toBeGreaterThan(2);
  for (const { line, environment } of seen) expect([line.includes(secret), environment.includes(secret)]).toEqual([false, false]); // biome-ignore format: one line
  // A second server of the same session, from the same file.
  const config = readFileSync(join(dirname(file), 'mcp.json'), 'utf8');
  expect(config).not.toContain(secret);
  expect(await client.call('read', { cap: 'src', path: 'a.txt' })).toMatchObject({ structuredContent: { text: 'one\n' } }); // biome-ignore format: one line
  client.running.child.stdin!.end();
  await client.running.ended;
  expect(existsSync(file)).toBe(false);
  expect(await hob.jsonLine<readonly unknown[]>('sessions')).toEqual([]);
});

test('without an entry, or with a file that others may read, it says what to do and serves nothing', async () => {
  const hob = hobHome();
  const file = join(hob.folder, 'secret');
  writeFileSync(file, 'hob1_made-up', { mode: 0o600 });
  const at = ['--url', 'ws://127.0.0.1:9'];
  const wrong: readonly (readonly [args: readonly string[], code: number, says: RegExp])[] = [
    [[], 1, /--url/],
    [at, 1, /--secret-file/],
    [[...at, '--secret-file', join(hob.folder, 'none')], 1, /cannot be read/],
    [[...at, '--secret-file', hob.folder], 1, /must belong to you/],
    [[...at, '--secret-file', file, '--secret-fd', '3'], 2, /give one of them/],
    [[...at, '--secret-fd', '0'], 2, /3 or more/],
    [[...at, '--secret-fd', '3'], 1, /no such descriptor|no secret/],
    [[...at, '--secret-file', file], 1, /no host answers/],
    [['--url', 'http://127.0.0.1:9', '--secret-file', file], 1, /the address is ws/],
  ];
  for (const [args, code, says] of wrong) {
    // Lines with `--secret-fd` need a process of their own, because they read its descriptors.
    const ran = await (args.includes('--secret-fd') ? hob.run('mcp', ...args) : hob.line('mcp', ...args));
    expect([args, ran.code, ran.out, ran.err]).toEqual([args, code, '', expect.stringMatching(says)]);
  }
  chmodSync(file, 0o640);
  expect(await hob.line('mcp', ...at, '--secret-file', file)).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/chmod 600/) }); // biome-ignore format: one line
});
