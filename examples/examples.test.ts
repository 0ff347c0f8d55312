/** Runs the examples that the demo does not run, as a user does: from an empty home, against a host of its own. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Granter } from '@hob/host';
import { connect, E } from '@hob/vat';
import { expect, onTestFinished, test, vi } from 'vitest';
import { needs, requires } from '../test/needs.ts';
import { Program, readiness } from '../test/processes.ts';

const here = import.meta.dirname;

test('the first session: it reads and writes what it holds, and is refused what it does not hold', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-example-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ['home', 'root']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'root', 'notes.txt'), 'for the agent\n');
  vi.stubEnv('HOME', join(folder, 'home'));
  onTestFinished(() => void vi.unstubAllEnvs());
  const host = new Program('workspace', ['--root', join(folder, 'root'), '--state', join(folder, 'state')]);
  onTestFinished(async () => void (await host.stop()));
  const { url, session } = await readiness(host);
  const agent = new Program('agent.ts', [join(here, 'first-session.ts')], {
    env: { HOB_URL: url },
    stdin: `${session.secret}\n`,
  });
  expect(await agent.ended).toBe(0);
  expect(agent.lines.filter((line) => line !== '')).toEqual([
    'holds: once,workspace',
    'read: I was here.',
    expect.stringMatching(/^refused: .*absolute/),
  ]);
  expect(readFileSync(join(folder, 'root', 'written-by-the-agent.txt'), 'utf8')).toBe('I was here.\n');
});

requires('linux')('each example runs a second time in the same session', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-example-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'root', 'src'), { recursive: true });
  for (const file of ['notes.txt', 'src/hello.txt']) writeFileSync(join(folder, 'root', file), 'for the agent\n');
  const code = needs('cc') && needs('userns');
  const where = ['--root', join(folder, 'root'), '--state', join(folder, 'state')];
  const host = new Program('workspace', [...where, ...(code ? ['--code'] : [])]);
  onTestFinished(async () => void (await host.stop()));
  const { url, session, granter } = await readiness(host);
  const start = (file: string): Program =>
    new Program('agent.ts', [join(here, file)], { env: { HOB_URL: url }, stdin: `${session.secret}\n` });
  const owner = await connect<Granter>(url, { secret: granter.secret });
  onTestFinished(async () => {
    owner.close();
    await owner.closed;
  });
  for (const file of [...(code ? ['run-code.ts'] : []), 'first-session.ts']) {
    const first = start(file);
    expect(await first.ended).toBe(0);
    const second = start(file);
    expect(await second.ended).toBe(0);
    expect(second.lines).toEqual(first.lines);
  }
  for (let run = 0; run < 2; run += 1) {
    const asking = start('ask-for-more.ts');
    await asking.line((line) => line.startsWith('asking: '));
    await vi.waitFor(async () => expect(await E(owner.bootstrap).inbox()).toHaveLength(1), 60_000);
    const [request] = await E(owner.bootstrap).inbox();
    await E(owner.bootstrap).answer(request?.id ?? '', { grant: {}, digest: request?.digest ?? '' });
    expect(await asking.ended).toBe(0);
    expect(asking.lines.join('\n')).toMatch(/^granted: /m);
  }
  for (let run = 0; run < 2; run += 1) {
    const peer = start('endo-peer.ts');
    expect(await peer.line((line) => line.startsWith('working: '))).toBeDefined();
    expect(peer.lines).toContain('read: "for the agent\\n"');
    await peer.stop();
  }
});

test('the first session takes ten lines', () => {
  const program = readFileSync(join(here, 'first-session.ts'), 'utf8');
  const body = program
    .slice(program.indexOf('{\n', program.indexOf('export default')))
    .trim()
    .split('\n');
  expect(body.slice(1, -1).length).toBeLessThanOrEqual(10);
});

test('each example is run by a test', () => {
  const tests = ['examples.test.ts', 'cluster.test.ts', 'guest.test.ts', 'postgres.test.ts', 'demo/demo.ts'].map(
    (file) => readFileSync(join(here, file), 'utf8'),
  );
  const programs = readdirSync(here).filter((file) => /(?<!\.test)\.ts$/.test(file));
  expect(programs.filter((file) => !tests.some((text) => text.includes(`'${file}'`)))).toEqual([]);
});
