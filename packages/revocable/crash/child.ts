/** `node child.ts FOLDER LIFE`: spends uses until it is killed, and writes each step to descriptor 3. */
import { writeSync } from 'node:fs';
import { callOf, E, open } from './subject.ts';

const [folder = '', life = ''] = process.argv.slice(2);
const tell = (word: string, call: number): void => void writeSync(3, `${word} ${call}\n`);

const { drawer } = await open(folder, (call) => tell('effect', call));
tell('open', 0);
let calls = 0;
const caller = async (): Promise<void> => {
  for (;;) {
    const { grant, cap } = await E(drawer).current();
    calls += 1;
    const call = callOf(grant, Number(life), calls);
    try {
      await E(cap).act(call);
      tell('answered', call);
    } catch (error) {
      if ((error as { code?: string }).code !== 'exhausted') throw error;
    }
    await new Promise(setImmediate);
  }
};
await Promise.all([caller(), caller(), caller(), caller()]);
