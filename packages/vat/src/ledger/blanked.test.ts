/** What a program blanks is in no line and no argument, in a ledger that verifies. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openStore } from '../store/store.ts';
import { ledgerLine } from '../turn/turn.ts';
import { openVats } from '../vats/vats.ts';
import { exportLedger } from './export.ts';
import { ledgerArguments } from './redact.ts';
import { verifyLedger } from './verify.ts';

const SECRET = 'p4ss-word';

test('a blanked text is in no field and no argument, however deep it lies; the ledger verifies', async () => {
  const store = await openStore({ memory: true });
  const vats = await openVats({ store, blank: (text) => text.replaceAll(SECRET, '(blank)') });
  const vat = vats.vat('v');
  const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value).replaceAll('A', SECRET).replaceAll('B', `x${SECRET}${SECRET}y`)) as unknown); // biome-ignore format: one line
  await fc.assert(
    fc.asyncProperty(fc.array(json, { maxLength: 4 }), json, async (args, field) => {
      await vat.turn(() => ledgerLine('call', { method: `m ${SECRET}`, nested: field }, args));
    }),
    { numRuns: 60 },
  );
  await vat.turn(() => ledgerLine('call', {}, [`${SECRET} `.repeat(20_000)]));
  await vats.settled();
  let count = 0;
  for await (const line of exportLedger(store)) {
    count += 1;
    expect(line).not.toContain(SECRET);
    expect(ledgerArguments(store, count) ?? '').not.toContain(SECRET);
  }
  expect(count).toBeGreaterThan(60);
  await vats.close();
  expect(await verifyLedger(store)).toMatchObject({ ok: true });
  await store.close();
});
