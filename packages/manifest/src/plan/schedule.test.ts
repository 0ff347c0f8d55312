/** Schedules of a manifest: what a run holds, what a mistake says, and what a lower layer takes away. */
import { expect, test } from 'vitest';
import { check, decide, explain, type Layer, type LayerName, lineOf, type Plan, type Surroundings } from '../index.ts';

const now = Date.parse('2026-11-23');
const HEAD = `version: 1
roots: { project: /p }
agents:
  worker: { command: [node, ~/agents/run.mjs, ./more.mjs, --fast], secrets: [MODEL_KEY] }
  other: { command: [node] }
session:
`;
const layer = (name: LayerName, text: string): Layer => ({ layer: name, file: `${name}.yaml`, folder: '/etc', text });
const around = { now, home: '/base' };
const checked = (session: string, more: Partial<Surroundings> = {}): ReturnType<typeof check> =>
  check([layer('user', HEAD + session)], { ...around, ...more });
function planOf(session: string): Plan {
  const { plan, mistakes } = checked(session);
  expect(mistakes.map(lineOf)).toEqual([]);
  return plan as Plan;
}

const SESSION = `
  caps:
    nightly: { schedule: worker, gives: [src, push, src], shortest: 1h, missed: never, zone: Europe/Berlin, lasts: 30m, uses: 50 }
    src: { fs: project/src, can: [read, list] }
    plans: { fs: project, can: [read] }
  ask:
    push: { command: git, argv: [[push]] }
    weekly: { schedule: other, gives: [src], offer: { uses: 1 } }
`;

test('a schedule is planned with its agent, and each call does what the mode says', () => {
  const plan = planOf(SESSION);
  expect(plan.agents['worker']).toEqual({ command: ['node', '/base/agents/run.mjs', '/etc/more.mjs', '--fast'], secrets: ['MODEL_KEY'] }); // biome-ignore format: one line
  expect(plan.caps['nightly']).toEqual({
    ...{ name: 'nightly', how: 'mint', kind: 'schedule', agent: 'worker', gives: ['push', 'src'] },
    ...{ shortestMs: 3_600_000, missed: 'never', zone: 'Europe/Berlin', lastsMs: 1_800_000, terms: { uses: 50 } },
  });
  const decided = (mode: Plan['mode'], cap: string): readonly string[] =>
    ['every', 'at', 'cancel', 'list', 'run'].map((method) => decide({ ...plan, mode }, { cap, method }));
  expect(decided('autonomous', 'nightly')).toEqual(['runs', 'runs', 'runs', 'runs', 'absent']);
  expect(decided('cautious', 'nightly')).toEqual(['asks', 'asks', 'runs', 'runs', 'absent']);
  expect(decided('supervised', 'nightly')).toEqual(['asks', 'asks', 'asks', 'runs', 'absent']);
  expect(decided('plan', 'nightly')).toEqual(['asks', 'asks', 'asks', 'runs', 'absent']);
  expect(decided('autonomous', 'weekly')).toEqual(['asks', 'asks', 'asks', 'asks', 'absent']);
});

test('explain says what a run holds, when it runs, and that its program is outside of the sandbox', () => {
  const { caps } = explain(planOf(SESSION), String);
  expect(caps.find(({ cap }) => cap === 'nightly')).toEqual({
    cap: 'nightly',
    does: 'may let the agent worker run later, each time in a fresh session with push, src and nothing else, no task more often than every one hour, no run longer than 30 minutes, a missed run is left out, times are those of Europe/Berlin',
    when: 'every, at: each call waits for a person; cancel, list: without a question, 50 uses',
    weakest:
      'the program "node /base/agents/run.mjs /etc/more.mjs --fast", which reads the task and runs outside of the sandbox, as you. It knows the secrets MODEL_KEY. It may ask for push: without an answer in time that is a no.',
  });
  expect(caps.find(({ cap }) => cap === 'weekly')?.does).toMatch(/every one minute, no run longer than one hour, a missed run runs late, once$/); // biome-ignore format: one line
});

