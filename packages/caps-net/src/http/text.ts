/** An answer read as text. */
import type { ByteSource } from '@hob/vat';
import { blankBytes } from '../secret/blank-stream.ts';
import type { FormTable } from '../secret/form-table.ts';
import type { HttpAnswer, HttpText } from './http-cap.ts';

/** The largest text of an answer: it goes through a frame of a wire. */
export const LONGEST_TEXT: number = 448 * 1024;

/** Reads up to the limit. Then it ends the stream. */
export async function readText({ body, ...head }: HttpAnswer, table: FormTable | undefined): Promise<HttpText> {
  const { bytes, truncated } = await readUpTo(body, LONGEST_TEXT);
  const { decoder, isUtf8 } = decoderOf(head.headers['content-type']);
  const text = decoder.decode(bytes);
  // Another encoding of characters hides a value from the stream of bytes.
  const blanked = table === undefined || isUtf8 ? text : blankBytes(table, Buffer.from(text)).toString();
  return Object.freeze({ ...head, text: blanked, truncated });
}

async function readUpTo(body: ByteSource, most: number): Promise<{ bytes: Buffer; truncated: boolean }> {
  const parts: Uint8Array[] = [];
  for (let left = most; ; ) {
    const part = await body.next();
    if (part === undefined) return { bytes: Buffer.concat(parts), truncated: false };
    parts.push(part.subarray(0, left));
    left -= part.length;
    if (left >= 0) continue;
    await body.return();
    return { bytes: Buffer.concat(parts), truncated: true };
  }
}

function decoderOf(type: string | undefined): { readonly decoder: TextDecoder; readonly isUtf8: boolean } {
  const charset = /;\s*charset="?([^\s";]+)/i.exec(type ?? '')?.[1] ?? 'utf-8';
  try {
    const decoder = new TextDecoder(charset);
    return { decoder, isUtf8: decoder.encoding === 'utf-8' };
  } catch {
    return { decoder: new TextDecoder(), isUtf8: true };
  }
}
