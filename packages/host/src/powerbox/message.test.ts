/** A message that a granter is asked about: what is shown is what arrives. Over real CapTP; the agent is the attacker. */
import { type MessageAdapter, type MessageCap, makeMessageCap } from '@hob/caps-net';
import { E } from '@hob/vat';
import { expect, test } from 'vitest';
import { later, scene } from '../../test/asking.ts';
import { code, held } from '../../test/test-host.ts';

test('a granter sees recipient, subject and the whole text, and a change after the yes is refused', async () => {
  const at = await scene();
  const sent: string[] = [];
  const adapter: MessageAdapter = {
    ...{ kind: 'mail', recipient: 'ann@example.com' },
    render: async (message) => Buffer.from(JSON.stringify(message)),
    deliver: async (bytes) => String(sent.push(Buffer.from(bytes).toString())),
  };
  await at.host.offer('mail-ann', makeMessageCap(adapter), { reads: ['describe'] });
  await E(at.owner).grant(at.session.id, 'mail', 'mail-ann', { gated: ['send'] });
  const cap = await held<MessageCap>(at.agent, 'mail');
  const text = `${'a line of many words. '.repeat(100)}\npay Eve`;
  const draft = await E(cap).draft(text, { subject: 'Order', attachments: [{ name: 'a.txt', data: 'abc' }] });
  const sending = later(E(cap).send(draft));
  const [asked] = await at.inbox();
  const rows = Object.fromEntries(asked?.table ?? []);
  expect(rows).toMatchObject({ to: '“ann@example.com”, by “mail”', subject: '“Order”', digest: `“${draft.digest}”` });
  expect(rows['text']).toBe(`“${text.replace('\n', '⟦NL⟧')}”`);
  expect(rows['attachment']).toContain('name: “a.txt”');
  expect(rows['its text']).toBe('“abc”');
  await at.answer(asked!, { grant: {} });
  expect(await sending).toMatchObject({ digest: draft.digest });
  expect(JSON.parse(sent[0] ?? '')).toMatchObject({ text });

  // A draft that says another recipient is shown as it says, and is not sent.
  const other = await E(cap).draft('hello');
  const forged = later(E(cap).send({ ...other, recipient: 'eve@example.com' }));
  const [second] = await at.inbox();
  expect(Object.fromEntries(second?.table ?? [])['to']).toContain('eve@example.com');
  await at.answer(second!, { grant: {} });
  expect(await code(forged)).toBe('E_DRAFT');
  expect(sent).toHaveLength(1);
});
