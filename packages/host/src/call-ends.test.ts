/** kill -9 at the answer of a call: its line is on the disk, its end may be missing, and the ledger says so. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { connect, E } from '@hob/vat';
import { CallEnds } from '@hob/vat/store';
import { expect, onTestFinished, test } from 'vitest';
import { HostProcess } from '../test/host-process.ts';
import { held, scratch } from '../test/test-host.ts';
import type { SessionFace } from './index.ts';
import { verdictLines } from './programs/listings.ts';

interface Bell {
  ring(): Promise<string>;
}
type Line = Readonly<Record<string, unknown>>;

test('kill -9 at the answer: each answered call is there, and verify counts those whose end is not recorded', async () => {
  const folder = scratch();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const state = join(folder, 'state');
  let answered = 0;
  let secret = '';
  for (let round = 0; round < 5; round += 1) {
    const host = new HostProcess(state, 600_000, 'patient');
    onTestFinished(() => host.kill());
    const url = await host.url;
    await host.do('offer');
    if (round === 0) {
      await host.do('addGranter', 'owner');
      const session = await host.do<{ id: string; secret: string }>('openSession', { name: 's', granters: ['owner'] });
      await host.do('granter', 'owner', 'grant', session.id, 'bell', 'bell', { audited: true, for: 3_600_000 });
      secret = session.secret;
    }
    const agent = await connect<SessionFace>(url, { secret });
    const bell = held<Bell>(agent, 'bell');
    for (let n = 0; n <= round; n += 1) {
      expect(await E(bell).ring()).toBe('ding');
      answered += 1;
    }
    await host.kill();
    await agent.closed;
  }
  const last = new HostProcess(state);
  onTestFinished(() => last.kill());
  const lines = ((await last.do('lines')) as readonly string[]).map((text) => JSON.parse(text) as Line);
  const [calls, ends] = ['call', 'result'].map((kind) => lines.filter(({ k, audited }) => k === kind && audited === true).length); // biome-ignore format: one line
  expect(calls).toBe(answered);
  const missing = answered - (ends as number);
  const verdict = (await last.do('verify')) as Parameters<typeof verdictLines>[0];
  expect(verdict).toMatchObject({ ok: true, ...(missing === 0 ? {} : { unended: missing }) });
  // Nothing was committed between the last answer and the kill: an end that is there was waited for.
  expect(missing).toBeGreaterThan(0);
  expect(verdictLines(verdict).join('\n')).toMatch(/ of audited grants: end not recorded/);
  const taken = new CallEnds();
  expect(lines.flatMap((line) => taken.take(line)).length).toBe(missing);
});
