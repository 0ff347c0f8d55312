/**
 * The texts of a message, checked once.
 *
 * Promise: a text that a person approves is the text that arrives. A header, a file name and a recipient have one line and
 * no character that changes how others are shown: no control character, no direction mark, nothing invisible. A body has
 * lines and tabs, and no other control character.
 */
import { takeBytes, takeList, takeRecord, takeText } from '../base/arguments.ts';
import { refusal } from '../base/errors.ts';
import type { Message } from './message-cap.ts';

const LONGEST_TEXT = 200_000;
const LONGEST_LINE = 200;
const MOST_ATTACHMENTS = 16;
const MOST_BYTES = 10 * 1024 * 1024;

/** Errors: `E_MESSAGE`, `limit`, `invalid`. */
export function takeMessage(id: string, text: unknown, options: unknown): Message {
  const { subject = '', attachments = [] } = takeRecord(options, 'draft', ['subject', 'attachments'], 'option');
  let left = MOST_BYTES;
  const files = takeList(attachments, 'attachments', MOST_ATTACHMENTS).map((given) => {
    const {
      name,
      type = 'application/octet-stream',
      data,
    } = takeRecord(given, 'an attachment', ['name', 'type', 'data']);
    const bytes = takeBytes(data, 'the attachments together', left);
    left -= bytes.length;
    return { name: takeFileName(name), type: takeType(type), data: bytes };
  });
  if (new Set(files.map(({ name }) => name)).size < files.length)
    throw refusal('E_MESSAGE', 'two attachments have one name');
  return { id, subject: takeLine(subject, 'the subject'), text: takeBody(text), attachments: files };
}

/** More than a person is shown of a message, and more than a detector reads: it says of a longer text that it is too long. */
const SHOWN_TEXT = 4_000;

/** The beginning of a file that is text, for people and detectors. Empty: it is none. */
export function textIn(data: Uint8Array): string {
  // A character takes up to four bytes. One that the cut goes through is left out.
  const first = new TextDecoder('utf-8', { fatal: true });
  try {
    const text = first.decode(data.subarray(0, SHOWN_TEXT * 4), { stream: data.length > SHOWN_TEXT * 4 });
    if (text.includes('\0')) return '';
    return text.slice(0, SHOWN_TEXT).replace(/[\ud800-\udbff]$/, '');
  } catch {
    return '';
  }
}

function takeBody(given: unknown): string {
  const text = takeText(given, 'the text', LONGEST_TEXT).replaceAll('\r\n', '\n');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  if (/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]/.test(text))
    throw refusal('E_MESSAGE', 'the text has a control character');
  if (TURNING.test(text)) throw refusal('E_MESSAGE', 'the text has a mark that turns the direction of what follows');
  return text;
}

const TURNING = /[\u202a-\u202e\u2066-\u2069]/;
const INVISIBLE = /\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}|\p{Co}|\p{Cn}|\p{Default_Ignorable_Code_Point}|\u2800/u;

/** One line that shows as what it is. Errors: `E_MESSAGE`. */
export function takeLine(given: unknown, what: string): string {
  const line = takeText(given, what, LONGEST_LINE);
  if (INVISIBLE.test(line)) throw refusal('E_MESSAGE', `${what} has a line break, or a character that is not seen`);
  return line.trim();
}

function takeFileName(given: unknown): string {
  const name = takeLine(given, 'the name of an attachment');
  if (name === '' || /[/\\"<>|:*?]/.test(name) || /^\.{1,2}$/.test(name))
    throw refusal('E_MESSAGE', 'the name of an attachment is a plain file name');
  return name;
}

function takeType(given: unknown): string {
  if (typeof given === 'string' && /^[a-z0-9][a-z0-9.+-]{0,63}\/[a-z0-9][a-z0-9.+-]{0,63}$/.test(given)) return given;
  throw refusal('E_MESSAGE', 'the type of an attachment is like text/plain');
}

/** One mailbox, as it stands in an envelope. Errors: `E_MESSAGE`. */
export function takeMailbox(given: unknown): string {
  const text = typeof given === 'string' ? given : '';
  const at = text.lastIndexOf('@');
  const [local, domain] = [text.slice(0, at), text.slice(at + 1)];
  if (!/^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/.test(local) || local.length > 64)
    throw refusal('E_MESSAGE', 'a mailbox is written as name@host, without quotes, comments or a display name');
  if (!/^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(domain))
    throw refusal('E_MESSAGE', 'the host of a mailbox is in lower-case ASCII: write xn--…');
  return text;
}
