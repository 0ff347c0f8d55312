/**
 * One host for `crash.test.ts`: uses up a counter, says each effect and each answer on its standard output, and ends when
 * its store is gone or another host has it.
 */
import { writeSync } from 'node:fs';
import { type Definition, define, driver, E, type Far, openVats } from '@hob/vat';
import { postgresStore } from '../src/index.ts';

const [url = '', schema = '', leaseMs = '', uses = ''] = process.argv.slice(2);
const say = (line: string): void => void writeSync(1, `${line}\n`);

interface Uses {
  use(): number;
  left(): number;
}
/** The effect leaves after the commit of the turn that charged it. */
const Uses: Definition<Uses, [left: number, effect: Far<{ done(n: number): void }>]> = define(
  'Uses',
  (bcom, left, effect) => ({
    use() {
      if (left === 0) throw new Error('exhausted');
      void E(effect).done(left);
      return bcom(Uses(left - 1, effect), left) as never;
    },
    left: () => left,
  }),
);

const store = await postgresStore({ url, schema, leaseMs: Number(leaseMs) }).catch((error: { code: string }) => {
  say(`refused ${error.code}`);
  process.exit(3);
});
const effect = driver<{ done(n: number): void }>({ done: ([n]) => say(`effect ${n}`) }, { name: 'effect' });
const vats = await openVats({ store, definitions: [Uses] }).catch(() => process.exit(4));
const counter = (await vats.vat('a').root('uses', () => Uses(Number(uses), effect))) as Far<Uses>;
say(`left ${await E(counter).left()}`);
const caller = async (): Promise<void> => {
  for (;;) {
    const n = await E(counter)
      .use()
      .then(
        (used) => `ack ${used}`,
        (error: { code?: string }) => `error ${error.code ?? 'error'}`,
      );
    say(n);
    if (n === 'error error') process.exit(0); // used up
    if (n === 'error vat-halted') process.exit(5); // another host has the store
    if (n.startsWith('error')) await new Promise((then) => setTimeout(then, 50));
  }
};
await Promise.all(Array.from({ length: 4 }, caller));
