/** The chats of a manifest, each of one kind and of one granter. */
import type { ChatPart } from '../../file/chat-part.ts';
import { type Finding, quoted } from '../../text/mistakes.ts';
import { orNearest } from '../directories.ts';
import type { PlannedChat } from '../plan.ts';

const PARTS = { telegram: ['user'], webhook: ['secret', 'sender'] } as const;

/** Pushes what is wrong. `granters` are those of the manifest. */
export function chatsOf(
  chats: Readonly<Record<string, ChatPart>>,
  granters: readonly string[] | undefined,
  findings: Finding[],
): Readonly<Record<string, PlannedChat>> {
  const planned: Record<string, PlannedChat> = {};
  for (const [name, chat] of Object.entries(chats)) {
    const path = ['chats', name];
    const wrong = (what: string, write: string): void => void findings.push({ path, key: true, wrong: what, write });
    const kinds = (['telegram', 'webhook'] as const).filter((kind) => chat[kind] !== undefined);
    const [kind] = kinds;
    if (kind === undefined || kinds.length > 1) {
      wrong('a chat has one of telegram and webhook', 'write one of them');
      continue;
    }
    const { granter } = chat;
    const known = granters ?? ['owner'];
    if (granter !== undefined && !known.includes(granter))
      findings.push({ path: [...path, 'granter'], wrong: `there is no granter ${quoted(granter)}`, write: orNearest(granter, [...known]) }); // biome-ignore format: one line
    const other = kind === 'telegram' ? 'webhook' : 'telegram';
    for (const part of PARTS[kind]) if (chat[part] === undefined) wrong(`a chat by ${kind} has ${part}`, `add ${part}`);
    for (const part of [...PARTS[other], ...(kind === 'webhook' ? (['api'] as const) : [])])
      if (chat[part] !== undefined) wrong(`a chat by ${kind} has no ${part}`, `remove ${part}`);
    const { telegram, user = 0, api, webhook = '', secret = '', sender = '' } = chat;
    const of = granter === undefined ? {} : { granter };
    planned[name] =
      telegram !== undefined
        ? { kind: 'telegram', token: telegram, user, ...(api === undefined ? {} : { api }), ...of }
        : { kind: 'webhook', url: webhook, secret, sender, ...of };
  }
  return planned;
}
