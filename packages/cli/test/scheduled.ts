/** A served manifest with schedules, on a clock that runs fast, and the agents of its runs. For tests. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type HobHome, hobHome, type Running, resolveHook } from './hob.ts';

/** A minute takes a second. */
const USUAL_FACTOR = 60;
const preload = fileURLToPath(new URL('./fast-clock.mjs', import.meta.url));

/** The agent of a run. Its task is JSON: what it calls, and what it does to its host. It notes what it sees. */
const AGENT = `
import '@hob/vat/lockdown';
import { appendFileSync, readFileSync } from 'node:fs';
import { connect, E } from '@hob/vat';
const seen = process.argv[2];
const note = (line) => appendFileSync(seen, JSON.stringify(line) + '\\n');
const text = readFileSync(0, 'utf8');
let task = {};
try { task = JSON.parse(text); } catch {}
const { cwd, env, argv } = { cwd: process.cwd(), env: Object.keys(process.env).sort(), argv: process.argv.slice(2) };
note({ what: 'begun', task: text, pid: process.pid, cwd, env, argv, key: process.env.MODEL_KEY?.length });
const isFirst = readFileSync(seen, 'utf8').trim().split('\\n').length === 1;
const at = (step) => {
  if (isFirst && task.kill === step) process.kill(process.ppid, 'SIGKILL');
};
at('begun');
const secret = readFileSync(process.env.HOB_SECRET_FILE, 'utf8').trim();
const { bootstrap: session, close } = await connect(process.env.HOB_URL, { secret });
note({ what: 'entered', caps: await E(session).caps() });
at('entered');
for (const [cap, method, ...args] of task.calls ?? []) {
  const ended = await E(E(session).cap(cap))[method](...args).then((value) => ['ok', value], (error) => [error.code]);
  note({ what: 'called', cap, method, ended });
}
if (task.ask) note({ what: 'asked', ended: await E(session).request(task.ask).then(() => 'ok', (error) => error.code) });
at('called');
if (task.stay) { setInterval(() => {}, 1000); await new Promise(() => {}); }
if (task.say) console.error(task.say);
if (task.leak) console.error(process.env.MODEL_KEY);
close();
note({ what: 'ends' });
at('ends');
process.exit(task.exit ?? 0);
`;

/** Calls what each line of its input says, and prints how it ends. */
const ASKER = `
import '@hob/vat/lockdown';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { connect, E } from '@hob/vat';
const secret = readFileSync(process.env.HOB_SECRET_FILE, 'utf8').trim();
const { bootstrap: session, close } = await connect(process.env.HOB_URL, { secret });
console.log('entered', JSON.stringify(await E(session).caps()));
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'end') break;
  const [n, cap, method, ...args] = JSON.parse(line);
  E(E(session).cap(cap))[method](...args).then((value) => ['ok', value], (error) => [error.code, error.message]).then((ended) => console.log('#' + n, JSON.stringify(ended)));
}
close();
process.exit(0);
`;

/** A line that the agent of a run noted. */
export interface Noted {
  readonly what: 'begun' | 'entered' | 'called' | 'asked' | 'ends';
  readonly task?: string;
  readonly pid?: number;
  readonly [field: string]: unknown;
}

export interface ScheduledHome extends HobHome {
  /** What the agents of runs noted. */
  seen(): readonly Noted[];
  /** Waits until they noted as many lines of that kind. */
  sees(what: Noted['what'], count: number): Promise<readonly Noted[]>;
  asker(...options: readonly string[]): Promise<Asker>;
  /** The lines of the ledger. */
  ledger(): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** The time of the fast clock, in ms since 1970. */
  now(): number;
  /** Writes the manifest anew. */
  write(manifest: string): void;
}

/** A session that a person began, as its agent. */
export interface Asker {
  readonly running: Running;
  call<T = unknown>(
    cap: string,
    method: string,
    ...args: readonly unknown[]
  ): Promise<readonly [code: string, value: T]>;
  end(): Promise<void>;
}

/** `{agent}` in the manifest becomes the command line of the agent. */
export interface ScheduledOptions {
  /** How many times as fast the clocks run. */
  readonly factor?: number;
  /** The host is killed once, at this step of a run. */
  readonly kill?: string;
}

