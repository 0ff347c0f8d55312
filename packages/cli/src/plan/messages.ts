/**
 * The message caps of a plan, made.
 *
 * Promise: each has one recipient, of a channel that the manifest names. URLs of webhooks and passwords are secrets, read
 * by name for each message.
 */
import { type MessageAdapter, mailAdapter, makeMessageCap, outboxAdapter, webhookAdapter } from '@hob/caps-net';
import type { OfferOptions } from '@hob/host';
import type { Directory, Plan, PlannedChannel, PlannedMessage } from '@hob/manifest';
import { CapError } from '@hob/vat';
import { Mistake } from '../line/mistake.ts';
import type { Directories } from './directories.ts';
import type { UsedSecrets } from './net.ts';

/** Makes the cap of a recipient. Errors: `Mistake`. */
export async function makeMessage(
  plan: Plan,
  cap: PlannedMessage,
  secrets: UsedSecrets,
  directories: Directories,
): Promise<object> {
  try {
    return makeMessageCap(await adapterOf(channelOf(plan, cap), cap, secrets, directories));
  } catch (error) {
    throw error instanceof CapError ? new Mistake(`${cap.name}: ${error.message}`) : error;
  }
}

/** Errors: `Mistake`. */
export function channelOf({ channels }: Plan, { name, channel }: PlannedMessage): PlannedChannel {
  const way = Object.hasOwn(channels, channel) ? channels[channel] : undefined;
  if (way !== undefined) return way;
  throw new Mistake(`${name}: there is no channel ${channel}: declare it in channels`);
}

/** The directory that messages of a channel are written to. */
export const outboxOf = (channel: PlannedChannel): readonly Directory[] =>
  'outbox' in channel ? [channel.outbox] : [];

async function adapterOf(
  channel: PlannedChannel,
  { name, recipient }: PlannedMessage,
  secrets: UsedSecrets,
  directories: Directories,
): Promise<MessageAdapter> {
  if ('outbox' in channel) {
    const directory = await directories.whole(channel.outbox);
    return outboxAdapter({ directory: await directory.only(['write']), recipient });
  }
  const places = channel.addresses === undefined ? {} : { addresses: channel.addresses };
  if ('smtp' in channel) {
    const { smtp, from, tls, user, secret } = channel;
    const login =
      user === undefined || secret === undefined ? {} : { login: { user, password: secrets.of(secret, name) } };
    return mailAdapter({
      server: smtp,
      from,
      to: recipient,
      ...(tls === undefined ? {} : { tls }),
      ...login,
      ...places,
    });
  }
  const [shape, urls] =
    'slack' in channel ? (['slack', channel.slack] as const) : (['plain', channel.webhook] as const);
  const secret = Object.hasOwn(urls, recipient) ? urls[recipient] : undefined;
  if (secret === undefined) throw new Mistake(`${name}: its channel has no recipient ${recipient}`);
  return webhookAdapter({ url: secrets.of(secret, name), recipient, shape, ...places });
}

/** The text about an offer of a recipient that people see. */
export const messageShownAs = ({ channel, recipient }: PlannedMessage): OfferOptions => ({
  label: `${channel}:${recipient}`.slice(0, 100),
  methods: ['draft', 'send', 'describe'],
  reads: ['draft', 'describe'],
});
