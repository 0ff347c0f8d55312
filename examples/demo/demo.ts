/**
 * The demo: a host, an agent and a granter, each in its own process, do what a first user would do.
 *
 * Promise: the exit code is 0 only if every step comes out as expected. A sabotage leaves one mechanism out of the host.
 * Then the exit code is 1, and the output names the step that needs the mechanism.
 */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { probe } from '@hob/caps-shell';
import { knock } from '../../test/knock.ts';
import { Program, type Ready, readiness } from '../../test/processes.ts';

/** The mechanisms that can be left out, each with the step that then fails. */
export const sabotages: Readonly<Record<string, string>> = Object.freeze({
  revoker: 'revoked in the middle of its work',
  limit: 'the once-grant is used up',
  symlink: 'a link that leaves is refused',
  ledger: 'the ledger is whole',
  origin: 'a web page cannot enter',
});

const exampleFile = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url));

interface Step {
  readonly name: string;
  readonly ok: boolean;
  readonly saw: string;
}

export async function playDemo(sabotage: string | undefined): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'hob-demo-'));
  const say = (line: string): void => console.log(line);
  const steps: Step[] = [];
  const step = (name: string, ok: boolean, saw: string): void => {
    steps.push({ name, ok, saw });
    say(`${ok ? '  ok  ' : 'FAILED'}  ${name}${saw === '' ? '' : `\n          ${saw}`}`);
  };
  const programs: Program[] = [];
  const start = (...of: ConstructorParameters<typeof Program>): Program => {
    const program = new Program(...of);
    programs.push(program);
    return program;
  };
  try {
    say(
      sabotage === undefined
        ? 'Hob, the main job: three processes, one directory.'
        : `Hob, the main job, with "${sabotage}" left out of the host.`,
    );
    await play(folder, sabotage, start, step, say);
  } finally {
    await Promise.all(programs.map((program) => program.stop()));
    rmSync(folder, { recursive: true, force: true });
  }
  const failed = steps.filter(({ ok }) => !ok);
  say('');
  if (failed.length === 0) say(`All ${steps.length} steps came out as they must.`);
  else
    say(
      `${failed.length} of ${steps.length} steps did not come out as they must: ${failed.map(({ name }) => name).join('; ')}`,
    );
  return failed.length === 0 ? 0 : 1;
}

function prepare(folder: string): { readonly root: string; readonly state: string } {
  const root = join(folder, 'workspace');
  mkdirSync(join(root, 'src'), { recursive: true });
  writeFileSync(join(root, 'notes.txt'), 'for the agent\n');
  writeFileSync(join(root, 'src', 'hello.txt'), 'hello from src\n');
  mkdirSync(join(folder, 'private'));
  writeFileSync(join(folder, 'private', 'secret.txt'), 'not for the agent\n');
  symlinkSync('../private', join(root, 'way-out'));
  return { root, state: join(folder, 'state') };
}

/** A load hook. It leaves the mechanism out of the sources that the host loads. */
const applyMutant = new URL('../../test/mutants/apply.mjs', import.meta.url).href;

/** How long to wait for a line that may never come. */
const patienceMs = 15_000;

type Stepper = (name: string, ok: boolean, saw: string) => void;

async function play(
  folder: string,
  sabotage: string | undefined,
  start: (...of: ConstructorParameters<typeof Program>) => Program,
  step: Stepper,
  say: (line: string) => void,
): Promise<void> {
  const { root, state } = prepare(folder);
  // `--code` is refused where programs cannot be confined.
  const confined = (await probe()).ok;
  const host = start(
    'workspace',
    ['--root', root, '--state', state, ...(confined ? ['--code'] : [])],
    sabotage === undefined ? {} : { env: { HOB_MUTANT: sabotage, NODE_OPTIONS: `--import=${applyMutant}` } },
  );
  const ready = await readiness(host);
  const command = (args: readonly string[], secret = ready.granter.secret): Program =>
    start('hob', [...args, '--state', state], { stdin: `${secret}\n` });

  const agentOf = (file: string): Program =>
    start('agent.ts', [file], { env: { HOB_URL: ready.url }, stdin: `${ready.session.secret}\n` });

  say('\nThe door');
  await door(ready, step);

  say('\nA program that an agent wrote');
  if (confined) {
    const writer = agentOf(exampleFile('run-code.ts'));
    await writer.ended;
    programSteps(writer, step);
  } else {
    const refused = start('workspace', ['--root', root, '--state', `${state}-code`, '--code']);
    const code = await refused.ended;
    const why = refused.lines.at(-1) ?? '';
    step('without a sandbox no program runs', code === 1 && /--code needs a sandbox/.test(why), why);
  }

  say('\nThe agent, over @endo/captp');
  const agent = agentOf(exampleFile('endo-peer.ts'));
  await agent.line((line) => line.startsWith('working:'));
  agentSteps(agent, root, confined, step);

  say('\nThe granter, in a third process');
  await granterSteps(command, agent, step);

  say('\nAsking for more');
  await askingSteps(command, () => agentOf(exampleFile('ask-for-more.ts')), step);

  say('\nThe ledger');
  await ledgerSteps(command, folder, step);

  say('\nThe end');
  const code = await host.stop();
  step('the host ends in good order', code === 0 && !existsSync(join(state, 'host.json')), `exit code ${code}`);
}

