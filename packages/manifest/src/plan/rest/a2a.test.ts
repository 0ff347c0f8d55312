/** The agents that may send tasks: what a plan says of them, and what a mistake says. */
import { expect, test } from 'vitest';
import { check, type Layer, lineOf } from '../../index.ts';

const KEY = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' } as const;
const layer = (text: string): Layer => ({ layer: 'user', file: 'user.yaml', folder: '/etc', text });
const checked = (peers: object): ReturnType<typeof check> =>
  check(
    [
      layer(`version: 1
roots: { project: /p }
agents: { worker: { command: [node] } }
session:
  caps:
    src: { fs: project/src, can: [read] }
    nightly: { schedule: worker, gives: [src] }
  ask:
    edit: { fs: project/src, can: [read, write] }
a2a: { url: "https://timmy.local/a2a", peers: ${JSON.stringify(peers)} }
`),
    ],
    { now: 0, home: '/base' },
  );

test('a peer has nothing that is not listed, and a task of it an hour', () => {
  const other = { ...KEY, x: KEY.x.replace('1', '2'), kid: 'k', use: 'sig', alg: 'EdDSA' };
  const { plan, mistakes } = checked({ ezra: { key: KEY }, allegro: { key: other, gives: ['src', 'edit', 'src'], agent: 'worker', lasts: '20m' } }); // biome-ignore format: one line
  expect(mistakes.map(lineOf)).toEqual([]);
  expect(plan?.a2a?.peers).toEqual({
    ezra: { key: KEY, gives: [], asks: [], lastsMs: 3_600_000 },
    allegro: { key: other, gives: ['edit', 'src'], asks: [], agent: 'worker', lastsMs: 1_200_000 },
  });
});

test.each([
  [{ gives: ['nightly'] }, 'a task makes no schedules, which would go on after it'],
  [{ asks: ['nightly'] }, 'a task makes no schedules, which would go on after it'],
  [{ gives: ['src'], asks: ['src'] }, 'its tasks hold this cap already'],
  [{ gives: ['scr'] }, 'there is no cap "scr"; did you mean src?'],
  [{ agent: 'wroker' }, 'there is no agent "wroker"; did you mean worker?'],
])('%j is refused with what to write', (peer, says) => {
  const { plan, mistakes } = checked({ ezra: { key: KEY, ...peer } });
  expect([plan, mistakes.map(lineOf).join()]).toEqual([undefined, expect.stringContaining(says)]);
});
