/** The firewall of a manifest, as `hob serve` puts it before all calls. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Plan, type PlannedCap, usualGuardrails } from '@hob/manifest';
import { CapError } from '@hob/vat';
import { expect, test } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { hobHome } from '../../test/hob.ts';
import { LineClient } from '../../test/mcp-client.ts';
import { planOf } from '../../test/plan.ts';
import { openServed, type Served } from './served.ts';
import { servedFirewall } from './served-firewall.ts';

const noHook = (): never => { throw new Error('there is no hook'); }; // biome-ignore format: one line

const MANIFEST = `version: 1
roots: { project: project }
firewall: { mode: enforce }
session:
  mode: autonomous
  caps:
    src: { fs: project/src, can: [read, list, write, remove] }
    safe: { fs: project, can: [read, list, write], sensitivity: high }
`;

interface Asked {
  readonly id: string;
}

requires('linux')(
  'a served call that is risky waits in every mode, the person sees why, and the ledger has the assessment',
  async () => {
    const hob = hobHome(MANIFEST);
    const host = await hob.serve();
    expect(host.out).toContain('  a firewall assesses each call, and is set to enforce\n');
    const client = await LineClient.open(hob, 'newer');
    mkdirSync(join(hob.folder, 'config/project/src/b'));
    const wrote = await client.call('write', { cap: 'src', path: 'b/c.txt', text: 'one' });
    expect([wrote.isError, wrote.content]).toEqual([undefined, expect.anything()]);
    const asks = async (tool: string, args: object, why: string): Promise<Asked> => {
      void client.call(tool, args);
      const [asked] = await hob.until(
        () => hob.json<readonly Asked[]>('inbox'),
        ({ length }) => length === 1,
      );
      expect((await hob.run('inbox', asked!.id)).out).toMatch(new RegExp(`why it waits\\W+${why}`));
      return asked!;
    };
    const removal = { cap: 'src', method: 'remove', args: ['b', { recursive: true }] };
    const first = await asks('call', removal, 'it may reach much at once');
    expect((await hob.run('refuse', first.id, 'no')).code).toBe(0);
    const second = await asks('write', { cap: 'safe', path: 'd.txt', text: 'two' }, 'much depends on what this cap leads to'); // biome-ignore format: one line
    expect((await hob.run('refuse', second.id, 'no')).code).toBe(0);
    expect([existsSync(join(hob.folder, 'config/project/src/b/c.txt')), existsSync(join(hob.folder, 'config/project/d.txt'))]).toEqual([true, false]); // biome-ignore format: one line
    const shown = (await hob.run('ledger', 'show')).out.split('\n');
    const line = shown.find((text) => text.includes('method=remove'))!;
    expect((await hob.run('ledger', 'show', '--why', line.split(' ')[0]!)).out).toMatch(/ grant .*\n.*method=remove.*risk=0\.35 {2}sure=0\.45 {2}effect=B/); // biome-ignore format: one line
    expect(await hob.json('assess', 'replay')).toMatchObject({
      calls: 3,
      asks: 2,
      byClass: { B: { calls: 3, asks: 2 } },
    });
    expect((await hob.run('assess', 'replay')).out).toMatch(/^2 of 3 calls would have waited for a person\nB\t2\t3\n[-\d]+\t2\t3\nG1\tsrc\t1\t2\nG2\tsafe\t1\t1\n$/); // biome-ignore format: one line
    // One of the session alone cannot change what holds for the host.
    writeFileSync(join(hob.folder, 'less.yaml'), 'version: 1\nfirewall: { mode: observe }\n');
    const kept = await hob.run('start', '--layer', 'flags=less.yaml', '--', 'true');
    expect([kept.code, kept.err]).toEqual([0, expect.stringContaining('the layer above enforces: that holds')]);
  },
  400_000,
);

test('a layer of one session that changes the firewall of the host opens no session', async () => {
  const head = 'version: 1\nroots: { project: . }\nsession: { caps: { src: { fs: project, can: [read] } } }\n';
  const [none, observing] = [planOf(head), planOf(`${head}firewall: { mode: observe }\n`)];
  const opened: string[] = [];
  const served = (host: Plan, session: Plan): Served =>
    ({
      read: { plan: host, narrowed: () => ({ plan: session, warnings: [] }) },
      sessions: {
        async open(name: string) {
          opened.push(name);
          return { dropped: [] };
        },
      },
      wishes: { over: async (plan: Plan) => ({ plan }) },
      log() {},
    }) as unknown as Served;
  const layer = { layer: 'flags', file: 'f', folder: '/', text: '' } as const;
  const changed = openServed(served(none, observing), 'changed', [layer]);
  await expect(changed).rejects.toMatchObject({ code: 'invalid', message: expect.stringContaining('a layer of one session cannot change it') }); // biome-ignore format: one line
  await openServed(served(observing, observing), 'same', [layer]);
  expect(opened).toEqual(['same']);
});

test('two caps of one object have the higher sensitivity of the two, in either order', () => {
  const plan = planOf('version: 1\nroots: { project: . }\nfirewall: { mode: enforce }\nsession: { caps: { src: { fs: project, can: [read, write] } } }\n'); // biome-ignore format: one line
  const cap = (sensitivity: 'scratch' | 'high'): PlannedCap => ({ ...plan.caps['src']!, terms: { sensitivity } });
  const facts = { session: 's', grant: 'g', petname: 'src', method: 'write', args: ['a', 'b'], effects: { write: { class: 'B', undo: 'easy' } }, reads: [], level: 'medium', waits: false, undoes: true } as const; // biome-ignore format: one line
  for (const order of [
    ['scratch', 'high'],
    ['high', 'scratch'],
  ] as const) {
    const { firewall, offered } = servedFirewall(plan, noHook);
    for (const sensitivity of order) offered('one', cap(sensitivity));
    expect(firewall!.decide({ ...facts, offer: 'one' }).waits).toBe(true);
    expect(firewall!.decide({ ...facts, offer: 'other' }).waits).toBe(false);
  }
  expect(servedFirewall(planOf('version: 1\nsession: {}\n'), noHook).firewall).toBe(undefined);
});

test('an object that two caps lead to is reviewed afterwards only if both say so', () => {
  const plan = planOf('version: 1\nroots: { project: . }\nfirewall: { mode: enforce, review: [src] }\nsession: { caps: { src: { fs: project/src, can: [read, write] }, docs: { fs: project, can: [read, write] } } }\n'); // biome-ignore format: one line
  const { firewall, offered } = servedFirewall(plan, noHook);
  const facts = { session: 's', grant: 'g', petname: 'src', method: 'write', args: ['a', 'b'], effects: { write: { class: 'B', undo: 'easy' } }, reads: [], level: 'medium', waits: false, undoes: true } as const; // biome-ignore format: one line
  offered('one', plan.caps['src']!);
  expect(firewall!.decide({ ...facts, offer: 'one' }).review).toBe(true);
  expect(firewall!.decide({ ...facts, offer: 'other' }).review).toBe(false);
  offered('one', plan.caps['docs']!);
  expect(firewall!.decide({ ...facts, offer: 'one' }).review).toBe(false);
});

/** How many calls that fail in the same way run, and which one is the first with a warning. */
function failing({ firewall }: ReturnType<typeof servedFirewall>): readonly [warned: number, ran: number] {
  const guard = firewall?.loops;
  const call = { method: 'write', args: ['a'], effects: undefined, reads: [], object: () => 'cap' };
  let kept: unknown;
  let warned = 0;
  for (let ran = 0; ran < 1500; ran += 1) {
    try {
      guard?.before(call, kept);
    } catch {
      return [warned, ran];
    }
    const change = guard?.after(call, { ok: false, error: new CapError('NOT_FOUND', 'no') }, kept);
    kept = change?.kept ?? kept;
    if (warned === 0 && change?.warning !== undefined) warned = ran + 1;
  }
  return [warned, 1500];
}

test('the guardrails of a manifest hold, and what it does not name has the numbers that its package says', () => {
  const served = (part: string): ReturnType<typeof servedFirewall> =>
    servedFirewall(planOf(`version: 1\nfirewall: { mode: observe${part} }\nsession: {}\n`), noHook);
  const usual = usualGuardrails.exact_failure;
  expect(failing(served(''))).toEqual([usual.warn, usual.stop]);
  expect(failing(served(', guardrails: { exact_failure: off }'))).toEqual([usualGuardrails.same_method.warn, usualGuardrails.same_method.stop]); // biome-ignore format: one line
  expect(failing(served(', guardrails: { exact_failure: { warn: 1, stop: 2 } }'))).toEqual([1, 2]);
  expect(failing(served(', guardrails: { exact_failure: off, same_method: off }'))).toEqual([0, 1500]);
});
