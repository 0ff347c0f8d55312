/**
 * Several manifests over each other: organisation, machine, user, project, local, flags.
 *
 * The highest layer with `caps` or `ask` is the bound: no layer below it adds anything. Caps match by name, and
 * silence inherits. Mode, deadline and `deny` of every layer hold, also of layers above the bound.
 */

import { parse } from './file/parse.ts';
import type { Manifest, Mode } from './file/types.ts';
import { compile, type Surroundings } from './plan/compile.ts';
import { examplesOf } from './plan/examples.ts';
import { idleDenies } from './plan/names.ts';
import { followMounts, narrow, stricterMode } from './plan/narrow.ts';
import { DEFAULT_MODE, type Plan } from './plan/plan.ts';
import { idleLevels, type Rest, restOf } from './plan/rest/layered.ts';
import { type Finding, located, type Mistake } from './text/mistakes.ts';
import { type Document, MOST_MISTAKES, type Source } from './text/read.ts';

/** The layers, highest first. */
export const layers = ['organisation', 'machine', 'user', 'project', 'local', 'flags'] as const;
/** The name of a layer. */
export type LayerName = (typeof layers)[number];

/** The text of one layer. */
export interface Layer extends Source {
  readonly layer: LayerName;
  /** The absolute path of the folder of the file: relative roots begin there. */
  readonly folder?: string;
}

/** A plan, and what was found. */
export interface Checked {
  /** Undefined if a mistake is an error. */
  readonly plan: Plan | undefined;
  readonly mistakes: readonly Mistake[];
}

/** Reads, checks and compiles manifests. The order of `given` does not count. */
export function check(given: readonly Layer[], surroundings: Omit<Surroundings, 'above' | 'origin'>): Checked {
  const ordered = [...given].sort((a, b) => layers.indexOf(a.layer) - layers.indexOf(b.layer));
  const above = new Above();
  const read: ReadLayer[] = [];
  for (const source of ordered) {
    const parsed = parse(source);
    if (parsed.manifest === undefined) {
      read.push({ mistakes: parsed.mistakes, findings: [] });
      continue;
    }
    const { manifest, document } = parsed;
    const { file, folder } = source;
    const compiled = above.add(manifest, {
      ...surroundings,
      origin: { file, ...(folder === undefined ? {} : { folder }) },
    });
    read.push({ manifest, document, own: compiled.plan, mistakes: [], findings: [...compiled.findings] });
  }
  const whole = above.plan;
  // Examples speak of the plan of all layers, so they are compared when it is known.
  if (read.every(({ own }) => own !== undefined))
    for (const { manifest, own, findings } of read)
      if (manifest !== undefined && own !== undefined) findings.push(...examplesOf(manifest, own, whole));
  if (whole.firewall === undefined)
    for (const { manifest, findings } of read) if (manifest !== undefined) findings.push(...idleLevels(manifest));
  const mistakes = read.flatMap(({ mistakes: own, findings, document }) => [
    ...own,
    ...(document === undefined
      ? []
      : firstOf(findings)
          .map((one) => located(one, document))
          .sort(byPlace)),
  ]);
  const broken = mistakes.some(({ severity }) => severity === 'error');
  return { plan: broken ? undefined : whole, mistakes: mostly(mistakes) };
}

/** One layer, as far as it could be read. */
interface ReadLayer {
  readonly manifest?: Manifest;
  readonly document?: Document;
  readonly own?: Plan | undefined;
  readonly mistakes: readonly Mistake[];
  readonly findings: Finding[];
}

/** The first mistakes. Errors come first if there are more, because a plan needs them gone. */
function mostly(mistakes: readonly Mistake[]): readonly Mistake[] {
  if (mistakes.length <= MOST_MISTAKES) return mistakes;
  const errors = mistakes.filter(({ severity }) => severity === 'error');
  return [...errors, ...mistakes.filter(({ severity }) => severity !== 'error')].slice(0, MOST_MISTAKES);
}

/** The place of a finding takes time, and more than these are not shown. */
const firstOf = (findings: readonly Finding[]): readonly Finding[] =>
  [
    ...findings.filter(({ severity }) => severity !== 'warning'),
    ...findings.filter(({ severity }) => severity === 'warning'),
  ].slice(0, MOST_MISTAKES);

const byPlace = (a: Mistake, b: Mistake): number => a.line - b.line || a.column - b.column;

/** The layers that were added so far. */
class Above {
  #bound: Plan | undefined;
  #mode: Mode | undefined;
  #deadlineMs: number | undefined;
  #roots: Plan['roots'] = {};
  #servers: Plan['servers'] = {};
  #channels: Plan['channels'] = {};
  #agents: Plan['agents'] = {};
  #denied: readonly string[] = [];
  #rest: Rest = {};
  /** The names that some layer gave to a cap. */
  readonly #names = new Set<string>();

  get plan(): Plan {
    return this.#bound ?? this.#empty();
  }

  #empty(): Plan {
    return {
      mode: this.#mode ?? DEFAULT_MODE,
      ...(this.#deadlineMs === undefined ? {} : { deadlineMs: this.#deadlineMs }),
      roots: this.#roots,
      servers: this.#servers,
      channels: this.#channels,
      agents: this.#agents,
      caps: {},
      denied: this.#denied,
      children: {},
      never: [],
      ...this.#rest,
    };
  }

  add(manifest: Manifest, surroundings: Surroundings): { plan: Plan | undefined; findings: readonly Finding[] } {
    const { plan, findings } = compile(manifest, { ...surroundings, above: this.plan });
    const { caps, ask, mode } = manifest.session ?? {};
    for (const name of [...Object.keys(caps ?? {}), ...Object.keys(ask ?? {})]) this.#names.add(name);
    // A layer above the bound denies names that only lower layers know.
    const all =
      this.#bound === undefined && caps === undefined && ask === undefined
        ? findings
        : [...findings, ...idleDenies(manifest, [...this.#names, ...this.#denied])];
    if (plan === undefined) return { plan, findings: all };
    if (this.#bound !== undefined) {
      const narrowed = narrow(this.#bound, manifest, plan);
      this.#bound = narrowed.plan;
      return { plan, findings: [...all, ...narrowed.findings] };
    }
    if (mode !== undefined) this.#mode = this.#mode === undefined ? mode : stricterMode(this.#mode, mode);
    if (plan.deadlineMs !== undefined)
      this.#deadlineMs = Math.min(this.#deadlineMs ?? plan.deadlineMs, plan.deadlineMs);
    this.#denied = [...new Set([...this.#denied, ...plan.denied])];
    [this.#roots, this.#servers, this.#channels, this.#agents] = [plan.roots, plan.servers, plan.channels, plan.agents];
    const dropped: Finding[] = [];
    this.#rest = restOf(this.#rest, plan, { mayAdd: true }, dropped);
    if (caps !== undefined || ask !== undefined) {
      const held = Object.fromEntries(Object.entries(plan.caps).filter(([name]) => !this.#denied.includes(name)));
      followMounts(held, plan.caps);
      this.#bound = { ...this.#empty(), caps: held, children: plan.children, never: plan.never };
    }
    return { plan, findings: [...all, ...dropped] };
  }
}
