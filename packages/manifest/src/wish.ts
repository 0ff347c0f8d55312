/**
 * Wish lists: a file inside a root can only propose what a person may be asked for.
 *
 * Anybody who writes in the root, the agent included, can write this file. So it fills `ask` and nothing else, and
 * only after a granter accepted exactly this text, by its hash. When the file changes, the acceptance ends.
 */
import { parse } from './file/parse.ts';
import type { HttpCap, Manifest } from './file/types.ts';
import { compile } from './plan/compile.ts';
import { mayRun } from './plan/decide.ts';
import { examplesOf } from './plan/examples.ts';
import { skeleton } from './plan/names.ts';
import type { Plan, PlannedCap } from './plan/plan.ts';
import { type Finding, located, type Mistake } from './text/mistakes.ts';
import type { Source } from './text/read.ts';

/** A person reads the whole list before they accept it. */
const MOST_WISHES = 32;

/** A plan with what a wish list adds to it. */
export interface Wished {
  /** With the wishes if they were accepted; otherwise the plan that was given. */
  readonly plan: Plan;
  /** The hash that a granter accepts. */
  readonly hash: string;
  readonly isAccepted: boolean;
  /** The wishes of the list, to be shown to the granter. Empty if it has mistakes. */
  readonly asks: readonly PlannedCap[];
  readonly mistakes: readonly Mistake[];
}

/** Facts that the caller of `wish` gives. */
export interface WishAround {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The hashes of the texts that granters accepted. */
  readonly accepted: Iterable<string>;
  /** SHA-256 of the text as UTF-8, in hexadecimal digits. */
  readonly sha256: (text: string) => string;
}

/** Reads a wish list over a plan. It never throws for a text. */
export function wish(plan: Plan, source: Source, { now, accepted, sha256 }: WishAround): Wished {
  const hash = sha256(source.text);
  const none = { plan, hash, isAccepted: false, asks: [] };
  const parsed = parse(source);
  if (parsed.manifest === undefined) return { ...none, mistakes: parsed.mistakes };
  const { manifest, document } = parsed;
  const above: Plan = { ...plan, children: {} };
  const only: Manifest = { version: 1, session: { ask: manifest.session?.ask ?? {} } };
  const compiled = compile(only, { now, above, origin: { file: source.file } }, plan.caps);
  const findings = [...beyondAsk(manifest), ...taken(manifest, plan), ...compiled.findings];
  const asks = Object.values(compiled.plan?.caps ?? {});
  const whole: Plan = { ...plan, caps: { ...plan.caps, ...compiled.plan?.caps } };
  if (compiled.plan !== undefined && findings.length === 0)
    findings.push(...examplesOf(only, whole, whole), ...forbidden(asks, whole));
  const found = findings.map((one) => located(one, document));
  if (found.some(({ severity }) => severity === 'error')) return { ...none, mistakes: found };
  const isAccepted = [...accepted].includes(hash);
  return { plan: isAccepted ? whole : plan, hash, isAccepted, asks, mistakes: found };
}

/** The keys of caps that only a file outside of the roots has. */
const OF_MANIFEST = ['secret', 'addresses', 'ca', 'client', 'proxy'] as const;

/** The parts that a wish list has no business with. */
function beyondAsk(manifest: Manifest): readonly Finding[] {
  const { version: _, session = {}, ...parts } = manifest;
  const paths = [
    ...Object.keys(parts).map((part) => [part]),
    ...Object.keys(session).flatMap((part) => (part === 'ask' ? [] : [['session', part]])),
  ];
  const named = (key: (typeof OF_MANIFEST)[number]): readonly (readonly string[])[] =>
    Object.entries(session.ask ?? {}).flatMap(([name, cap]) =>
      key in cap && (cap as HttpCap)[key] !== undefined ? [['session', 'ask', name, key]] : [],
    );
  const risks = Object.entries(session.ask ?? {}).flatMap(([name, cap]) =>
    (['level', 'sensitivity'] as const).filter((key) => cap[key] !== undefined).map((key) => ['session', 'ask', name, key]),
  ); // biome-ignore format: one line
  return [
    ...paths.map((path) => ({
      path,
      key: true,
      wrong: 'this file lies in a root, so it can only ask',
      write: 'move what it says to session.ask, or to the manifest',
    })),
    ...OF_MANIFEST.flatMap((key) =>
      named(key).map((path) => ({
        path,
        key: true,
        wrong: key === 'addresses' ? 'a wish list opens no address of this network' : key === 'proxy' ? 'a wish list names no proxy' : 'a wish list names no secret', // biome-ignore format: one line
        write: 'write the cap in the manifest, which lies outside of the roots',
      })),
    ),
    ...Object.entries(session.ask ?? {}).flatMap(([name, cap]) =>
      'schedule' in cap
        ? [{ path: ['session', 'ask', name, 'schedule'], key: true, wrong: 'a wish list asks for no schedule, which would go on after the list has changed', write: 'write it in the manifest, which lies outside of the roots' }] // biome-ignore format: one line
        : [],
    ),
    ...risks.map((path) => ({
      path,
      key: true,
      wrong: 'a wish list says nothing about how risky its caps are',
      write: 'leave it out, or write the cap in the manifest',
    })),
  ];
}

function taken({ session = {} }: Manifest, { caps, denied }: Plan): readonly Finding[] {
  const looks = new Map(denied.map((name) => [skeleton(name), name]));
  return Object.keys(session.ask ?? {}).flatMap((name, n) => {
    const path = ['session', 'ask', name];
    if (n === MOST_WISHES)
      return [{ path, key: true, wrong: `this list asks for more than ${MOST_WISHES} caps, and a person reads them all`, write: 'ask for fewer' }]; // biome-ignore format: one line
    const deniedName = looks.get(skeleton(name));
    if (deniedName !== undefined) {
      const like = deniedName === name ? '' : `, which ${name} looks like`;
      return [{ path, key: true, wrong: `the manifest denies ${deniedName}${like}`, write: 'remove it, or ask for something else' }]; // biome-ignore format: one line
    }
    if (!Object.hasOwn(caps, name)) return [];
    return [{ path, key: true, wrong: `the manifest has ${name} already`, write: 'remove it, or choose another name' }];
  });
}

/** `not_match` of the manifest speaks of all caps, also of these. */
function forbidden(asks: readonly PlannedCap[], whole: Plan): readonly Finding[] {
  const names = new Set(asks.map(({ name }) => name));
  const running = whole.never.flatMap((words) => mayRun(whole, words)).filter(({ name }) => names.has(name));
  return [...new Set(running.map(({ name }) => name))].map((name) => ({
    path: ['session', 'ask', name],
    key: true,
    wrong: `${name} runs a call that not_match of the manifest excludes`,
    write: 'make its argv smaller, or remove it',
  }));
}
