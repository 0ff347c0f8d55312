/**
 * Runs the hooks of a firewall before and after calls.
 *
 * Promise: a hook only makes stricter. One that fails, in whatever way, blocks the call or withholds the answer, and
 * is named. No hook ends a wait, lowers a score or raises the confidence.
 */
import type { AnswerVerdict, CallFacts, CallHooks, HookedCall, HookedOutcome, HookVerdict } from '@hob/host';
import { CapError } from '@hob/vat';
import type { Opinion, ToolCallAssessment } from '../assess/assessment.ts';
import { type Said, saidBy } from './answer.ts';
import type { Hook, HookEvent } from './hook.ts';
import { inputOf } from './input.ts';
import { Lanes } from './lanes.ts';

/** How a call is assessed, with what its hooks say as further opinions. */
type Assess = (
  call: HookedCall,
  opinions: readonly Opinion[],
) => { readonly assessment: ToolCallAssessment; readonly waits: boolean; readonly trace: HookVerdict['trace'] };

interface Heard {
  readonly name: string;
  readonly said: Said;
}

const events: readonly HookEvent[] = ['pre_call', 'post_call', 'pre_tool_call', 'PreToolUse'];

/** The hooks of a firewall. Errors: `invalid`. */
export function hooksOf(hooks: readonly Hook[], assess: Assess): CallHooks {
  checkHooks(hooks);
  const lanes = new Lanes();
  const ask = (
    on: (hook: Hook) => boolean,
    call: HookedCall,
    signal: AbortSignal,
    outcome?: HookedOutcome,
  ): Promise<readonly Heard[]> =>
    // biome-ignore format: one line
    lanes.run(call.session, () => {
      const { assessment } = assess(call, []);
      return Promise.all(hooks.filter((hook) => on(hook) && looksAt(hook, call)).map((hook) => heard(hook, call, assessment, signal, outcome))); // biome-ignore format: one line
    });
  return {
    looksAt: (call) => ({
      before: hooks.some((hook) => isBefore(hook) && looksAt(hook, call)),
      after: hooks.some((hook) => !isBefore(hook) && looksAt(hook, call)),
    }),
    async before(call, signal) {
      return beforeOf(await ask(isBefore, call, signal), (opinions) => assess(call, opinions));
    },
    async after(call, outcome, signal) {
      return afterOf(await ask((hook) => !isBefore(hook), call, signal, outcome));
    },
  };
}

function checkHooks(hooks: readonly Hook[]): void {
  const names = new Set<string>();
  for (const { name, on } of hooks) {
    if (!/^[A-Za-z][A-Za-z0-9_-]{0,62}$/.test(name) || names.has(name))
      throw new CapError('invalid', 'each hook has a name of its own, of letters, digits, _ and -');
    if (!events.includes(on)) throw new CapError('invalid', `on is one of ${events.join(', ')}`);
    names.add(name);
  }
}

const isBefore = ({ on }: Hook): boolean => on !== 'post_call';

const looksAt = ({ caps, methods }: Hook, call: Pick<CallFacts, 'petname' | 'offer' | 'method'>): boolean =>
  (methods === undefined || methods.includes(call.method)) &&
  (typeof caps === 'function' ? caps(call) : (caps?.includes(call.petname) ?? true));

async function heard(
  { name, on, run }: Hook,
  call: HookedCall,
  assessment: ToolCallAssessment,
  signal: AbortSignal,
  outcome: HookedOutcome | undefined,
): Promise<Heard> {
  try {
    const input = inputOf(on, call, assessment, outcome);
    if (input === undefined) return { name, said: { blocks: 'the call is too large to be shown to it' } };
    return {
      name,
      said: saidBy(on, await run(input, signal), (JSON.parse(input) as { readonly tool_input?: unknown }).tool_input),
    };
  } catch {
    return { name, said: { blocks: 'it failed: it could not be run' } };
  }
}

/** The verdict of each hook, in one word. */
const wordOf = ({ blocks, asks, risk }: Said): string =>
  blocks !== undefined ? 'blocks' : asks === true ? 'asks' : risk !== undefined ? 'raises' : 'goes on';
const wordsOf = (all: readonly Heard[]): string => all.map(({ name, said }) => `${name}: ${wordOf(said)}`).join(', ');

function beforeOf(all: readonly Heard[], assess: (opinions: readonly Opinion[]) => ReturnType<Assess>): HookVerdict {
  const opinions = all.map(({ name, said }): Opinion => () =>
    said.risk === undefined && said.confidence === undefined
      ? undefined
      : { risk: said.risk ?? 0, confidence: said.confidence ?? 1, reason: `the hook ${name} finds it risky` },
  ); // biome-ignore format: one line
  const { assessment, waits, trace } = assess(opinions);
  const blocking = all.find(({ said }) => said.blocks !== undefined);
  const asking = all.filter(({ said }) => said.asks === true);
  const reasons = [
    ...assessment.reasons.filter((reason) => reason.startsWith('the hook ')).map((reason) => ['why it waits', reason] as const),
    ...asking.map(({ name }) => ['why it waits', `the hook ${name} wants a person to decide`] as const),
    ...all.flatMap(({ name, said }) => (said.context === undefined ? [] : [[`the hook ${name} says`, said.context] as const])),
  ]; // biome-ignore format: one line
  return {
    waits: waits || asking.length > 0,
    trace: { ...trace, hooks: wordsOf(all), ...(blocking === undefined ? {} : { blocked: true }) },
    reasons,
    ...(blocking === undefined
      ? {}
      : { blocks: `the hook ${blocking.name} blocks this call: ${blocking.said.blocks}` }),
  };
}

function afterOf(all: readonly Heard[]): AnswerVerdict {
  const blocking = all.find(({ said }) => said.blocks !== undefined);
  const trace = { hooks: wordsOf(all), ...(blocking === undefined ? {} : { withheld: true }) };
  if (blocking === undefined) return { trace };
  return { trace, withholds: `the call was made, and the hook ${blocking.name} withholds its answer: ${blocking.said.blocks}. Do not call again for that` }; // biome-ignore format: one line
}