async function door({ url, session }: Ready, step: Stepper): Promise<void> {
  const wrong = await knock(url, { secret: 'hob1_wrong' });
  step('a wrong secret is refused', wrong === 'HTTP 401', wrong);
  const page = await knock(url, { secret: session.secret, origin: 'http://evil.example' });
  step('a web page cannot enter', page === 'HTTP 403', page);
  const rebound = await knock(url, { secret: session.secret, host: 'evil.example' });
  step('a re-bound name cannot enter', rebound === 'HTTP 403', rebound);
  const junk = await knock(url, { secret: session.secret, frame: 'junk' });
  step('junk is closed with a reason', junk.startsWith('closed 4400'), junk);
  const huge = await knock(url, { secret: session.secret, frame: 'x'.repeat(2 << 20) });
  step('an oversized frame is closed with a reason', huge.startsWith('closed 1009'), huge);
}

/** Returns what an agent printed about a step, or all it printed if it did not reach that step. */
const saidBy =
  ({ lines }: Program) =>
  (name: string): string =>
    lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? `it said only: ${lines.join(' | ')}`;

function agentSteps(agent: Program, root: string, confined: boolean, step: Stepper): void {
  const said = saidBy(agent);
  const expect = (name: string, what: string, ok: (text: string) => boolean): void =>
    step(name, ok(said(what)), said(what));
  const refused = (code: string) => (text: string) => text.startsWith(`refused: ${code}: `);
  expect(
    'it sees what it holds',
    'holds',
    (text) => text === (confined ? '["code","once","workspace"]' : '["once","workspace"]'),
  );
  expect('it reads', 'read', (text) => text === '"for the agent\\n"');
  expect('it lists', 'list', (text) => text === '["hello.txt"]');
  const written = join(root, 'written-by-the-agent.txt');
  expect(
    'it writes',
    'write',
    (text) => text === '"I was here.\\n"' && existsSync(written) && readFileSync(written, 'utf8') === 'I was here.\n',
  );
  expect('it takes a subdirectory', 'subdir', (text) => text === '"hello from src\\n"');
  expect('`../` is refused', 'dot-dot', refused('PATH_ESCAPES'));
  expect('an absolute path is refused', 'absolute', refused('PATH_ABSOLUTE'));
  expect('a link that leaves is refused', 'link', refused('RESOLVED_OUTSIDE'));
  expect('what it does not hold does not exist', 'not-held', refused('no-such-object'));
  expect('the once-grant works once', 'once', (text) => text === '["hello.txt"]');
  expect('the once-grant is used up', 'once-again', refused('exhausted'));
}

function programSteps(agent: Program, step: Stepper): void {
  const said = saidBy(agent);
  const expect = (name: string, what: string, ok: (text: string) => boolean): void =>
    step(name, ok(said(what)), said(what));
  expect(
    'a program runs over what the session holds',
    'counts',
    (text) => text === '{"lines":2,"finds":["once","workspace"]}',
  );
  expect('it finds nothing of the machine', 'reaches', (text) => text === '[]');
  expect(
    'what it failed at is told with its line',
    'fails',
    (text) => text.startsWith('refused: ') && text.includes('line 3'),
  );
}

