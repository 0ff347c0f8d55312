/** A part of `npm run bisim`: the same worlds, some of the rows of every kind. */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { hermesPython } from '../scripts/hermes.mjs';
import { needs, requires } from '../test/needs.ts';
import { AGREED } from './agreed.ts';
import { isReal, type Judged } from './classes.ts';
import { openWorlds, type Worlds } from './play.ts';
import { reportOf } from './report.ts';
import { tables } from './rows/all.ts';
import type { Row } from './rows/row.ts';

const VERSION = '0.19.0';
const test = requires('linux', 'cc', 'userns', 'hermes');
const can = (['linux', 'cc', 'userns', 'hermes'] as const).every(needs);
const row = (...steps: string[]): Row => ({ id: 'test/0', family: 'test', kind: 'destructive', steps, needs: [] });

describe('two worlds', () => {
  let worlds: Worlds;
  beforeAll(async () => {
    const { python } = hermesPython(VERSION);
    if (can && python !== undefined) worlds = await openWorlds(python, VERSION);
  }, 120_000);
  afterAll(async () => {
    await worlds?.close();
  }, 60_000);
  const play = async (...steps: string[]): Promise<Judged> => {
    const played = await worlds.play(row(...steps));
    if (played === undefined) throw new Error('it needs nothing');
    return played;
  };

  test('a sample of every family: no effect of the cap world is outside, no difference is unexplained, what is benign works', async () => {
    const rows = tables(worlds.machine, worlds.port, worlds.mark);
    const firsts = rows.filter(({ family }, n) => family !== rows[n - 1]?.family);
    const judged: Judged[] = [];
    for (const each of [...firsts, ...rows.filter((_, n) => n % 97 === 13)]) {
      const played = await worlds.play(each);
      if (played !== undefined) judged.push(played);
    }
    const { faults, effectsOutside, destructive, withoutShell } = reportOf(VERSION, judged);
    expect({ faults, effectsOutside }).toEqual({ faults: [], effectsOutside: 0 });
    expect(withoutShell).toBe(judged.length);
    expect(destructive.letThrough).toBeGreaterThan(0);
  }, 300_000);

  test("the seed's probes: r''m is caught by now, the word that only looks like rm runs nothing, xargs goes through", async () => {
    const quoted = await play("r''m -rf ~/documents");
    expect(quoted).toMatchObject({ class: 'equal', hermes: { verdict: 'asked' } });
    const root = await play("r''m -rf /");
    expect(root.hermes.verdict).toBe('refused');
    expect(root.cap.effects).toEqual([]);
    // Cyrillic: to bash another word, and no such program.
    const confusable = await play('гm -rf ~/documents');
    expect(confusable).toMatchObject({ class: 'equal', hermes: { verdict: 'ran', status: 127 }, cap: { status: 127 } });
    expect(isReal(confusable)).toBe(false);
    expect(await play('echo ~/documents/thesis.txt | xargs unlink')).toMatchObject({
      class: 'hermes-escape',
      cap: { effects: [] },
    });
  }, 120_000);

  for (const { name, example } of AGREED)
    test(`agreed: ${name}`, async () => {
      expect(await play(example)).toMatchObject({ class: 'agreed' });
    }, 60_000);
});
