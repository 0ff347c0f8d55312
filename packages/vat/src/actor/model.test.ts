/**
 * Random programs run here and beside a model that shares nothing with the vat but its promises.
 *
 * The model keeps the whole world in plain objects, copies it before each turn and each `attempt`, and puts
 * the copy back when something throws. It has one queue. All vats here share a meter, so one queue is the
 * whole order.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  attempt,
  CapError,
  type Definition,
  define,
  E,
  type Far,
  openVats,
  promise,
  spawn,
  type Table,
  table,
} from '../index.ts';

type Op =
  | readonly ['add', number]
  | readonly ['row', string, number]
  | readonly ['throw']
  | readonly ['broken']
  | readonly ['near' | 'far' | 'only' | 'pipe' | 'watch' | 'return', number, readonly Op[]]
  | readonly ['promised', number, readonly Op[]]
  | readonly ['try' | 'attempt' | 'spawn', readonly Op[]]
  | readonly ['look', number, number]
  | readonly ['wait', number]
  | readonly ['resolve', number, What];
type What = readonly ['value', number] | readonly ['actor', number] | readonly ['promise', number] | readonly ['break'];
type Script = readonly Op[];
type Step =
  | readonly ['send' | 'pipe' | 'turn' | 'peek', number, Script]
  | readonly ['promised', number, Script]
  | readonly ['resolve', number, What]
  | readonly ['halt', number]
  | readonly ['drain'];

const vatCount = 3;
const actorCount = 4;
const promiseCount = 3;
type Result = readonly ['ok', unknown] | readonly ['broken', string] | readonly ['pending'];
interface Observed {
  readonly log: readonly unknown[];
  readonly answers: readonly Result[];
  readonly states: readonly unknown[];
}
const codeOf = (error: unknown): string => (error instanceof CapError ? error.code : 'error');
/** How a value is written in both logs. */
const shown = (value: unknown): unknown => (typeof value === 'number' || value === undefined ? value : 'object');

// ---- the vat ----------------------------------------------------------------------------------------------------------

interface Node {
  run(script: Script): unknown;
  self(): Node;
  look(x: unknown): void;
  state(): readonly [number, readonly (readonly [string, number])[]];
}

