/** The inbox of a granter whose agents send as much as they can: it is read to its end, over real CapTP. */
import { type MessageAdapter, type MessageCap, makeMessageCap } from '@hob/caps-net';
import { driver, E } from '@hob/vat';
import { expect, test } from 'vitest';
import { later, type Scene, scene } from '../../test/asking.ts';
import { code, held } from '../../test/test-host.ts';
import type { Request } from './inbox.ts';

interface Wide {
  put(...given: readonly unknown[]): number;
}

/** Each is shown as eight: a character that no screen shows is written by its number. */
const hidden = (length: number): string => '\u200b'.repeat(length);

/** All pages, once so many requests wait. */
async function wholeInbox({ owner }: Scene, count: number): Promise<readonly Request[]> {
  for (;;) {
    const all: Request[] = [];
    for (let more = true; more; ) {
      const page = (await E(owner).inbox(all.at(-1)?.id)) as readonly Request[];
      all.push(...page);
      more = page.length > 0;
    }
    if (all.length >= count) return all;
  }
}

test('messages with as many files of hidden characters as go, sixteen at once, are all read, and each cut says so', async () => {
  const at = await scene();
  const adapter: MessageAdapter = {
    ...{ kind: 'mail', recipient: 'ann@example.com' },
    render: async (message) => Buffer.from(JSON.stringify(message)),
    deliver: async () => 'ok',
  };
  await at.host.offer('mail-ann', makeMessageCap(adapter), { reads: ['describe'] });
  await E(at.owner).grant(at.session.id, 'mail', 'mail-ann', { gated: ['send'] });
  const cap = await held<MessageCap>(at.agent, 'mail');
  const attachments = Array.from({ length: 16 }, (_, file) => ({ name: `${file}.txt`, data: hidden(4_000) }));
  for (let n = 0; n < 16; n += 1) later(E(cap).send(await E(cap).draft('x'.repeat(5_000), { attachments })));
  const all = await wholeInbox(at, 16);
  expect(new Set(all.map(({ id }) => id)).size).toBe(16);
  const texts = all[0]?.table.filter(([name]) => name === 'its text').map(([, text]) => text) ?? [];
  expect(texts).toEqual(Array(16).fill(`“${'⟦U+200B⟧'.repeat(1_000)} ⟦cut: 3000 more characters⟧”`));
});

test('calls with arguments that are deep and full of hidden characters are all read', async () => {
  const at = await scene();
  await at.host.offer('wide', driver<Wide>({ put: () => 1 }));
  await E(at.owner).grant(at.session.id, 'wide', 'wide', { gated: true });
  const cap = await held<Wide>(at.agent, 'wide');
  let deep: unknown = hidden(400);
  for (let depth = 0; depth < 100; depth += 1) deep = [hidden(49), deep];
  for (let n = 0; n < 2; n += 1) later(E(cap).put(n, ...Array(23).fill(deep)));
  expect(await wholeInbox(at, 2)).toHaveLength(2);
});

test('terms that are as large as a request may have are all read, and larger ones are refused', async () => {
  const at = await scene();
  const large = (length: number, n = 0) => ({ uses: n + 1, where: { readText: { 0: { is: hidden(length) } } } });
  expect(await code(at.request({ terms: large(20_000) }))).toBe('limit');
  for (let n = 0; n < 16; n += 1) later(at.request({ terms: large(19_900, n) }));
  expect(await wholeInbox(at, 16)).toHaveLength(16);
});
