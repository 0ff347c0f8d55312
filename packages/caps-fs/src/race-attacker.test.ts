/** The race against every operation, in short: `npm run attack:fs` is the same with a million attempts a cell. */
import { expect, test } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { compile } from '../attack/arena.ts';
import { cells } from '../attack/cells/index.ts';
import { race } from '../attack/race.ts';
import { backends, lacks } from '../test/backends.ts';

const ATTEMPTS = 160;
// Where the machine is busy the attacker shares the victim's core, and then finds little.
const CONTROL = 20_000;
const minute = 60_000;

let attacker: ReturnType<typeof compile> | undefined;
const raced = requires('cc');
raced.beforeAll(() => {
  attacker = compile();
});
raced.afterAll(() => attacker?.[Symbol.dispose]());
// Not bound to a core: the machine belongs to other tests as well.
const terms = (attempts: number) => ({ program: attacker?.program ?? '', core: -1, attempts });

for (const backend of backends) {
  const lacking = await lacks(backend);
  if (lacking !== undefined) {
    test(`${backend}: no operation is led out`, (context) => context.skip(lacking));
    continue;
  }
  for (const cell of cells) {
    raced(`${backend}: is not led out: ${cell.name}`, async () => {
      const { escapes, outcomes, swaps } = await race(cell, backend, terms(ATTEMPTS));
      expect(escapes).toBe(0);
      expect(swaps).toBeGreaterThan(100);
      // An entry that changes is one of the usual refusals, and never a malformed argument.
      for (const code of ['IO', 'PATH_INVALID', 'invalid']) expect([...outcomes.keys()]).not.toContain(code);
    });
  }
}

raced(
  'the same attack finds ways out of realpath-then-open, else it would prove nothing',
  async () => {
    const led: string[] = [];
    for (const cell of cells) {
      const { escapes } = await race(cell, 'realpath-then-open', { ...terms(CONTROL), untilEscape: true });
      if (escapes > 0) led.push(cell.name);
      if (led.length === 5) break;
    }
    expect(led.length).toBe(5);
  },
  minute,
);