async function real(steps: readonly Step[]): Promise<Observed> {
  const log: unknown[] = [];
  let turns = 0;
  const vats = await openVats({
    observe: (turn) => {
      if (turn.vat !== 'control') turns += 1;
    },
  });
  const meter = vats.meter('all');
  const control = vats.vat('control', { meter });
  const all = Array.from({ length: vatCount }, (_, i) => vats.vat(`v${i}`, { meter }));
  const nodes: Node[] = [];
  const pool: ReturnType<typeof promise<unknown>>[] = [];

  const Node: Definition<Node, [id: number, n: number, rows: Table<number>]> = define('Node', (bcom, id, n, rows) => ({
    run: (script) => {
      const done = exec(script, id, n, rows);
      const next = Node(id, n + done.delta, rows);
      if (done.broken) return bcom.broken(next, new CapError('denied', 'broken'));
      const answer = done.answer ?? n;
      return done.delta === 0 ? answer : bcom(next, answer);
    },
    self: () => bcom.self,
    look: (x) => void log.push([id, 'sees', x instanceof Promise ? 'promise' : shown(x)]),
    state: () => [n, [...rows.entries()]],
  }));
  const at = (i: number): Node => nodes[i % nodes.length] as Node;
  const born = (n: number): Node => {
    const id = nodes.length;
    const node = spawn(Node(id, n, table<number>()));
    nodes.push(node);
    return node;
  };
  const resolve = (k: number, what: What): void => {
    const { resolver } = pool[k] as (typeof pool)[number];
    if (what[0] === 'break') resolver.break(new CapError('expired', 'broken'));
    else if (what[0] === 'value') resolver.resolve(what[1]);
    else if (what[0] === 'actor') resolver.resolve(at(what[1]));
    else resolver.resolve((pool[what[1]] as (typeof pool)[number]).promise);
  };
  const watch = (id: number, x: Promise<unknown>): void =>
    void E.when(
      x,
      (value) => void log.push([id, 'when', shown(value)]),
      (error) => void log.push([id, 'when broken', codeOf(error)]),
    );

  function exec(
    script: Script,
    id: number,
    n: number,
    rows: Table<number>,
  ): { delta: number; broken: boolean; answer?: unknown } {
    let delta = 0;
    let broken = false;
    let answer: unknown;
    for (const op of script) {
      log.push([id, op[0], n]);
      if (op[0] === 'add') delta += op[1];
      else if (op[0] === 'row') rows.set(op[1], op[2] + n);
      else if (op[0] === 'throw') throw new Error('thrown');
      else if (op[0] === 'broken') broken = true;
      else if (op[0] === 'near') log.push([id, 'got', shown(at(op[1]).run(op[2]))]);
      else if (op[0] === 'far') void E(at(op[1])).run(op[2]);
      else if (op[0] === 'only') E.sendOnly(at(op[1])).run(op[2]);
      else if (op[0] === 'pipe') void E(E(at(op[1])).self()).run(op[2]);
      else if (op[0] === 'watch') watch(id, E(at(op[1])).run(op[2]));
      else if (op[0] === 'return') answer = E(at(op[1])).run(op[2]);
      else if (op[0] === 'promised')
        watch(
          id,
          (E((pool[op[1]] as never as { promise: Promise<Node> }).promise) as unknown as Node).run(
            op[2],
          ) as Promise<unknown>,
        );
      else if (op[0] === 'spawn') born(n).run(op[1]);
      else if (op[0] === 'look') E.sendOnly(at(op[1])).look((pool[op[2]] as (typeof pool)[number]).promise);
      else if (op[0] === 'wait') watch(id, (pool[op[1]] as (typeof pool)[number]).promise);
      else if (op[0] === 'resolve') resolve(op[1], op[2]);
      else {
        try {
          const body = op[1] as Script;
          const inner = op[0] === 'attempt' ? attempt(() => exec(body, id, n, rows)) : exec(body, id, n, rows);
          delta += inner.delta;
          broken ||= inner.broken;
          answer = inner.answer ?? answer;
        } catch (error) {
          log.push([id, 'caught', codeOf(error)]);
        }
      }
    }
    return { delta, broken, answer };
  }

  const results: Result[] = [];
  const answer = (x: Promise<unknown>): void => {
    const i = results.push(['pending']) - 1;
    x.then(
      (value) => {
        results[i] = ['ok', shown(value)];
      },
      (error: unknown) => {
        results[i] = ['broken', codeOf(error)];
      },
    );
  };
  const drain = async (): Promise<void> => {
    for (let before = -1; before !== turns; ) {
      before = turns;
      await control.turn(() => undefined);
      await control.turn(() => undefined);
    }
  };

  for (let i = 0; i < actorCount; i += 1) await (all[i % vatCount] as (typeof all)[number]).turn(() => void born(0));
  for (let k = 0; k < promiseCount; k += 1) {
    const made = await control.turn(() => promise<unknown>());
    pool.push(made as never);
    made.promise.catch(() => {});
  }
  const far = (i: number): Far<Node> => at(i) as unknown as Far<Node>;
  for (const step of steps) {
    if (step[0] === 'send') answer(E(far(step[1])).run(step[2]));
    else if (step[0] === 'pipe') answer(E(E(far(step[1])).self()).run(step[2]));
    else if (step[0] === 'promised')
      answer(E((pool[step[1]] as never as { promise: Promise<Far<Node>> }).promise).run(step[2]));
    else if (step[0] === 'turn')
      answer((all[step[1] % vatCount] as (typeof all)[number]).turn(() => at(step[1]).run(step[2])));
    else if (step[0] === 'peek')
      answer(
        (all[step[1] % vatCount] as (typeof all)[number])
          .peek(() => at(step[1]).run(step[2]))
          .then(({ result }) => (result instanceof Promise ? 'promise' : result)),
      );
    else if (step[0] === 'resolve') resolve(step[1], step[2]);
    else if (step[0] === 'halt') (all[step[1]] as (typeof all)[number]).halt();
    else await drain();
  }
  await drain();
  const states: unknown[] = [];
  for (let i = 0; i < nodes.length; i += 1)
    states.push(
      await E(nodes[i] as unknown as Far<Node>)
        .state()
        .then((state) => state, codeOf),
    );
  await vats.close();
  return { log, answers: results, states };
}

// ---- the model ----------------------------------------------------------------------------------------------------------

