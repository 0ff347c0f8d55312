/**
 * Entries without the values of secrets.
 *
 * Promise: what the program's `blank` removes from a text is in no line and in no stored argument. The commitment of a
 * line is to the text that is stored, so the ledger verifies as before.
 */
import type { EncodedArgs } from '../core/ledger-entry.ts';
import { MAX_ARGS_BYTES } from './arguments.ts';
import type { KnownLedgerEntry } from './kinds.ts';

/** Returns a text without the values of secrets. It must not throw. */
export type Blank = (text: string) => string;

/** The entry as it may be written. */
export function blankedEntry(entry: KnownLedgerEntry, blank: Blank): KnownLedgerEntry {
  const { kind, fields, args } = entry;
  return {
    kind,
    fields: blankedValue(fields, blank) as KnownLedgerEntry['fields'],
    args: args === undefined || args.argc === 0 ? args : blankedArgs(args, blank),
  };
}

function blankedValue(value: unknown, blank: Blank): unknown {
  if (typeof value === 'string') return blank(value);
  if (Array.isArray(value)) return value.map((each) => blankedValue(each, blank));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [blank(name), blankedValue(each, blank)]));
}

function blankedArgs(args: EncodedArgs, blank: Blank): EncodedArgs {
  const before = new TextDecoder().decode(args.bytes);
  const text = blank(before);
  if (text === before) return args;
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= MAX_ARGS_BYTES) return { ...args, bytes };
  let end = MAX_ARGS_BYTES;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1; // not inside a character
  return { ...args, bytes: bytes.slice(0, end), cut: true };
}
