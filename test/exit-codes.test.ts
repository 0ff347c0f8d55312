/** The codes that `docs/exit-codes.md` names are those that the commands end with. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { verbs } from '../packages/cli/src/verbs.ts';
import { deep } from './depth.ts';
import { needs, requires } from './needs.ts';
import { Program, readiness } from './processes.ts';
import { ROOT, read } from './sources.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hob-codes-'));
  for (const name of ['root', 'home']) mkdirSync(join(folder, name));
  return () => rmSync(folder, { recursive: true, force: true });
});
const at = (name: string): string => join(folder, name);

interface Ended {
  readonly code: number | string;
  readonly said: string;
}
async function run(
  file: string,
  args: readonly string[],
  options: { readonly env?: Readonly<Record<string, string>>; readonly stdin?: string } = {},
): Promise<Ended> {
  const program = new Program(file, args, { ...options, env: { HOME: at('home'), ...options.env } });
  return { code: await program.ended, said: program.lines.join('\n') };
}
/** Started as `npm run` starts it. */
const verb = (...args: readonly string[]): Promise<Ended> => run(join(ROOT, 'scripts/hob.mjs'), args);
const hob = (secret: string, ...args: readonly string[]): Promise<Ended> => run('hob', args, { stdin: `${secret}\n` });

/** No code but this, and never a stack trace. */
function ends({ code, said }: Ended, as: number): void {
  expect({ code, said }).toEqual({ code: as, said: expect.any(String) });
  expect(said).not.toMatch(/^\s+at .*:\d+/m);
}

/** The rows of the table of verbs: the codes of each, as the page names them. */
const rows = new Map(
  [...read('docs/exit-codes.md').text.matchAll(/^\| `hob ([a-z ]+)` \|(.*)\|$/gm)].map(([, name = '', cells = '']) => [
    name,
    cells.split(' | ').flatMap((cell, n) => (cell.trim() === '' ? [] : [n === 2 ? 'more' : n])),
  ]),
);
/** Without a host these do something else, or what they need first is missing. */
const WITHOUT_HOST = ['host', 'start', 'serve', 'backup', 'restore', 'stop', 'unit', 'secret set'];

test('the page has a row for each verb of hob, with the codes that its help has, and no other', () => {
  expect([...rows.keys()]).toEqual(verbs.map(({ name }) => name));
  for (const { name, codes } of verbs) {
    const known = Object.keys({ 0: '', ...codes }).map((code) => (Number(code) > 2 ? 'more' : Number(code)));
    expect(new Set(rows.get(name)), name).toEqual(new Set(known));
  }
});

/** `npm test` starts each fourth command, the deep run all of them. */
const thisRun = <T>(all: readonly T[]): readonly T[] => all.filter((_, n) => deep || n % 4 === 0);

for (const { name, operands = '', options = [], json } of thisRun(verbs))
  test(`hob ${name}: 0 for help, 2 for a line that is wrong`, async () => {
    const words = name.split(' ');
    const runHob = (...args: readonly string[]): Promise<Ended> =>
      run(join(ROOT, 'packages/cli/src/main.ts'), [...words, ...args]);
    const [help, wrong, misspelt] = await Promise.all([
      runHob('--help'),
      runHob('--nonsense'),
      ...(json === undefined ? [] : [runHob('--jsno')]),
    ]);
    ends(help!, 0);
    ends(wrong!, 2);
    expect(wrong!.said).toContain("'--nonsense'");
    if (misspelt !== undefined) expect([misspelt.code, misspelt.said]).toEqual([2, expect.stringContaining('--json')]);
    if (operands.startsWith('<')) ends(await runHob(), 2);
    if (WITHOUT_HOST.includes(name) || !options.some(({ flags }) => flags.startsWith('--state '))) return;
    const known: Readonly<Record<string, string>> = { grant: 'G1', request: 'R1', session: 'S1' };
    const required = [...operands.matchAll(/<(\w+)/g)].map(([, each = '']) => known[each] ?? each);
    const more: Readonly<Record<string, readonly string[]>> = {
      revoke: ['--all'],
      narrow: ['--uses', '1'],
      renew: ['--for', '1h'],
      give: ['--to', 'S2'],
    };
    ends(await runHob(...required, ...(more[name] ?? []), '--state', at('no-host')), 1);
  });

const PROGRAMS = [
  'agentdojo bench api bisim crash chaos doctor native pack release mutants attack:captp attack:fs attack:shell fuzz:captp',
  'test check test:deep',
]
  .join(' ')
  .split(' ');

for (const name of thisRun(PROGRAMS))
  test(`npm run ${name}: 2 for an option that it does not know, which the message names`, async () => {
    const ended = await verb(name, '--nonsense');
    ends(ended, 2);
    expect(ended.said).toContain("'--nonsense'");
  });

test('npm run doctor --version prints the version', async () => {
  const ended = await verb('doctor', '--version');
  ends(ended, 0);
  expect(ended.said).toContain(`hob ${JSON.parse(read('packages/caps-shell/package.json').text).version}`);
});

