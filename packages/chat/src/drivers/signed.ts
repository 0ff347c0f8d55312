/** Signed messages over HTTP, as the Standard Webhooks specification says: HMAC-SHA256 of `id.timestamp.body`. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { CapError } from '@hob/vat';

const ATTEMPT_MS = 10_000;

const signatureOf = (key: Uint8Array, id: string, timestamp: string, body: string): Buffer =>
  createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest();

/** The headers that sign a body. `at` is in ms since 1970. */
export function signedHeaders(key: Uint8Array, id: string, at: number, body: string): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(at / 1000));
  const signature = signatureOf(key, id, timestamp, body).toString('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

/** Whether one of the signatures of the headers is by this key. */
export function isSigned(key: Uint8Array, headers: Headers, body: string): boolean {
  const [id = '', timestamp = '', all = ''] = ['id', 'timestamp', 'signature'].map((name) => headers.get(`webhook-${name}`) ?? ''); // biome-ignore format: one line
  const right = signatureOf(key, id, timestamp, body);
  return all.split(' ').some((one) => {
    const given = Buffer.from(one.replace(/^v1,/, ''), 'base64');
    return one.startsWith('v1,') && given.length === right.length && timingSafeEqual(given, right);
  });
}

/** Posts a body. Redirects are not followed. Errors: `unavailable`, without a word of the address. */
export async function post(url: URL, headers: Readonly<Record<string, string>>, body: string): Promise<void> {
  try {
    const answer = await fetch(url, { method: 'POST', redirect: 'error', body, headers: { ...headers, 'content-type': 'application/json' }, signal: AbortSignal.timeout(ATTEMPT_MS) }); // biome-ignore format: one line
    await answer.body?.cancel();
    if (answer.ok) return;
  } catch {
    // The text of the error may name the address.
  }
  throw new CapError('unavailable', 'the webhook of a chat did not take a message');
}
