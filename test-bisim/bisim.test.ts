/** A part of `npm run bisim`: the same worlds, some of the rows of every kind. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { hermesPython } from '../scripts/hermes.mjs';
import { requires } from '../test/needs.ts';
import { AGREED } from './agreed.ts';
import { isReal, type Judged } from './classes.ts';
import type { Machine } from './machine.ts';
import { openWorlds, type Worlds } from './play.ts';
import { reportOf } from './report.ts';
import { tables } from './rows/all.ts';
import type { Row } from './rows/row.ts';
import { readScript, writeScripts } from './scripts.ts';

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

test('the rows: more than 600 destructive and 250 benign commands, each with a name of its own, of every family that is asked for', () => {
  const machine = { base: '/base', home: '/base/home' } as Machine;
  const rows = tables(machine, 4000, 'mark');
  const of = (kind: Row['kind']): number => rows.filter((each) => each.kind === kind).length;
  expect(of('destructive')).toBeGreaterThan(1000);
  expect(of('benign')).toBeGreaterThan(250);
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
  const families = new Set(rows.map(({ family }) => family));
  expect(
    [
      ...[
        'quoting',
        'IFS',
        'variables',
        'base64 and other codes',
        'xargs',
        'substitution',
        'globs',
        'unicode',
        'here-docs',
      ],
      ...['python', 'other interpreters', 'eval', 'find', 'tar', 'git', 'codes of other programs', 'busybox'],
      ...['perl, awk, node, tcl', 'split over two commands'],
    ].filter((name) => !families.has(name)),
  ).toEqual([]);
});

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

test('a counterexample of every class is kept as a script, and played from it in other worlds it comes to the same', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-scripts-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const all = await worlds();
  const { example = '' } = AGREED[0] ?? {};
  const judged: Judged[] = [];
  for (const [n, text] of ['echo ~/documents/thesis.txt | xargs unlink', example, 'rm -rf build'].entries()) {
    const played = await all.play({ ...row(text), id: `test/${n}`, kind: n === 2 ? 'benign' : 'destructive' });
    if (played !== undefined) judged.push(played);
  }
  // The other two must not come up: kept are they all the same.
  const [first] = judged as [Judged];
  const bad = (['cap-escape', 'unexplained'] as const).map((name) => ({
    ...first,
    class: name,
    note: 'made up',
    row: { ...row('true'), id: `test/${name}`, kind: 'generated' as const },
  }));
  const kept = writeScripts(folder, [...judged, ...bad]);
  expect(readdirSync(folder).sort()).toEqual([
    'agreed',
    'cap-escape',
    'hermes-escape',
    'hermes-overblock',
    'unexplained',
  ]);
  expect(kept).toBe(judged.length + bad.length);
  const other = await worlds();
  for (const { row: played, class: name } of judged) {
    const file = join(folder, name, `${played.id.replaceAll('/', '-')}.sh`);
    // By hand: a shell that reads it runs nothing but the harness.
    const lines = readFileSync(file, 'utf8').split('\n');
    expect(lines.filter((line) => !line.startsWith('#') && line !== '')).toEqual([
      'exec npm run -s bisim -- --play "$0"',
    ]);
    const again = readScript(file, other);
    expect(again.steps.join()).not.toContain(all.machine.base);
    expect(await other.play(again)).toMatchObject({ class: name });
  }
  // A path that the text says in a code only is that of the other worlds as well.
  const [there, here] = [all, other].map(({ machine, port, mark }) => tables(machine, port, mark)) as [Row[], Row[]];
  const n = there.findIndex(
    ({ steps }, at) => !steps.join().includes(all.machine.base) && steps.join() !== here[at]?.steps.join(),
  );
  writeScripts(folder, [{ ...first, row: there[n] as Row }]);
  const file = join(folder, first.class, `${there[n]?.id.replaceAll(/[^\w]+/g, '-')}.sh`);
  expect(readScript(file, other)).toEqual(here[n]);
}, 400_000);
