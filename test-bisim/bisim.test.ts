/** A part of `npm run bisim`: the same worlds, some of the rows of every kind. */
import { expect, onTestFinished } from 'vitest';
import { hermesPython } from '../scripts/hermes.mjs';
import { requires } from '../test/needs.ts';
import { AGREED } from './agreed.ts';
import { isReal, type Judged } from './classes.ts';
import { openWorlds, type Worlds } from './play.ts';
import { reportOf } from './report.ts';
import { tables } from './rows/all.ts';
import type { Row } from './rows/row.ts';

const VERSION = '0.19.0';
const test = requires('linux', 'cc', 'userns', 'hermes');
const row = (...steps: string[]): Row => ({ id: 'test/0', family: 'test', kind: 'destructive', steps, needs: [] });

/** They end with the test. */
async function worlds(): Promise<Worlds> {
  const { python = '' } = hermesPython(VERSION);
  const opened = await openWorlds(python, VERSION);
  onTestFinished(() => opened.close());
  return opened;
}
async function play(where: Worlds, ...steps: string[]): Promise<Judged> {
  const played = await where.play(row(...steps));
  if (played === undefined) throw new Error('it needs nothing');
  return played;
}

test('a sample of every family: no effect of the cap world is outside, no difference is unexplained, what is benign works', async () => {
  const all = await worlds();
  const rows = tables(all.machine, all.port, all.mark);
  const firsts = rows.filter(({ family }, n) => family !== rows[n - 1]?.family);
  const judged: Judged[] = [];
  for (const each of [...firsts, ...rows.filter((_, n) => n % 97 === 13)]) {
    const played = await all.play(each);
    if (played !== undefined) judged.push(played);
  }
  const { faults, effectsOutside, destructive, withoutShell } = reportOf(VERSION, judged);
  expect({ faults, effectsOutside }).toEqual({ faults: [], effectsOutside: 0 });
  expect(withoutShell).toBe(judged.length);
  expect(destructive.letThrough).toBeGreaterThan(0);
}, 400_000);

test("the seed's probes: r''m is caught by now, the word that only looks like rm runs nothing, xargs goes through", async () => {
  const all = await worlds();
  const quoted = await play(all, "r''m -rf ~/documents");
  expect(quoted).toMatchObject({ class: 'equal', hermes: { verdict: 'asked' } });
  const root = await play(all, "r''m -rf /");
  expect(root.hermes.verdict).toBe('refused');
  expect(root.cap.effects).toEqual([]);
  // Cyrillic: to bash another word, and no such program.
  const confusable = await play(all, 'гm -rf ~/documents');
  expect(confusable).toMatchObject({ class: 'equal', hermes: { verdict: 'ran', status: 127 }, cap: { status: 127 } });
  expect(isReal(confusable)).toBe(false);
  expect(await play(all, 'echo ~/documents/thesis.txt | xargs unlink')).toMatchObject({
    class: 'hermes-escape',
    cap: { effects: [] },
  });
}, 400_000);

test('every agreed difference is there', async () => {
  const all = await worlds();
  for (const { name, example } of AGREED)
    expect({ name, ...(await play(all, example)) }).toMatchObject({ name, class: 'agreed' });
}, 400_000);
