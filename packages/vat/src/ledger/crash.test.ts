/**
 * Kill -9 while a process appends as fast as it can: every commit that it reported is there.
 *
 * This does not show the effect of a power cut, because the kernel keeps written data; `synchronous=NORMAL`
 * would pass here.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { environmentOf } from '../../../../test/mutants/environment.ts';
import { systemRandom } from '../drivers/random.ts';
import { engineOf, openStore } from '../store/store.ts';
import { verifyLedger } from './verify.ts';

const url = (file: string): string => JSON.stringify(new URL(file, import.meta.url).href);

/**
 * Prints each line's number after its commit returned, synchronously, so that no number is still on its way.
 */
const appender = (path: string): string => `
  import { writeSync } from 'node:fs';
  import { engineOf, openStore } from ${url('../store/store.ts')};
  import { makeLedger } from ${url('./chain.ts')};
  import { systemClock } from ${url('../drivers/clock.ts')};
  import { systemRandom } from ${url('../drivers/random.ts')};
  const engine = engineOf(await openStore({ path: ${JSON.stringify(path)} }));
  const ledger = makeLedger(engine, { clock: systemClock(), random: systemRandom });
  for (let n = 0; ; n += 1) {
    const entries = Array.from({ length: 1 + (n % 4) }, (_, i) => ({ kind: 'call', fields: { n, i, pad: 'x'.repeat((n * 37) % 900) } }));
    ledger.write(entries);
    writeSync(1, engine.head().seq + '\\n');
  }`;

/**
 * Lets one process append and kills it at a random moment. Returns the last number that it printed
 * completely.
 */
async function round(path: string): Promise<number> {
  const child: ChildProcess = spawn(process.execPath, ['--input-type=module', '-e', appender(path)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  const over = new Promise((resolve) => child.once('close', resolve));
  const begun = new Promise<void>((resolve) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      resolve();
    });
  });
  await Promise.race([begun, over]);
  const [low = 0, high = 0] = systemRandom(2);
  await new Promise((resolve) => setTimeout(resolve, ((low + high * 256) % 800) / 10));
  child.kill('SIGKILL');
  await over;
  return Number(said.split('\n').at(-2));
}

test('every line said to be committed is there after kill -9, and the chain is whole, 30 times', {
  timeout: 300_000,
}, async () => {
  // Two stores side by side, each killed again and again, so that recovery of a recovered store is tested
  // too.
  const lane = async (): Promise<void> => {
    const folder = join(mkdtempSync(join(tmpdir(), 'hob-crash-')), 'state');
    mkdirSync(folder);
    onTestFinished(() => rmSync(dirname(folder), { recursive: true, force: true }));
    let before = 0;
    for (let i = 0; i < 15; i += 1) {
      const said = await round(folder);
      expect(said).toBeGreaterThan(before);
      const store = await openStore({ path: folder });
      try {
        const { seq } = engineOf(store).head();
        expect(seq).toBeGreaterThanOrEqual(said);
        expect(seq).toBeLessThanOrEqual(said + 5); // one commit that was not yet reported (with a checkpoint), and never a part of one
        expect(await verifyLedger(store)).toMatchObject({ ok: true, lines: seq });
        before = seq;
      } finally {
        await store.close();
      }
    }
  };
  await Promise.all([lane(), lane()]);
});

test('with the mutant "ledger" the chain is not linked, and verify names line 2', async () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'hob-crash-')), 'state');
  mkdirSync(folder);
  onTestFinished(() => rmSync(dirname(folder), { recursive: true, force: true }));
  const env = { ...process.env, ...environmentOf('ledger') };
  const program = `${appender(folder).replace('for (let n = 0; ;', 'for (let n = 0; n < 3;')}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'ignore', env });
  await new Promise((resolve) => child.once('close', resolve));
  const store = await openStore({ path: folder });
  onTestFinished(() => store.close());
  expect(await verifyLedger(store)).toMatchObject({ ok: false, badLine: 2 });
});