class Broken extends Error {
  readonly code: string;
  constructor(code: string) {
    super(code);
    this.code = code;
  }
}
interface Actor {
  vat: number;
  n: number;
  rows: Map<string, number>;
  gone: boolean;
}
interface Promised {
  state: 'pending' | 'ok' | 'broken' | 'same as';
  value: unknown;
  messages: Post[];
  then: ((ok: boolean, value: unknown) => void)[];
}
interface Post {
  readonly to: number | Promised;
  readonly act: 'run' | 'self' | 'look';
  readonly data: unknown;
  readonly answer: Promised;
}
type Job = { readonly vat: number; readonly run: () => unknown; readonly answer: Promised; readonly dry?: true };
const actorNamed = (i: number): { readonly actor: number } => ({ actor: i });
const isActor = (x: unknown): x is { readonly actor: number } => typeof x === 'object' && x !== null && 'actor' in x;
const isPromised = (x: unknown): x is Promised => typeof x === 'object' && x !== null && 'messages' in x;

function model(steps: readonly Step[]): Observed {
  const log: unknown[] = [];
  let actors: Actor[] = Array.from({ length: actorCount }, (_, i) => ({
    vat: i % vatCount,
    n: 0,
    rows: new Map(),
    gone: false,
  }));
  const fresh = (): Promised => ({ state: 'pending', value: undefined, messages: [], then: [] });
  const pool = Array.from({ length: promiseCount }, fresh);
  const halted = new Set<number>();
  const queue: Job[] = [];
  let later: (() => void)[] = [];
  let here = -1;

  const copy = (): Actor[] => actors.map((actor) => ({ ...actor, rows: new Map(actor.rows) }));
  const putBack = (before: Actor[]): void => {
    const lost = actors.slice(before.length).map((actor) => ({ ...actor, gone: true }));
    actors = [...before, ...lost];
  };
  const last = (p: Promised): Promised => (p.state === 'same as' ? last(p.value as Promised) : p);

  const toTell: Promised[] = [];
  function settle(p: Promised, ok: boolean, value: unknown): void {
    if (p.state !== 'pending') return;
    if (ok && isPromised(value)) {
      const end = last(value);
      if (end === p) return settle(p, false, 'cycle');
      if (end.state !== 'pending') return settle(p, end.state === 'ok', end.value);
      p.state = 'same as';
      p.value = end;
      end.messages.push(...p.messages);
      end.then.push(...p.then);
      return;
    }
    p.state = ok ? 'ok' : 'broken';
    p.value = value;
    toTell.push(p);
    if (toTell.length > 1) return;
    for (let one = toTell[0]; one !== undefined; toTell.shift(), one = toTell[0]) {
      for (const message of one.messages) arrive(message, one);
      for (const then of one.then) then(one.state === 'ok', one.value);
    }
  }
  function arrive(message: Post, p: Promised): void {
    if (p.state === 'broken') settle(message.answer, false, p.value);
    else if (isActor(p.value)) post({ ...message, to: p.value.actor });
    else settle(message.answer, false, 'not-callable');
  }
  function post(message: Post): void {
    const { to, answer } = message;
    if (typeof to !== 'number') {
      const end = last(to);
      if (end.state === 'pending') end.messages.push(message);
      else arrive(message, end);
      return;
    }
    enqueue({ vat: (actors[to] as Actor).vat, answer, run: () => deliverTo(to, message) });
  }
  function enqueue(job: Job): void {
    if (halted.has(job.vat)) settle(job.answer, false, 'vat-halted');
    else queue.push(job);
  }
  function deliverTo(to: number, { act, data }: Post): unknown {
    if ((actors[to] as Actor).gone) throw new Broken('no-such-object');
    if (act === 'self') return actorNamed(to);
    if (act === 'run') return call(to, data as Script, true);
    const p = last(data as Promised);
    log.push([to, 'sees', p.state === 'ok' ? (isActor(p.value) ? 'object' : p.value) : 'promise']);
    return undefined;
  }
  const write = (x: unknown): unknown => (isActor(x) || isPromised(x) ? 'object' : x);

  let breaks: string | undefined;
  function call(id: number, script: Script, outermost: boolean): unknown {
    const me = actors[id] as Actor;
    if (me.vat !== here) throw new Broken('not-callable');
    if (me.gone) throw new Broken('no-such-object');
    const { n } = me;
    const { delta, broken, answer } = exec(script, id, n);
    if (broken || delta !== 0) (actors[id] as Actor).n = n + delta;
    if (broken && !outermost) throw new Broken('denied');
    if (broken) breaks = 'denied';
    return answer ?? n;
  }
  const at = (i: number): number => i % actors.length;
  const send = (to: number | Promised, act: Post['act'], data: unknown): Promised => {
    const answer = fresh();
    later.push(() => post({ to, act, data, answer }));
    return answer;
  };
  const watch = (id: number, p: Promised): void => {
    const vat = here;
    const told = (ok: boolean, value: unknown): void =>
      enqueue({ vat, answer: fresh(), run: () => void log.push([id, ok ? 'when' : 'when broken', write(value)]) });
    later.push(() => {
      const end = last(p);
      if (end.state === 'pending') end.then.push(told);
      else told(end.state === 'ok', end.value);
    });
  };
  const decide = (k: number, what: What): void => {
    const p = pool[k] as Promised;
    if (what[0] === 'break') settle(p, false, 'expired');
    else settle(p, true, what[0] === 'value' ? what[1] : what[0] === 'actor' ? actorNamed(at(what[1])) : pool[what[1]]);
  };
  function exec(script: Script, id: number, n: number): { delta: number; broken: boolean; answer?: unknown } {
    let delta = 0;
    let broken = false;
    let answer: unknown;
    for (const op of script) {
      log.push([id, op[0], n]);
      if (op[0] === 'add') delta += op[1];
      else if (op[0] === 'row') (actors[id] as Actor).rows.set(op[1], op[2] + n);
      else if (op[0] === 'throw') throw new Broken('error');
      else if (op[0] === 'broken') broken = true;
      else if (op[0] === 'near') log.push([id, 'got', write(call(at(op[1]), op[2], false))]);
      else if (op[0] === 'far' || op[0] === 'only') send(at(op[1]), 'run', op[2]);
      else if (op[0] === 'pipe') send(send(at(op[1]), 'self', undefined), 'run', op[2]);
      else if (op[0] === 'watch') watch(id, send(at(op[1]), 'run', op[2]));
      else if (op[0] === 'return') answer = send(at(op[1]), 'run', op[2]);
      else if (op[0] === 'promised') watch(id, send(pool[op[1]] as Promised, 'run', op[2]));
      else if (op[0] === 'spawn') {
        actors.push({ vat: here, n, rows: new Map(), gone: false });
        call(actors.length - 1, op[1], false);
      } else if (op[0] === 'look') send(at(op[1]), 'look', pool[op[2]]);
      else if (op[0] === 'wait') watch(id, pool[op[1]] as Promised);
      else if (op[0] === 'resolve') {
        // Whom it names is known now, what it does waits.
        const [, k, what] = op;
        const named: What = what[0] === 'actor' ? ['actor', at(what[1])] : what;
        later.push(() => decide(k, named));
      } else {
        const before = op[0] === 'attempt' ? { actors: copy(), later: later.length } : undefined;
        try {
          const inner = exec(op[1] as Script, id, n);
          delta += inner.delta;
          broken ||= inner.broken;
          answer = inner.answer ?? answer;
        } catch (error) {
          if (before !== undefined) {
            putBack(before.actors);
            later.length = before.later;
          }
          log.push([id, 'caught', (error as Broken).code]);
        }
      }
    }
    return { delta, broken, answer };
  }

  function drain(): void {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
      if (halted.has(job.vat)) {
        settle(job.answer, false, 'vat-halted');
        continue;
      }
      const before = copy();
      here = job.vat;
      later = [];
      breaks = undefined;
      let value: unknown;
      try {
        value = job.run();
      } catch (error) {
        putBack(before);
        settle(job.answer, false, (error as Broken).code);
        continue;
      }
      if (job.dry === true) {
        putBack(before);
        settle(job.answer, true, isPromised(value) ? 'a promise' : value);
        continue;
      }
      for (const effect of later) effect();
      if (breaks !== undefined) settle(job.answer, false, breaks);
      else settle(job.answer, true, value);
    }
  }

  const answers: Promised[] = [];
  const answered = (): Promised => {
    const answer = fresh();
    answers.push(answer);
    return answer;
  };
  for (const step of steps) {
    if (step[0] === 'send') post({ to: at(step[1]), act: 'run', data: step[2], answer: answered() });
    else if (step[0] === 'pipe') {
      const self = fresh();
      post({ to: at(step[1]), act: 'self', data: undefined, answer: self });
      post({ to: self, act: 'run', data: step[2], answer: answered() });
    } else if (step[0] === 'promised')
      post({ to: pool[step[1]] as Promised, act: 'run', data: step[2], answer: answered() });
    else if (step[0] === 'turn' || step[0] === 'peek') {
      const [, i, script] = step;
      const job: Job = { vat: i % vatCount, answer: answered(), run: () => call(at(i), script, false) };
      enqueue(step[0] === 'peek' ? { ...job, dry: true } : job);
    } else if (step[0] === 'resolve') decide(step[1], step[2]);
    else if (step[0] === 'halt') halted.add(step[1]);
    else drain();
  }
  drain();
  return {
    log,
    answers: answers.map((p): Result => {
      const { state, value } = last(p);
      if (state === 'pending') return ['pending'];
      return state === 'ok'
        ? ['ok', typeof value === 'number' || value === undefined ? value : 'object']
        : ['broken', value as string];
    }),
    states: actors.map(({ vat, n, rows, gone }) =>
      halted.has(vat) ? 'vat-halted' : gone ? 'no-such-object' : [n, [...rows].sort(([a], [b]) => (a < b ? -1 : 1))],
    ),
  };
}

