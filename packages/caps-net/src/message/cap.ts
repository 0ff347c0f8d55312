/**
 * The message cap.
 *
 * Promise: what is approved is what is sent. A draft is plain data with recipient, subject, text, the attachments and the
 * digest of the bytes, so a grant that asks about `send` shows all of it. It is sent at most once: also after an error,
 * also after a crash. Nothing here tries again.
 */
import { CapError, type DriverCall } from '@hob/vat';
import { drivenBy, withEffects } from '@hob/vat/forwarder';
import { refusal } from '../base/errors.ts';
import { digestOf, newId, wallNow } from '../drivers/digest.ts';
import { DraftsByHolder, type Kept } from './drafts.ts';
import type { Draft, Message, MessageAdapter, MessageCap, Sent } from './message-cap.ts';
import { takeLine, takeMessage, textIn } from './text.ts';

const never = new AbortController().signal;

/** A cap for the recipient of the adapter. Errors: `E_MESSAGE`: the recipient has a character that is not seen. */
export function makeMessageCap(adapter: MessageAdapter): MessageCap {
  const recipient = takeLine(adapter.recipient, 'the recipient');
  const channel = Object.freeze({ kind: adapter.kind, recipient });
  const drafts = new DraftsByHolder(wallNow);
  const draft = async (holder: string, text: unknown, options: unknown): Promise<Draft> => {
    const message = takeMessage(newId(), text, options);
    const bytes = await adapter.render(message);
    const made = Object.freeze({ ...channel, ...shown(message), digest: digestOf(bytes) });
    drafts.of(holder).keep({ draft: made, message, bytes });
    return made;
  };
  const send = async (holder: string, given: unknown, signal: AbortSignal): Promise<Sent> =>
    delivered(adapter, drafts.of(holder).take(given), signal);
  const describe = async (): Promise<typeof channel> => channel;
  const own: MessageCap = Object.freeze({
    draft: (text, options) => draft('', text, options),
    send: (given) => send('', given, never),
    describe,
  } satisfies MessageCap);
  const cap = drivenBy(own, {
    draft: ([text, options], { cause }) => draft(cause.join(' '), text, options),
    send: ([given], call) => sentUnder(call, () => send(call.cause.join(' '), given, call.signal)),
    describe,
  });
  return withEffects(cap, () => ({
    draft: { class: 'A' },
    send: { class: 'C', undo: 'impossible', outbound: true },
    describe: { class: 'A' },
  }));
}

const shown = ({ id, subject, text, attachments }: Message): Omit<Draft, 'digest' | 'kind' | 'recipient'> => ({
  ...{ id, subject, text },
  attachments: Object.freeze(
    attachments.map(({ name, type, data }) => {
      const text = textIn(data);
      return Object.freeze({ name, type, bytes: data.length, digest: digestOf(data), ...(text && { text }) });
    }),
  ),
});

async function delivered(adapter: MessageAdapter, { draft, message, bytes }: Kept, signal: AbortSignal): Promise<Sent> {
  let left = false;
  const leaving = (): void => {
    left = true;
  };
  try {
    signal.throwIfAborted();
    const receipt = await adapter.deliver(bytes, message, { signal, leaving });
    return Object.freeze({ id: draft.id, digest: draft.digest, receipt: shortened(receipt) });
  } catch (error) {
    if (error instanceof CapError && error.code === 'E_REFUSED') throw error;
    if (left) throw refusal('unknown-outcome', 'ask the recipient, or look into the channel');
    throw error instanceof CapError ? error : refusal('E_UNREACHABLE');
  }
}

/** The ledger gets who and which bytes, and not what they say. */
async function sentUnder(call: DriverCall, send: () => Promise<Sent>): Promise<Sent> {
  const [grant] = call.cause;
  const tell = (code: string, digest?: string): Promise<void> =>
    call.tell('result', { grant, method: 'send', code, ...(digest === undefined ? {} : { digest }) });
  try {
    const sent = await send();
    await tell('sent', sent.digest);
    return sent;
  } catch (error) {
    await tell(error instanceof CapError ? error.code : 'error');
    throw error;
  }
}

/** A receipt is the text of a stranger. */
const shortened = (receipt: string): string => receipt.replace(/[^\x20-\x7e]/g, ' ').slice(0, 200);