test.for([
  ['{ schedule: wroker, gives: [src] }', 'there is no agent "wroker": did you mean worker?'],
  ['{ schedule: worker }', 'gives is missing'],
  ['{ schedule: worker, gives: [] }', 'gives is empty'],
  ['{ schedule: worker, gives: [scr] }', 'there is no cap "scr": did you mean src?'],
  ['{ schedule: worker, gives: [constructor] }', 'there is no cap "constructor"'],
  ['{ schedule: worker, gives: [x] }', 'a run makes no schedules'],
  ['{ schedule: worker, gives: [y] }', 'a run makes no schedules'],
  ['{ schedule: worker, gives: [src], shortest: 30s }', 'shortest is less than 1m: write for example 1h'],
  ['{ schedule: worker, gives: [src], lasts: 2d }', 'lasts is more than 1d'],
  ['{ schedule: worker, gives: [src], missed: twice }', 'missed is not one of late, never'],
  ['{ schedule: worker, gives: [src], zone: Berlin }', 'this is no time zone: write for example Europe/Berlin or UTC'],
  ['{ schedule: worker, gives: [src], every: 1h }', 'a schedule cap has no "every"'],
  ['{ schedule: worker, gives: [src], fs: project }', 'a cap has one kind'],
  ['{ schedule: "node x.mjs", gives: [src] }', 'schedule is not a name'],
] as const)('%s: %s', ([text, says]) => {
  const { plan, mistakes } = checked(`  caps:\n    src: { fs: project, can: [read] }\n    x: ${text}\n    y: { schedule: other, gives: [src] }\n`); // biome-ignore format: one line
  expect(plan).toBeUndefined();
  expect(mistakes[0]?.line).toBe(9);
  expect(mistakes.map((one) => lineOf(one)).join('\n')).toContain(says.replace(': ', ': ').split(': ')[0]);
  expect(mistakes.map(({ wrong, write }) => `${wrong}: ${write}`).join('\n')).toContain(says);
});

test('no file of the command line of an agent lies in a root', () => {
  const holds = (folder: string, file: string): boolean => file.startsWith(`${folder}/`);
  const at = (command: string): readonly string[] =>
    check([layer('user', `version: 1\nroots: { project: /p, mine: ~/work }\nagents:\n  a: { command: ${command} }\n`)], { ...around, holds }).mistakes.map(({ line, at: where, wrong }) => `${line} ${where} ${wrong}`); // biome-ignore format: one line
  expect(at('[/p/run]')).toEqual(['4 agents.a.command[0] this lies in the root project, so a session could change it']);
  expect(at('[node, ~/work/a.mjs]')).toEqual(['4 agents.a.command[1] this lies in the root mine, so a session could change it']); // biome-ignore format: one line
  expect(at('[node, ~/agents/a.mjs, /px]')).toEqual([]);
  expect(check([layer('user', 'version: 1\nagents: { a: { command: [~/a] } }')], { now }).mistakes[0]?.wrong).toBe('"~/a" is not a place'); // biome-ignore format: one line
});

const LOWER = 'version: 1\nsession:\n  caps:\n    nightly: ';
function under(
  lower: string,
  more = '',
): { readonly cap: Plan['caps'][string] | undefined; readonly said: readonly string[] } {
  const { plan, mistakes } = check(
    [layer('user', HEAD + SESSION), layer('project', `${LOWER}${lower}\n${more}`)],
    around,
  );
  return { cap: plan?.caps['nightly'], said: mistakes.map(({ wrong }) => wrong) };
}

