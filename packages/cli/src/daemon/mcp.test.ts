import { expect } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { hobHome } from '../../test/hob.ts';
import { LineClient } from '../../test/mcp-client.ts';

const test = requires('linux');

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