test('npm run hob -- VERB is hob VERB, and knows the older names', async () => {
  const [now, older] = await Promise.all([verb('cli', 'list', '--help'), verb('cli', 'grants', '--help')]);
  ends(now, 0);
  expect(now.said).toMatch(/^Usage: hob list /);
  ends(older, 0);
  expect(older.said).toContain(now.said);
});

test('npm start: 0 for help, 2 for a wrong option, 1 where it cannot start', async () => {
  ends(await run('workspace', ['--help']), 0);
  ends(await verb('start', '--version'), 0);
  for (const wrong of [['--unknown'], ['--port', 'x']]) ends(await run('workspace', wrong), 2);
  mkdirSync(at('own/state'), { recursive: true });
  ends(await run('workspace', ['--root', at('own'), '--state', at('own/state')]), 1);
  ends(await run('workspace', ['--root', at('none'), '--state', at('state-a')]), 1);
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise((resolve) => taken.close(() => resolve())));
  const { port } = taken.address() as { readonly port: number };
  ends(await run('workspace', ['--root', at('root'), '--state', at('state-b'), '--port', String(port)]), 1);
});

requires('linux')(
  'npm start ended by a signal or by hob stop: 0. The commands beside it: 0 done, 1 refused, 2 misspelt',
  async () => {
    const state = at('state');
    const host = new Program('workspace', ['--root', at('root'), '--state', state], { env: { HOME: at('home') } });
    onTestFinished(async () => void (await host.stop()));
    const { url, session, granter } = await readiness(host);
    ends(await run('workspace', ['--root', at('root'), '--state', state]), 1);
    ends(await hob(granter.secret ?? '', 'inbox', '--state', state), 0);
    ends(await hob(granter.secret ?? '', 'list', '--state', state), 0);
    ends(await hob(granter.secret ?? '', 'ledger', 'verify', '--state', state), 0);
    ends(await hob('hob1_wrong', 'list', '--state', state), 1);
    ends(await hob('', 'list', '--state', state), 1);
    ends(await hob(granter.secret ?? '', 'revoke', 'G999', '--state', state), 1);
    ends(await hob(granter.secret ?? '', 'grant', 'R999', 'a'.repeat(12), '--state', state), 1);
    const wrong = [['unknown'], [], ['list', '--unknown'], ['revoke'], ['revoke', 'a', 'b'], ['ledger', 'unknown']];
    for (const ended of await Promise.all(wrong.map((args) => hob('', ...args)))) ends(ended, 2);
    ends(await hob('', '--help'), 0);

    const program = (name: string, text: string): string => {
      writeFileSync(at(name), text);
      return at(name);
    };
    const good = program('good.mjs', 'export default async ({ say }) => say("done");');
    const agent = (file: readonly string[], env: Readonly<Record<string, string>> = { HOB_URL: url }, secret = session.secret ?? ''): Promise<Ended> => run('agent.ts', file, { env, stdin: `${secret}\n` }); // biome-ignore format: one line
    ends(await agent([good]), 0);
    const incomplete = [agent([]), agent([good], {}), agent([good], undefined, '')];
    for (const ended of await Promise.all(incomplete)) ends(ended, 2);
    ends(await agent([program('none.mjs', 'export const a = 1;')]), 2);
    ends(await agent([program('throws.mjs', 'export default async () => { throw new Error("no"); };')]), 2);

    ends(await hob('', 'stop', '--state', state), 0);
    expect(await host.ended).toBe(0);
    ends(await hob('', 'stop', '--state', state), 0);
    ends(await hob('', 'inbox', '--state', state), 1);
    ends(await hob('', 'stop', '--state', at('nowhere')), 1);
    const again = new Program('workspace', ['--root', at('root'), '--state', state], { env: { HOME: at('home') } });
    await readiness(again);
    again.kill('SIGTERM');
    expect(await again.ended).toBe(0);
  },
  // Over twenty programs one after the other.
  300_000,
);

test('npm run node ends as its FILE ends; an unknown verb is 2; the doctor says 0 or 1', async () => {
  writeFileSync(at('three.mjs'), 'process.exit(3);');
  ends(await verb('node', at('three.mjs')), 3);
  ends(await verb('node'), 2);
  ends(await verb('unknown'), 2);
  const doctor = await verb('doctor');
  // It confines programs, so without user namespaces it cannot say yes.
  expect([0, 1]).toContain(doctor.code);
  if (!needs('userns') && process.getuid?.() !== 0) ends(doctor, 1);
});

test('the page has a row for each command that people start, and names every code', () => {
  const { text } = read('docs/exit-codes.md');
  for (const name of ['npm start', 'npm run agent', 'npm run hob', 'npm run doctor', 'npm run node', 'npm test'])
    expect(text).toContain(`\`${name}`);
  expect(text.match(/^\| (?:\d|the program's own) \|/gm)).toEqual(['| 0 |', '| 1 |', '| 2 |', "| the program's own |"]);
});