test('a lower layer gives a run less, later and for a shorter time, and never more', () => {
  const less = under('{ schedule: worker, gives: [src], shortest: 2h, lasts: 10m, uses: 5 }');
  expect(less.cap).toMatchObject({ gives: ['src'], shortestMs: 7_200_000, missed: 'never', zone: 'Europe/Berlin', lastsMs: 600_000, terms: { uses: 5 } }); // biome-ignore format: one line
  expect(less.said).toEqual([]);
  const more = under('{ schedule: worker, gives: [src, plans], shortest: 1m, lasts: 1d, missed: late, zone: UTC, uses: 500 }'); // biome-ignore format: one line
  expect(more.cap).toMatchObject({ gives: ['src'], shortestMs: 3_600_000, missed: 'never', zone: 'Europe/Berlin', lastsMs: 1_800_000, terms: { uses: 50 } }); // biome-ignore format: one line
  expect(more.said).toEqual([
    'gives plans is more than the layer above allows: it is dropped',
    'another zone than in the layer above: that of the layer above holds',
  ]);
  expect(under('{ schedule: other, gives: [src] }')).toMatchObject({ cap: { agent: 'worker', gives: ['push', 'src'] }, said: ['another agent than in the layer above: that of the layer above holds'] }); // biome-ignore format: one line
  expect(under('{ schedule: worker, gives: [plans] }').cap).toBeUndefined();
  // An agent that a lower layer names again is still that of the layer above.
  const again = check([layer('user', HEAD + SESSION), layer('project', 'version: 1\nagents: { worker: { command: [sh, -c, evil] } }')], around); // biome-ignore format: one line
  expect(again.plan?.agents['worker']?.command[0]).toBe('node');
});

test('a cap that a session does not have is in none of its runs', () => {
  expect(under('{ schedule: worker, gives: [src, push] }', '  deny: [src]').cap).toMatchObject({ gives: ['push'] });
  const denied = planOf(`${SESSION}  deny: [push]\n`);
  expect(denied.caps['nightly']).toMatchObject({ gives: ['src'] });
  const above = check([layer('organisation', 'version: 1\nsession: { deny: [push] }'), layer('user', HEAD + SESSION)], around); // biome-ignore format: one line
  expect(above.plan?.caps['nightly']).toMatchObject({ gives: ['src'] });
});

test('cron_mode: deny of a report on approvals: scheduling is confirmed, and what is dangerous is not there in a run', () => {
  // "cronjob: always confirm scheduling", "git push: ask", "rm -rf: always blocked", "cron_mode: deny".
  const plan = planOf(`
  mode: autonomous
  caps:
    src: { fs: project/src, can: [read, write] }
    git: { command: git, cwd: project, argv: [[status], [log, flags(git.read)]], not_match: ["rm -rf /"] }
    clean: { command: make, cwd: project, argv: [[clean]] }
  ask:
    push: { command: git, cwd: project, argv: [[push, origin, ref]] }
    cronjob: { schedule: worker, gives: [src, git, push] }
`);
  const cron = plan.caps['cronjob'];
  const inRun: Plan = { ...plan, caps: Object.fromEntries(Object.entries(plan.caps).filter(([name]) => cron?.kind === 'schedule' && cron.gives.includes(name))) }; // biome-ignore format: one line
  const vectors = [
    [{ cap: 'cronjob', method: 'every' }, 'asks', 'absent'],
    [{ cap: 'cronjob', method: 'at' }, 'asks', 'absent'],
    [{ command: 'git log -5' }, 'runs', 'runs'],
    [{ command: 'make clean' }, 'runs', 'absent'],
    [{ command: 'rm -rf /' }, 'absent', 'absent'],
    [{ command: 'git push origin main' }, 'asks', 'asks'],
    [{ command: 'git push --force' }, 'absent', 'absent'],
    [{ cap: 'src', method: 'write', path: 'a.ts' }, 'runs', 'runs'],
  ] as const;
  for (const [call, session, run] of vectors) expect([call, decide(plan, call), decide(inRun, call)]).toEqual([call, session, run]); // biome-ignore format: one line
});