// ---- programs -----------------------------------------------------------------------------------------------------------

const who = fc.nat(7);
const which = fc.nat(promiseCount - 1);
const what: fc.Arbitrary<What> = fc.oneof(
  fc.tuple(fc.constant('value' as const), fc.nat(9)),
  fc.tuple(fc.constant('actor' as const), who),
  fc.tuple(fc.constant('actor' as const), who),
  fc.tuple(fc.constant('promise' as const), which),
  fc.constant(['break'] as const),
);
const { script } = fc.letrec<{ script: Script; op: Op }>((tie) => ({
  script: fc.array(tie('op'), { maxLength: 4, depthIdentifier: 'script' }),
  op: fc.oneof(
    { depthIdentifier: 'script', maxDepth: 3, withCrossShrink: true },
    fc.oneof(
      { weight: 4, arbitrary: fc.tuple(fc.constant('add' as const), fc.integer({ min: 1, max: 5 })) },
      { weight: 2, arbitrary: fc.tuple(fc.constant('row' as const), fc.constantFrom('a', 'b', 'c'), fc.nat(9)) },
      { weight: 2, arbitrary: fc.constant(['throw'] as const) },
      { weight: 1, arbitrary: fc.constant(['broken'] as const) },
      { weight: 1, arbitrary: fc.tuple(fc.constant('look' as const), who, which) },
      { weight: 1, arbitrary: fc.tuple(fc.constant('wait' as const), which) },
      { weight: 2, arbitrary: fc.tuple(fc.constant('resolve' as const), which, what) },
    ),
    fc.tuple(
      fc.constantFrom('near', 'near', 'far', 'only', 'pipe', 'watch', 'return'),
      who,
      tie('script'),
    ) as fc.Arbitrary<Op>,
    fc.tuple(fc.constantFrom('try', 'attempt', 'attempt', 'spawn'), tie('script')) as fc.Arbitrary<Op>,
    fc.tuple(fc.constant('promised' as const), which, tie('script')) as fc.Arbitrary<Op>,
  ) as fc.Arbitrary<Op>,
}));
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(fc.constantFrom('send', 'pipe', 'turn', 'peek'), who, script) as fc.Arbitrary<Step>,
  },
  { weight: 3, arbitrary: fc.tuple(fc.constant('promised' as const), which, script) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('resolve' as const), which, what) },
  { weight: 3, arbitrary: fc.constant(['drain'] as const) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('halt' as const), fc.nat(vatCount - 1)) },
);

