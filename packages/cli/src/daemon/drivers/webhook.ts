/**
 * Posts notices to a URL that the person who runs the host names.
 *
 * Promise: the body is signed with a key that the receiver has, as the Standard Webhooks specification says. It goes
 * by https, or to this machine. Redirects are not followed. A receiver that is slow, away or hostile delays no turn
 * and no close: each try has a limit, the tries are counted, and so are the notices that wait. Nothing of the URL but
 * its host is in a message.
 */
import { randomBytes } from 'node:crypto';
import { signedHeaders } from '@hob/chat/signed';
import { Mistake } from '../../line/mistake.ts';

/** The way to a receiver. */
export interface Webhook {
  /** Returns at once. */
  post(body: object): void;
  /** Gives up all that waits. */
  close(): void;
}

/** Times are in ms. */
interface WebhookOptions {
  readonly url: URL;
  readonly key: Uint8Array;
  readonly say: (line: string) => void;
  /** How long to wait after each try that failed. There is one try more than there are times. */
  readonly retryMs?: readonly number[];
  readonly attemptMs?: number;
}

const RETRY_MS = [5_000, 30_000, 120_000, 600_000, 1_800_000] as const;
const ATTEMPT_MS = 10_000;
/** More are dropped, the oldest first. */
const MOST_WAITING = 100;

/** Errors: `Mistake`. */
export function webhookUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || text.length > 2000) throw new Mistake('--webhook takes a URL: https://hooks.example.org/hob', 2);
  if (url.username !== '' || url.password !== '')
    throw new Mistake('--webhook takes a URL without a user name: the signature says who sends', 2);
  const isOwn = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isOwn))
    throw new Mistake('--webhook takes an https URL, or an http URL of this machine: http://127.0.0.1:8080/hob', 2);
  url.hash = '';
  return url;
}

/** The key in the text of a key file. Errors: `Mistake`. */
export function webhookKey(text: string): Uint8Array {
  const line = text.trim();
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(line)?.[1];
  const key = encoded === undefined ? new Uint8Array() : new Uint8Array(Buffer.from(encoded, 'base64'));
  if (key.length < 24 || key.length > 64)
    throw new Mistake('--webhook-key-file takes a file with whsec_ and 24 to 64 bytes in base64: (printf whsec_; openssl rand -base64 32) > FILE'); // biome-ignore format: one line
  return key;
}

interface Delivery {
  readonly id: string;
  readonly body: string;
  tries: number;
  timer?: NodeJS.Timeout;
}

/** Opens the way. Nothing is sent before the first notice. */
export function openWebhook({ url, key, say, retryMs = RETRY_MS, attemptMs = ATTEMPT_MS }: WebhookOptions): Webhook {
  const waiting = new Set<Delivery>();
  const end = new AbortController();
  const drop = (delivery: Delivery, why: string): void => {
    clearTimeout(delivery.timer);
    waiting.delete(delivery);
    say(`hob: a notice was not delivered to ${url.host}: ${why}`);
  };
  const attempt = async (delivery: Delivery): Promise<void> => {
    delivery.tries += 1;
    const failure = await sent(delivery, { url, key, attemptMs, end: end.signal });
    if (end.signal.aborted || !waiting.has(delivery)) return;
    if (failure === undefined) {
      waiting.delete(delivery);
      return;
    }
    const wait = retryMs[delivery.tries - 1];
    if (wait === undefined) {
      drop(delivery, `${failure}, after ${delivery.tries} tries`);
      return;
    }
    if (delivery.tries === 1) say(`hob: the webhook at ${url.host} fails (${failure}): tried again`);
    // It keeps no process alive.
    delivery.timer = setTimeout(() => void attempt(delivery), wait).unref();
  };
  return {
    post(body) {
      if (end.signal.aborted) return;
      const [oldest] = waiting;
      if (waiting.size >= MOST_WAITING && oldest !== undefined) drop(oldest, 'too many notices wait');
      const delivery: Delivery = { id: `msg_${randomBytes(16).toString('hex')}`, body: JSON.stringify(body), tries: 0 };
      waiting.add(delivery);
      void attempt(delivery);
    },
    close() {
      end.abort();
      for (const { timer } of waiting) clearTimeout(timer);
      waiting.clear();
    },
  };
}

interface Target {
  readonly url: URL;
  readonly key: Uint8Array;
  readonly attemptMs: number;
  readonly end: AbortSignal;
}

/** One try. Returns why it failed. */
async function sent({ id, body }: Delivery, { url, key, attemptMs, end }: Target): Promise<string | undefined> {
  const over = new AbortController();
  const stop = (): void => over.abort();
  const limit = setTimeout(stop, attemptMs);
  end.addEventListener('abort', stop, { once: true });
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'hob', ...signedHeaders(key, id, Date.now(), body) },
      body,
      redirect: 'manual',
      signal: over.signal,
    });
    await answer.body?.cancel();
    return answer.ok ? undefined : `HTTP ${answer.status}`;
  } catch (error) {
    if (over.signal.aborted) return 'no answer in time';
    return String(((error as Error).cause as { readonly code?: unknown } | undefined)?.code ?? 'no connection');
  } finally {
    clearTimeout(limit);
    end.removeEventListener('abort', stop);
  }
}
