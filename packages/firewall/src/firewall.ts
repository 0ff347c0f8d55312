/**
 * The firewall of a host: it assesses each call, and makes some of them wait for a person.
 *
 * Promise: it gives no authority. In `observe` nothing waits but what must never go on by itself; the ledger has the
 * assessment of each call in both modes. A detector or a plugin that fails makes a call wait.
 */
import type { CallDecision, CallFacts, CallFirewall, HookedCall } from '@hob/host';
import { takeOptions } from '@hob/vat/forwarder';
import { assess, leaves, type Opinion, type ToolCallAssessment } from './assess/assessment.ts';
import { type Mode, waits } from './assess/decide.ts';
import type { AssessedCall, Sensitivity } from './call/call.ts';
import { effectOf } from './call/effect.ts';
import { type CrisisDetector, type CrisisVerdict, detectCrisis } from './crisis/detect.ts';
import { textsOf } from './crisis/reading/texts.ts';
import { makeGuardrails } from './guardrails/guardrails.ts';
import type { GuardrailOptions } from './guardrails/thresholds.ts';
import type { Hook } from './hooks/hook.ts';
import { hooksOf } from './hooks/hooks.ts';
import { isReviewed } from './review/lane.ts';

/** How a firewall decides. */
export interface FirewallOptions {
  /** `observe`: calls are assessed, and only crisis-sensitive ones wait. `enforce`: each call that should wait waits. */
  readonly mode: Mode;
  /**
   * How much depends on the object of an offer, by the name of the offer: a record, or a function that is asked at each
   * call. `ordinary` for one that is not named.
   */
  readonly sensitivity?: Readonly<Record<string, Sensitivity>> | ((offer: string) => Sensitivity | undefined);
  /** Finds text about a person in danger, in place of the default. */
  readonly crisis?: CrisisDetector;
  /**
   * The message that a session answers, as the program of the host knows it. While it is about a person in danger, each
   * call of the session that leaves waits for a person, whatever its own text says.
   */
  readonly incoming?: (session: string) => string | undefined;
  /** Further opinions about each call. They may raise the risk and lower the confidence. */
  readonly opinions?: readonly Opinion[];
  /** When calls that go round in circles are warned of, and stopped, in both modes. */
  readonly guardrails?: GuardrailOptions;
  /** Programs that look at calls and answers, in both modes. */
  readonly hooks?: readonly Hook[];
  /**
   * Under `enforce`: whether changes of this offer that can be taken back go on at once, and a person looks at them
   * afterwards.
   */
  readonly review?: (offer: string) => boolean;
}

const optionNames = {
  mode: true,
  sensitivity: true,
  crisis: true,
  incoming: true,
  opinions: true,
  guardrails: true,
  hooks: true,
  review: true,
} as const;

/** Makes a firewall for `openHost({firewall})`. Errors: `invalid`. */
export function makeFirewall(given: FirewallOptions): CallFirewall {
  const options = takeOptions(given, 'makeFirewall', optionNames);
  const loops = makeGuardrails(options.guardrails);
  const { hooks = [] } = options;
  const decide = (facts: CallFacts): CallDecision => {
    const { assessment, waits: asks, trace, danger, review } = assessed(options, facts, []);
    const { reasons } = assessment;
    return {
      waits: asks,
      review,
      personOnly: danger !== undefined,
      trace,
      reasons: danger === undefined ? reasons : [...reasons, danger],
    };
  };
  if (hooks.length === 0) return Object.freeze({ decide, loops });
  return Object.freeze({ decide, loops, hooks: hooksOf(hooks, (call, more) => assessed(options, call, more)) });
}

interface Assessed {
  readonly assessment: ToolCallAssessment;
  readonly waits: boolean;
  readonly trace: CallDecision['trace'];
  /** Why it is about a person in danger, or undefined. */
  readonly danger: string | undefined;
  /** It goes on, and a person looks at it afterwards. */
  readonly review: boolean;
}

/** `more`: opinions beside those of the firewall. */
function assessed(options: FirewallOptions, facts: HookedCall, more: readonly Opinion[]): Assessed {
  const { mode, sensitivity = {}, crisis = detectCrisis, opinions = [] } = options;
  const effect = effectOf(facts.method, facts.effects, facts.reads);
  const target =
    typeof sensitivity === 'function'
      ? sensitivity(facts.offer)
      : Object.hasOwn(sensitivity, facts.offer)
        ? sensitivity[facts.offer]
        : undefined;
  const plain: AssessedCall = { method: facts.method, args: facts.args, effect, sensitivity: target ?? 'ordinary', crisis: false }; // biome-ignore format: one line
  const danger = leaves(plain) ? dangerIn({ crisis, incoming: options.incoming }, facts) : undefined;
  const call = danger === undefined ? plain : { ...plain, crisis: true };
  const assessment = assess(call, `${facts.petname}.${facts.method.slice(0, 64)}`, [...opinions, ...more]);
  const { level, undoes } = facts;
  const review = mode === 'enforce' && options.review?.(facts.offer) === true && isReviewed(assessment, call, { level, undoes }); // biome-ignore format: one line
  const trace = {
    risk: rounded(assessment.risk_score),
    sure: Math.floor(assessment.confidence * 1000) / 1000,
    effect: effect.class,
    pattern: review ? 'post_execution_review' : assessment.pattern,
    ...(assessment.requires_human ? { human: true } : {}),
    ...(assessment.crisis_sensitive ? { crisis: true } : {}),
    ...(facts.level === 'medium' ? {} : { level: facts.level }),
  };
  return { assessment, waits: !review && waits(assessment, call, { mode, level }), trace, danger, review };
}

/** Numbers in the ledger are short. A score just above a threshold stays above it, and a confidence below it below. */
const rounded = (value: number): number => Math.ceil(value * 1000) / 1000;

interface Detecting {
  readonly crisis: CrisisDetector;
  readonly incoming: FirewallOptions['incoming'];
}

/** Why the call is about a person in danger, or undefined. */
function dangerIn({ crisis, incoming }: Detecting, { args, session, petname, method }: HookedCall): string | undefined {
  const texts = textsOf(args);
  if (texts === undefined) return 'its arguments are too large to be judged';
  try {
    const answered = incoming?.(session);
    if (answered !== undefined && typeof answered !== 'string') throw new TypeError('an incoming message is text');
    const context = { session, petname, method, ...(answered === undefined ? {} : { incoming: answered }) };
    // Also together: a phrase may be cut into several texts.
    for (const text of texts.length > 1 ? [...texts, texts.join(' ')] : texts) {
      const why = foundIn(crisis(text, context));
      if (why !== undefined) return why;
    }
    const why = answered === undefined ? undefined : foundIn(crisis(answered, context));
    return why === undefined ? undefined : `the message that it answers: ${why}`;
  } catch {
    return 'its text could not be judged';
  }
}

function foundIn({ sensitive, why }: CrisisVerdict): string | undefined {
  // A promise, or a misspelt name, is no "no".
  if (typeof sensitive !== 'boolean') throw new TypeError('a detector returns { sensitive, why }');
  return sensitive ? why : undefined;
}
