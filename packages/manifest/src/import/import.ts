/**
 * Translates rules of another agent to a manifest.
 *
 * Promises: every rule is in `translated` or named in `untranslated` with its line, or in both if it is translated in
 * part. The manifest compiles. It runs nothing that the rules would ask for or deny, and nothing that they do not allow.
 */

import { manifestSchema } from '../file/schema.ts';
import type { Manifest, Mode } from '../file/types.ts';
import { compile } from '../plan/compile.ts';
import { decisionsOf } from '../plan/decide.ts';
import { stricterMode } from '../plan/narrow.ts';
import type { Plan, PlannedCap } from '../plan/plan.ts';
import type { Mistake } from '../text/mistakes.ts';
import type { Source } from '../text/read.ts';
import { tooLarge } from '../text/size.ts';
import { Barriers } from './barriers.ts';
import { capsOf, type MadeCap } from './caps.ts';
import { readClaude } from './claude.ts';
import { readCodexConfig, readCodexRules } from './codex.ts';
import { readGeminiPolicy, readGeminiSettings } from './gemini.ts';
import { readHermes } from './hermes.ts';
import type { Places } from './paths.ts';
import { type Minted, type Piece, piecesOf } from './pieces.ts';
import type { At, Found, Product, Rule } from './rule.ts';
import { manifestText } from './text.ts';
import { readValue, Unreadable } from './value.ts';

/** A rule that is not in the manifest, or not all of it. */
export interface Untranslated extends At {
  /** As the file writes it, cut if it is long. */
  readonly rule: string;
  readonly why: string;
}
/** A rule that is in the manifest, and where. */
export interface Translated extends At {
  readonly rule: string;
  readonly to: string;
}
/** The result of an import, or the reason why a file could not be read. */
export type Imported =
  | {
      readonly manifest: Manifest;
      readonly untranslated: readonly Untranslated[];
      readonly translated: readonly Translated[];
      readonly mistakes: readonly [];
    }
  | { readonly manifest?: undefined; readonly mistakes: readonly Mistake[] };

/** Where the rules come from, and where their directories lie. */
export interface ImportOptions {
  readonly product: Product;
  /** Roots by name. The first is the directory that the other agent worked in. Default: `project: "."`. */
  readonly roots?: Readonly<Record<string, string>>;
  /** The absolute directory that relative roots and rules are meant from. */
  readonly cwd?: string;
  /** The directory that `~` means in rules. */
  readonly home?: string;
}

/** A person reads the result. More rules than this are imported file by file. */
const MOST_RULES = 2000;
const FEWER = 'import fewer rules at once';

/** Reads files of rules, and translates what can be said in a manifest. It never throws for a text. */
export function importRules(sources: readonly Source[], options: ImportOptions): Imported {
  const found: Found[] = [];
  const mistakes: Mistake[] = [];
  for (const source of sources) {
    const read = readValue(source, (text) => readFile(options.product, source.file, text));
    if ('mistakes' in read) mistakes.push(...read.mistakes);
    else found.push(read);
  }
  const first = { severity: 'error', file: sources[0]?.file ?? '', line: 1, column: 1, at: '' } as const;
  const count = found.reduce((sum, { rules }) => sum + rules.length, 0);
  if (count > MOST_RULES)
    mistakes.push({ ...first, wrong: `these are ${count} rules, and ${MOST_RULES} are read at once`, write: FEWER });
  if (mistakes.length > 0) return { mistakes };
  const { cwd, home } = options;
  const places: Places = { roots: options.roots ?? { project: '.' }, ...(cwd && { cwd }), ...(home && { home }) };
  const result = new Translation(found, places).result();
  const large = result.manifest === undefined ? undefined : tooLarge(manifestText(result.manifest));
  if (large === undefined) return result;
  const { wrong } = large;
  return { mistakes: [{ ...first, wrong: `the manifest would be refused: ${wrong}`, write: FEWER }] };
}

function readFile(product: Product, file: string, text: string): Found {
  switch (product) {
    case 'hermes':
      return readHermes(file, text);
    case 'claude':
      return readClaude(file, text);
    case 'codex':
      return /\.toml$/i.test(file) ? readCodexConfig(file, text) : readCodexRules(file, text);
    case 'gemini':
      return /\.json$/i.test(file) ? readGeminiSettings(file, text) : readGeminiPolicy(file, text);
    default:
      throw new Unreadable(
        { line: 1 },
        'rules of this product are not known here',
        'choose hermes, claude, codex or gemini',
      );
  }
}

class Translation {
  readonly #found: readonly Found[];
  readonly #places: Places;
  readonly #untranslated = new Map<string, Untranslated>();
  readonly #translated = new Map<string, Translated>();

  constructor(found: readonly Found[], places: Places) {
    this.#found = found;
    this.#places = places;
  }