async function granterSteps(
  command: (args: readonly string[], secret?: string) => Program,
  agent: Program,
  step: Stepper,
): Promise<void> {
  const stranger = command(['list'], 'hob1_wrong');
  const strangerCode = await stranger.ended;
  step(
    'without the granter’s secret nothing is shown',
    strangerCode === 1 && stranger.lines.every((line) => !/^G\d/.test(line)),
    stranger.lines.join(' '),
  );
  const grants = command(['list']);
  await grants.ended;
  const live = grants.lines.find((line) => /^G\d+\tS\d+\tworkspace\tlive\t\d+\t\d+ min\t/.test(line));
  step('live grants are listed with uses and time left', live !== undefined, grants.lines.join(' | '));
  const id = live?.split('\t')[0] ?? 'none';
  const revoke = command(['revoke', id]);
  const code = await revoke.ended;
  step('one is revoked', code === 0, revoke.lines.join(' '));
  const ended = await agent.line((line) => line.startsWith('ended: '), patienceMs);
  step(
    'revoked in the middle of its work',
    ended?.startsWith('ended: refused: revoked: ') === true,
    ended ?? 'it goes on working',
  );
  if (ended === undefined) return;
  const after = await agent.line((line) => line.startsWith('subdir-too: '), patienceMs);
  step(
    'what came out of the grant is dead too',
    after?.startsWith('subdir-too: refused: revoked: ') === true,
    after ?? 'it said nothing',
  );
  const agentCode = await agent.ended;
  step('the agent ends by itself', agentCode === 0, `exit code ${agentCode}`);
}

async function askingSteps(
  command: (args: readonly string[]) => Program,
  ask: () => Program,
  step: Stepper,
): Promise<void> {
  const agent = ask();
  await agent.line((line) => line.startsWith('asking:'));
  let asked: { readonly id: string; readonly digest: string; readonly effect: string } | undefined;
  for (let tries = 0; asked === undefined && tries < 20; tries += 1) {
    const requests = command(['inbox', '--json']);
    await requests.ended;
    [asked] = JSON.parse(requests.lines[0] ?? '[]');
  }
  step('an agent asks for more, and the granter sees what for', asked?.effect.includes('of which it holds “once”: once') === true, asked?.effect ?? 'no request waits'); // biome-ignore format: one line
  const { id = 'none', digest = 'none' } = asked ?? {};
  const forged = command(['grant', id, 'a'.repeat(12)]);
  step('a yes to something else does nothing', (await forged.ended) === 1, forged.lines.join(' '));
  const approved = command(['grant', id, digest]);
  const code = await approved.ended;
  const got = await agent.line((line) => /^(?:granted|refused): /.test(line), patienceMs);
  step('a yes to what was shown is what it waits for', code === 0 && got === 'granted: ["hello.txt"]', got ?? 'it still waits'); // biome-ignore format: one line
}

async function ledgerSteps(
  command: (args: readonly string[], secret?: string) => Program,
  folder: string,
  step: Stepper,
): Promise<void> {
  const verify = command(['ledger', 'verify']);
  const code = await verify.ended;
  step('the ledger is whole', code === 0, verify.lines.join(' '));
  const file = join(folder, 'ledger.jsonl');
  const exported = command(['ledger', 'export', file]);
  await exported.ended;
  const lines = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const has = (...parts: readonly string[]): boolean =>
    lines.split('\n').some((line) => parts.every((part) => line.includes(part)));
  step(
    'it tells every call and refusal',
    has('"k":"call"', '"readText"') &&
      has('"k":"refuse"', '"exhausted"') &&
      has('"k":"revoke"') &&
      has('"k":"refuse"', '"revoked"') &&
      has('"k":"result"', '"PATH_ESCAPES"') &&
      has('"k":"approve"', '"surface":"wire"'),
    `${lines.split('\n').length - 1} lines exported`,
  );
  step('it holds no secret', !lines.includes('hob1_'), '');
  const again = command(['ledger', 'verify', file]);
  step('the export verifies by itself', (await again.ended) === 0, again.lines.join(' '));
  appendFileSync(file, '{"v":1,"seq":99999}\n');
  const forged = command(['ledger', 'verify', file]);
  step(
    'a line put in is named',
    (await forged.ended) === 1 && forged.lines.some((line) => /line \d+/.test(line)),
    forged.lines.join(' '),
  );
}
