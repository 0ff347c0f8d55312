/**
 * `node message-child.ts FOLDER URL`: a durable sender over a webhook. For each line of its input it makes a draft and
 * sends it. It prints how each ended, also those that an earlier process began.
 */
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { definitions } from '@hob/revocable';
import { type Definition, define, driverOf, E, type Far, type Outcome, openStore, openVats, type Table, table } from '@hob/vat'; // biome-ignore format: one line
import { makeMessageCap } from '../src/message/cap.ts';
import type { Draft, MessageCap } from '../src/message/message-cap.ts';
import { webhookAdapter } from '../src/message/webhook.ts';
import { makeSecret } from '../src/secret/secret.ts';

const [folder = '', url = ''] = process.argv.slice(2);

interface Sender {
  send(draft: Draft): void;
  ended(outcome: Outcome, id: string): void;
  all(): readonly (readonly [string, string])[];
}
const Sender: Definition<Sender, [rows: Table<string>, mailer: Far<MessageCap>]> = define(
  'crash.sender',
  (bcom, rows, mailer) => ({
    send: (draft) => {
      rows.set(draft.id, 'sending');
      E.to(bcom.self, 'ended', draft.id).on(E(mailer).send(draft) as Promise<unknown>);
    },
    ended: (outcome, id) => rows.set(id, outcome.ok ? 'sent' : (outcome.code ?? 'error')),
    all: () => [...rows.entries()],
  }),
);

const store = await openStore({ path: join(folder, 'store.db') });
const vats = await openVats({ store, definitions: [...definitions, Sender] });
const cap = makeMessageCap(webhookAdapter({ url: makeSecret(() => url), recipient: 'ops', addresses: ['127.0.0.1'] }));
const mailer = driverOf<MessageCap>(cap, { name: 'mailer' });
const sender = (await vats.vat('main').root('sender', () => Sender(table<string>(), mailer))) as unknown as Far<Sender>;
const tell = async (): Promise<void> => void process.stdout.write(`${JSON.stringify(await E(sender).all())}\n`);
process.stdout.write('open\n');
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'all') await tell();
  else {
    const draft = await cap.draft(line);
    process.stdout.write(`draft ${draft.id}\n`);
    await E(sender).send(draft);
  }
}
