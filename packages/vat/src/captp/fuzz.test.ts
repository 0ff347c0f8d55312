/**
 * Runs the fuzzers (`packages/vat/attack/fuzz.ts`, `model.ts`) for a second or two, in the deep run for about
 * a minute. `npm run fuzz:captp -- --minutes 10` is the long run.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { volume } from '../../../../test/depth.ts';
import { chanceSeed } from '../../../../test/seed.ts';
import { conversation, Fuzzer, shown, shrunk } from '../../attack/fuzz.ts';
import { ModelFuzzer } from '../../attack/model.ts';

const conversations = volume(150, 400);
const byRules = volume(100, 2_500);
/** Ends what hangs. */
const limitMs = 900_000;

test(`${conversations} conversations made by chance: closed with a reason or answered, and nothing is left`, async () => {
  const fuzzer = await Fuzzer.open();
  try {
    for (let seed = chanceSeed; seed < chanceSeed + conversations; seed += 1) {
      const talk = conversation(seed);
      const { fault, steps } = await fuzzer.run(talk);
      if (fault === undefined) continue;
      const { dialect, limits, meter } = talk;
      expect.fail(`seed ${seed}: ${fault}\n${shown(await shrunk(fuzzer, { dialect, limits, meter, steps }, fault))}`);
    }
  } finally {
    await fuzzer.close();
  }
});

test(
  `${byRules} conversations of peers that keep to the rules and vanish: no error of ours, no table with anything left`,
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hob-fuzz-'));
    const fuzzer = await ModelFuzzer.open(folder);
    try {
      for (let seed = chanceSeed; seed < chanceSeed + byRules; seed += 1) {
        const { faults } = await fuzzer.run(seed);
        expect(faults, `npm run fuzz:captp -- --kind model --one --seed ${seed}`).toEqual([]);
      }
    } finally {
      await fuzzer.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
  limitMs,
);
