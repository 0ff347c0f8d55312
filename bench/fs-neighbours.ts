/**
 * A read beside a neighbour of the same directory that asks as much as it can: how long 99 of 100 reads take at
 * most. And the pages of a large directory beside reading it once.
 */
import fs from 'node:fs';
import { type FsCap, openFsCap } from '@hob/caps-fs';
import type { Case } from './measure.ts';

const readsTimed = 200;
const searches = 4_104;
const many = 20_000;

/** `wide` and `texts` are directories of the root; `wide` is made here. */
export async function neighbourCases(backend: 'proc' | 'native', root: string): Promise<[Case[], () => Promise<void>]> {
  const wide = `${root}/many`;
  if (!fs.existsSync(wide)) {
    fs.mkdirSync(wide);
    for (let i = 0; i < many; i += 1) fs.writeFileSync(`${wide}/${i}`, '');
  }
  const cap = await openFsCap(root, { backend });
  const beside = async (ask: (hostile: FsCap) => Promise<unknown>): Promise<number> => {
    const hostile = await cap.readOnly();
    const neighbour = await cap.readOnly();
    const asked = Array.from({ length: searches }, () => ask(hostile));
    const over = Promise.allSettled(asked);
    const times: number[] = [];
    for (let i = 0; i < readsTimed; i += 1) {
      const began = performance.now();
      // A read that is refused ends the measurement.
      await neighbour.read('a/b/c/d/file');
      times.push(performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await Promise.all([hostile.close(), neighbour.close(), over]);
    return times.sort((a, b) => a - b)[Math.floor(readsTimed * 0.99)] ?? Number.NaN;
  };
  const hostile = (what: string, ask: (hostile: FsCap) => Promise<unknown>): Case => ({
    name: `${backend}: a read beside ${searches} ${what} of a neighbour, p99`,
    unit: 'ms',
    n: 1,
    rounds: 3,
    ours: () => beside(ask),
    goal: { text: '< 50 ms', met: ({ ours }) => ours < 50 },
    slow: true,
  });
  const cases: Case[] = [
    hostile('searches', (cap) => cap.search('nowhere', { path: 'texts' })),
    hostile('reads of 16 MiB', (cap) => cap.read('large', { length: 16 << 20 })),
    hostile('lists of 10,000 names', (cap) => cap.list('wide')),
    {
      name: `${backend}: entries of ${many} names in pages vs readdir and lstat`,
      n: 1,
      rounds: 5,
      ours: () => pages(cap),
      peer: async () => {
        for (const name of await fs.promises.readdir(wide)) await fs.promises.lstat(`${wide}/${name}`);
      },
      slow: true,
    },
  ];
  return [cases, () => cap.close()];
}

async function pages(cap: FsCap): Promise<void> {
  let seen = 0;
  for (let page = await cap.entries('many'); page.length > 0; ) {
    seen += page.length;
    page = await cap.entries('many', { after: page.at(-1)?.name ?? '' });
  }
  if (seen !== many) throw new Error(`${seen} entries instead of ${many}`);
}
