/** The fuzzer (`packages/vat/attack/fuzz.ts`) for a second or two; `npm run fuzz:captp -- --seconds 600` is the long run. */
import { expect, test } from 'vitest';
import { chanceSeed } from '../../../../test/seed.ts';
import { conversation, Fuzzer, shown, shrunk } from '../../attack/fuzz.ts';

const conversations = 400;

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