  result(): Imported {
    for (const { text, to, why, ...at } of this.#found.flatMap(({ settings }) => settings)) {
      if (why !== undefined) this.#name({ ...at, text }, why);
      if (to !== undefined) this.#put({ ...at, text }, to);
    }
    const [first = 'project'] = Object.keys(this.#places.roots);
    const caps = capsOf(this.#pieces(), first);
    const { manifest, plan } = this.#manifest(caps);
    for (const made of caps) this.#record(made, plan);
    const inOrder = (a: At, b: At): number => (a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1);
    return {
      manifest,
      untranslated: [...this.#untranslated.values()].sort(inOrder),
      translated: [...this.#translated.values()].sort(inOrder),
      mistakes: [],
    };
  }

  #name({ file, line, text }: At & { text: string }, why: string): void {
    this.#untranslated.set(JSON.stringify([file, line, text, why]), { rule: text, why, line, file });
  }

  #put({ file, line, text }: At & { text: string }, to: string): void {
    this.#translated.set(JSON.stringify([file, line, text, to]), { rule: text, to, line, file });
  }

  #pieces(): readonly Piece[] {
    const neverAsks = this.#found.find((one) => one.neverAsks !== undefined)?.neverAsks;
    // Where the product refuses what it would have to ask for, a rule that asks denies.
    const rules = this.#found
      .flatMap((one) => one.rules)
      .map(
        (rule): Rule => (rule.how === 'ask' && neverAsks !== undefined ? { ...rule, how: 'deny', why: REFUSED } : rule),
      );
    const barriers = new Barriers(rules);
    const servers = this.#servers();
    const hiding = rules.find(({ how, subject }) => how !== 'allow' && subject.kind === 'files');
    return rules.flatMap((rule) => {
      if (rule.how === 'deny') {
        if (rule.why === REFUSED) this.#name(rule, REFUSED);
        else if (rule.why !== undefined) this.#name(rule, `it denies, and perhaps more than it says: ${rule.why}`);
        this.#put(rule, 'session: what it denies does not exist');
        return [];
      }
      const { pieces, lost } = piecesOf(rule as Rule & { how: Minted }, {
        barriers: barriers.of(rule),
        places: this.#places,
        hiding,
        servers: new Set(servers.keys()),
      });
      for (const why of lost) this.#name(rule, why);
      return pieces;
    });
  }

  /** The servers that one file declares. If a name means two servers, neither is taken. */
  #servers(): ReadonlyMap<string, NonNullable<Manifest['servers']>[string]> {
    const all = this.#found.flatMap(({ servers }) => servers);
    const once = all.filter(({ name, server }) =>
      all.every((other) => other.name !== name || JSON.stringify(other.server) === JSON.stringify(server)),
    );
    return new Map(once.map(({ name, server }) => [name, server]));
  }

  #manifest(caps: readonly MadeCap[]): { manifest: Manifest; plan: Plan } {
    const used = new Set(caps.flatMap(({ cap }) => ('mcp' in cap ? [cap.mcp] : [])));
    const servers = Object.fromEntries([...this.#servers()].filter(([name]) => used.has(name)));
    const part = (how: Minted) =>
      Object.fromEntries(caps.filter((one) => one.how === how).map(({ name, cap }) => [name, cap]));
    const modes = this.#found.flatMap(({ mode }) => (mode === undefined ? [] : [mode.mode]));
    const named = modes.length === 0 ? undefined : modes.reduce(stricterMode);
    const withMode = (mode: Mode | undefined): Manifest => ({
      version: 1,
      roots: this.#places.roots,
      ...(used.size === 0 ? {} : { servers }),
      session: {
        ...(mode === undefined ? {} : { mode }),
        ...(caps.some(({ how }) => how === 'allow') ? { caps: part('allow') } : {}),
        ...(caps.some(({ how }) => how === 'ask') ? { ask: part('ask') } : {}),
      },
      ...(this.#found.some(({ judge }) => judge === true) ? { judge: { may: ['propose', 'refuse'] } } : {}),
    });
    const plan = planOf(withMode(named));
    // Without a mode in the files the strictest one is taken in which every allow still runs.
    const runs = caps.every((made) => made.how === 'ask' || isRunning(plan, made.name));
    if (named !== undefined || runs) return { manifest: withMode(named), plan };
    return { manifest: withMode('autonomous'), plan: planOf(withMode('autonomous')) };
  }

  /** Says where the rules of a cap stand, and which of them now wait for a person. */
  #record({ name, how, rules }: MadeCap, plan: Plan): void {
    for (const rule of rules) {
      this.#put(rule, `session.${how === 'ask' ? 'ask' : 'caps'}.${name}`);
      if (how === 'allow' && !isRunning(plan, name))
        this.#name(
          rule,
          `it is in the manifest, and in mode ${plan.mode} it does not run without a person: choose another mode if it should`,
        );
    }
  }
}

const REFUSED = 'another setting refuses whatever has to be asked for, so this does not exist';

function planOf(manifest: Manifest): Plan {
  const shape = manifestSchema.safeParse(manifest);
  if (!shape.success) throw new Error(`an imported manifest has no right shape: ${shape.error.message}`);
  const { plan, findings } = compile(manifest, { now: 0, home: '/' });
  // Every piece was checked before, so this is a bug in the translation.
  if (plan === undefined) throw new Error(`an imported manifest does not compile: ${findings[0]?.wrong}`);
  return plan;
}

/** Whether everything that a cap does runs without a person. */
const isRunning = (plan: Plan, name: string): boolean =>
  Object.values(decisionsOf(plan, plan.caps[name] as PlannedCap)).every((decision) => decision === 'runs');