export function scheduledHome(manifest: string, { factor = USUAL_FACTOR, kill }: ScheduledOptions = {}): ScheduledHome {
  const start = Date.now();
  const clock = { NODE_OPTIONS: `--import ${preload}`, HOB_TEST_CLOCK: `${factor}:${start}` };
  const hob = hobHome('', { ...clock, ...(kill === undefined ? {} : { HOB_TEST_KILL: kill }) });
  const seenFile = join(hob.folder, 'seen');
  const script = (name: string, text: string): readonly string[] => {
    writeFileSync(join(hob.folder, name), text);
    return [process.execPath, '--import', resolveHook, join(hob.folder, name)];
  };
  const agent = [...script('run.mjs', AGENT), seenFile];
  const write = (text: string): void =>
    writeFileSync(join(hob.folder, 'config/hob.yaml'), text.replace('{agent}', JSON.stringify(agent)));
  write(manifest);
  writeFileSync(seenFile, '');
  const seen = (): readonly Noted[] =>
    readFileSync(seenFile, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Noted);
  return {
    ...hob,
    seen,
    write,
    now: () => start + (Date.now() - start) * factor,
    async sees(what, count) {
      for (;;) {
        const found = seen().filter((one) => one.what === what);
        if (found.length >= count) return found;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    async ledger() {
      const { out } = await hob.run('ledger', 'show', '--json');
      return out
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
    },
    async asker(...options) {
      const running = hob.start('start', ...options, '--', ...script('ask.mjs', ASKER));
      await running.shows(/entered/);
      let calls = 0;
      return {
        running,
        async call(cap, method, ...args) {
          calls += 1;
          const mine = new RegExp(`^#${calls} (.*)$`, 'm');
          running.child.stdin?.write(`${JSON.stringify([calls, cap, method, ...args])}\n`);
          await running.shows(mine);
          return JSON.parse(mine.exec(running.out)?.[1] ?? 'null') as never;
        },
        async end() {
          running.child.stdin?.write('end\n');
          await running.ended;
        },
      };
    },
  };
}

/** The value of the secret that the agent gets. */
export const KEY: string = 'model-key-0123456789abcdef';
const AGENTS = `version: 1
roots: { project: project }
agents:
  worker: { command: {agent}, secrets: [MODEL_KEY] }
`;
/** The manifest of these tests. `nightly` stands behind the other keys of the schedule, `more` at the end. */
export const manifest = (nightly = '', more = ''): string => `${AGENTS}session:
  deadline: 30d
  mode: autonomous
  caps:
    src: { fs: project/src, can: [read, list, write] }
    plans: { fs: project, can: [read, list] }
    nightly: { schedule: worker, gives: [src, edit], uses: 50, lasts: 20m${nightly} }
  ask:
    edit: { fs: project/src, can: [read, write], offer: { uses: 1 } }
${more}`;

/** A row of `hob list` or `hob sessions`. */
export interface Row {
  readonly id: string;
  readonly name: string;
  readonly cap: string;
  readonly state: string;
  readonly session: string;
  readonly usesLeft?: number;
  readonly parent?: string;
}
/** A row of `list` of a schedule cap. */
export interface Scheduled {
  readonly id: string;
  readonly runs: number;
  readonly last?: string;
}

/** A home with the secret of the agent. */
export async function served(text: string = manifest(), factor?: number): Promise<ScheduledHome> {
  const hob = scheduledHome(text, factor === undefined ? {} : { factor });
  const setting = hob.start('secret', 'set', 'MODEL_KEY');
  setting.child.stdin?.end(KEY);
  await setting.ended;
  return hob;
}
/** The live grant that runs are uses of. */
export const grantOfRuns = async (hob: ScheduledHome): Promise<Row | undefined> =>
  (await hob.json<readonly Row[]>('list')).find(({ cap }) => cap === 'runs');
/** A task of calls. */
export const calls = (...all: readonly (readonly unknown[])[]): string => JSON.stringify({ calls: all });
/** How the calls of all runs ended. */
export const ends = (hob: ScheduledHome): readonly unknown[] => hob.seen().filter(({ what }) => what === 'called').map(({ ended }) => ended); // biome-ignore format: one line
