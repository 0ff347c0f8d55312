/** The caps that reach others: an origin with a path prefix, and recipients of channels. */
import type { CapTerms, Channel, HttpCap, MessageCap } from '../file/types.ts';
import { type Finding, type Path, quoted } from '../text/mistakes.ts';
import type { Base } from './command.ts';
import { directoryOf, orNearest } from './directories.ts';
import type { Plan, PlannedChannel, PlannedHttp, PlannedMessage } from './plan.ts';

/** A cap of an origin. Pushes what is wrong. */
export function httpOf(cap: HttpCap, base: Base, path: Path, findings: Finding[]): PlannedHttp {
  const { origin, pathname, protocol } = new URL(cap.http);
  const { secret, auth, ca, client, proxy, own } = cap;
  if (own === true) findings.push(...askedAnyway(cap, base, path));
  if (protocol === 'http:' && (ca ?? client) !== undefined)
    findings.push({ path: [...path, ca === undefined ? 'client' : 'ca'], wrong: 'there are no certificates without https', write: 'write https, or remove it' }); // biome-ignore format: one line
  if (auth !== undefined && secret === undefined)
    findings.push({ path: [...path, 'auth'], wrong: 'there is no secret that it could send', write: 'add secret, or remove auth' }); // biome-ignore format: one line
  if (secret !== undefined && protocol === 'http:' && cap.addresses === undefined)
    findings.push({ path: [...path, 'http'], wrong: 'a secret would go over the network in plain text', write: 'write https, or list the addresses in addresses' }); // biome-ignore format: one line
  return {
    ...base,
    kind: 'http',
    origin,
    path: pathname,
    methods: [...new Set(cap.methods)].sort(),
    ...(secret === undefined ? {} : { secret }),
    ...(auth === undefined ? {} : { auth }),
    headers: [...new Set((cap.headers ?? []).map((header) => header.toLowerCase()))].sort(),
    addresses: [...new Set(cap.addresses ?? [])].sort(),
    ...(ca === undefined ? {} : { ca }),
    ...(client === undefined ? {} : { client }),
    ...(proxy === undefined ? {} : { proxy }),
    ...(own === undefined ? {} : { own }),
  };
}

/** `own` says nothing where a person is asked about each call. */
export const askedAnyway = (
  { needs, always_human: human }: CapTerms,
  { how }: Base,
  path: Path,
): readonly Finding[] =>
  how !== 'ask' && needs === undefined && human !== true
    ? []
    : [{ path: [...path, 'own'], wrong: 'a person is asked about each call of this cap', write: 'remove own, or move it to caps without needs and always_human' }]; // biome-ignore format: one line

/** The channels of a manifest, with their directories resolved. Pushes what is wrong. */
export function channelsOf(
  channels: Readonly<Record<string, Channel>>,
  roots: Plan['roots'],
  findings: Finding[],
): Plan['channels'] {
  const planned: Record<string, PlannedChannel> = {};
  for (const [name, channel] of Object.entries(channels)) {
    const path = ['channels', name];
    if ('outbox' in channel) {
      const outbox = directoryOf(channel.outbox, [...path, 'outbox'], roots, findings);
      if (outbox !== undefined) planned[name] = { outbox };
      continue;
    }
    planned[name] = channel;
    if (!('smtp' in channel)) continue;
    if ((channel.user === undefined) !== (channel.secret === undefined))
      findings.push({ path, wrong: 'a login has user and secret, and one is missing', write: 'write both, or none' });
    if (channel.tls === 'none' && channel.addresses === undefined)
      findings.push({ path: [...path, 'tls'], wrong: 'mails would go over the network in plain text', write: 'list the addresses in addresses, or write starttls' }); // biome-ignore format: one line
  }
  return planned;
}

/** A cap of a recipient. Pushes what is wrong. */
export function messageOf(
  { message }: MessageCap,
  base: Base,
  path: Path,
  { channels, findings }: { readonly channels: Plan['channels']; readonly findings: Finding[] },
): PlannedMessage {
  const at = message.indexOf(':');
  const [channel, recipient] = [message.slice(0, at), message.slice(at + 1)];
  const way = Object.hasOwn(channels, channel) ? channels[channel] : undefined;
  const wrong = (what: string, write: string): unknown =>
    findings.push({ path: [...path, 'message'], wrong: what, write });
  if (way === undefined) wrong(`there is no channel ${quoted(channel)}`, orNearest(channel, Object.keys(channels)));
  const known =
    way === undefined || 'smtp' in way || 'outbox' in way ? undefined : 'slack' in way ? way.slack : way.webhook;
  if (known !== undefined && !Object.hasOwn(known, recipient))
    wrong(`the channel ${channel} has no recipient ${quoted(recipient)}`, orNearest(recipient, Object.keys(known)));
  if (way !== undefined && 'smtp' in way && !/^[^\s@]+@[^\s@]+$/.test(recipient))
    wrong(`${quoted(recipient)} is no mailbox`, `write for example ${channel}:ann@example.org`);
  const { offer } = base;
  if (offer !== undefined && JSON.stringify(offer) !== '{"uses":1}')
    findings.push({ path: [...path, 'offer'], wrong: 'each message of this cap is asked for by itself', write: 'leave offer out' }); // biome-ignore format: one line
  return { ...base, kind: 'message', channel, recipient };
}
