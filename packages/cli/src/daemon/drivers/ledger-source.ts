/** The lines of a ledger: of the host that serves a state, of a state that nobody serves, or of an exported file. */
import { readFileSync } from 'node:fs';
import { holderOf, linesOf } from '@hob/host/client';
import { exportAtRest, isState } from '@hob/host/programs';
import { E, verifyLedger } from '@hob/vat';
import { restOf } from '../../drivers/at-rest.ts';
import { stateOf } from '../../drivers/places.ts';
import { Mistake } from '../../line/mistake.ts';
import type { Given } from '../../line/verb.ts';
import type { Served } from '../daemon.ts';
import type { LedgerLine } from '../ledger-line.ts';
import { withDaemon } from './client.ts';

/** Lines, and what a running host says about its manifest. */
interface LedgerSource {
  readonly lines: readonly LedgerLine[];
  /** The file of the manifest, and what it leads to; undefined if no host serves the state. */
  readonly served?: Served & { readonly file: string };
}

/** `file` is an export, or undefined. Errors: `Mistake`. */
export async function readLedger(given: Given, file: string | undefined): Promise<LedgerSource> {
  if (file !== undefined) {
    const verdict = await verifyLedger({ file });
    if (!verdict.ok) throw new Mistake(`${file} is no whole ledger: hob ledger verify ${file} says more`);
    const texts = readFileSync(file, 'utf8').split('\n');
    return { lines: texts.filter((text) => text !== '').map(lineIn) };
  }
  const state = stateOf(given);
  const rest = await restOf(given);
  if ((isState(state) || rest.open !== undefined) && holderOf(state) === 'nobody')
    return { lines: await exportAtRest(rest, all) };
  return await withDaemon(given, async ({ granter, daemon }) => ({
    lines: await all(linesOf(granter)),
    served: { ...((await E(daemon).served()) as Served), file: (await E(daemon).status()).manifest },
  }));
}

const lineIn = (text: string): LedgerLine => JSON.parse(text) as LedgerLine;

async function all(texts: AsyncIterable<string>): Promise<readonly LedgerLine[]> {
  const lines: LedgerLine[] = [];
  for await (const text of texts) lines.push(lineIn(text));
  return lines;
}