test('any program does what the model does: turns and their order, states, answers and broken codes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const seen = await real(steps);
      expect(seen).toEqual(model(steps));
    }),
    { numRuns: 400 },
  );
});

test('the generator reaches what it is for', () => {
  const kinds = new Map<string, number>();
  for (const steps of fc.sample(fc.array(step, { maxLength: 12 }), { numRuns: 300, seed: 4 })) {
    const { log, answers, states } = model(steps);
    for (const [, what] of log as [number, string][]) kinds.set(what, (kinds.get(what) ?? 0) + 1);
    for (const answer of answers)
      kinds.set(answer.join(' ').replace(/ \d+/, ''), 1 + (kinds.get(answer.join(' ').replace(/ \d+/, '')) ?? 0));
    for (const state of states) kinds.set(typeof state === 'string' ? `state ${state}` : 'state', 1);
  }
  for (const kind of ['got', 'caught', 'when', 'when broken', 'sees', 'attempt', 'spawn', 'return', 'promised'])
    expect(kinds.get(kind), kind).toBeGreaterThan(5);
  for (const kind of ['error', 'denied', 'not-callable', 'vat-halted', 'expired'])
    expect(kinds.get(`broken ${kind}`), kind).toBeGreaterThan(0);
  expect([...kinds.keys()]).toEqual(
    expect.arrayContaining(['ok', 'pending', 'state no-such-object', 'state vat-halted']),
  );
});
