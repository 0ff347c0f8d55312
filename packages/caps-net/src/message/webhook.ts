/**
 * An adapter that posts each message to a URL, which is a secret: whoever knows it can post.
 *
 * Promise: the URL is read for each message, so a rotation needs no new grant. The text arrives as it was approved: in the
 * shape of Slack, marks of links, mentions and formatting are escaped or switched off. The id of the draft goes along as
 * `idempotency-key`.
 */
import { type OptionNames, takeOptions } from '../base/arguments.ts';
import { refusal } from '../base/errors.ts';
import { makeHttpCap } from '../http/cap.ts';
import type { HttpProxy } from '../http/http-cap.ts';
import { Secret } from '../secret/secret.ts';
import type { Message, MessageAdapter } from './message-cap.ts';
import { plainBody } from './outbox.ts';

/** The options of `webhookAdapter`. */
export interface WebhookOptions {
  /** `https://hooks.example.com/services/…` */
  readonly url: Secret;
  /** How people call the channel. */
  readonly recipient: string;
  /** `slack`: `{text}`, without attachments. `plain` (default): `{id, subject, text, attachments}`. */
  readonly shape?: 'slack' | 'plain';
  readonly addresses?: readonly string[];
  readonly proxy?: HttpProxy;
  readonly ca?: string;
}

const webhookOptions: OptionNames<WebhookOptions> = {
  url: true,
  recipient: true,
  shape: true,
  addresses: true,
  proxy: true,
  ca: true,
};

/** The way to one channel behind a webhook. Errors: `invalid`. */
export function webhookAdapter(options: WebhookOptions): MessageAdapter {
  const { url, recipient, shape = 'plain', ...more } = takeOptions(options, 'webhookAdapter', webhookOptions);
  if (shape !== 'plain' && shape !== 'slack') throw refusal('invalid', 'shape is plain or slack');
  if (!(url instanceof Secret)) throw refusal('invalid', 'url is made by makeSecret');
  return Object.freeze({
    kind: `webhook (${shape})`,
    recipient,
    render: async (message: Message) =>
      new TextEncoder().encode(JSON.stringify(shape === 'slack' ? slackBody(message) : plainBody(message))),
    deliver: async (bytes, { id }, { signal, leaving }) => {
      const { origin, path } = placeOf(url.use());
      await using cap = makeHttpCap({ ...more, origin, prefix: '/', methods: ['POST'], limits: { redirects: 0, bodyBytes: 64 * 1024 * 1024, totalMs: 60_000 } }); // biome-ignore format: one line
      const end = (): void => void cap[Symbol.asyncDispose]();
      signal.addEventListener('abort', end, { once: true });
      try {
        const headers = { 'content-type': 'application/json; charset=utf-8', 'idempotency-key': id };
        const { status } = await cap.fetchText(path, { method: 'POST', headers, body: bytes }).catch((error) => {
          // The only code that says that it may have arrived.
          if (error.code === 'unknown-outcome' || error.code === 'unavailable') leaving();
          throw error.code === 'E_REDIRECT' ? refusal('E_REFUSED', 'the server sends it elsewhere') : error;
        });
        if (status < 200 || status > 299) throw refusal('E_REFUSED', `the server answers ${status}`);
        return `${status}`;
      } finally {
        signal.removeEventListener('abort', end);
      }
    },
  } satisfies MessageAdapter);
}

function placeOf(url: string): { readonly origin: string; readonly path: string } {
  const [, origin, path = '/'] = /^(https?:\/\/[^/?#]+)(\/.*)?$/.exec(url) ?? [];
  if (origin === undefined) throw refusal('E_SECRET', 'it is not a URL');
  return { origin, path };
}

/** See "Formatting text" of Slack: these three characters begin mentions and links. */
function slackBody({ subject, text, attachments }: Message): object {
  if (attachments.length > 0) throw refusal('E_MESSAGE', 'this channel takes no attachments');
  const escaped = (part: string): string =>
    part.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const whole = subject === '' ? text : `${subject}\n${text}`;
  return { text: escaped(whole), mrkdwn: false, parse: 'none', link_names: false, unfurl_links: false, unfurl_media: false }; // biome-ignore format: one line
}
