/**
 * Compiles a manifest to a plan.
 *
 * Only the caps in `caps` and `ask` exist. Every mistake is collected, so that a writer sees all of
 * them at once.
 */
import { milliseconds } from '../file/terms.ts';
import type { Ask, Cap, CapTerms, FsCap, JudgePart, Manifest, Offer, Server, ShellCap } from '../file/types.ts';
import type { Finding, Path } from '../text/mistakes.ts';
import { quoted } from '../text/mistakes.ts';
import { wrongPattern } from '../words/except.ts';
import { isFlag, REVIEWED } from '../words/flags.ts';
import { childrenOf } from './children.ts';
import { type Base, commandOf } from './command.ts';
import { directoryOf, isMounted, notMountable, orNearest } from './directories.ts';
import { effectOfProgram } from './effects.ts';
import { wordsOf } from './examples.ts';
import { lookAlikes } from './names.ts';
import { askedAnyway, channelsOf, httpOf, messageOf } from './net.ts';
import {
  DEFAULT_MODE,
  type Directory,
  type Plan,
  type PlannedCap,
  type PlannedFirewall,
  type PlannedHook,
  type PlannedJudge,
  type PlannedTerms,
} from './plan.ts';
import { asHttp, forwardOf, hostOf, netOf, signOf, unixOf } from './program-net.ts';
import { a2aOf } from './rest/a2a.ts';
import { chatsOf } from './rest/chats.ts';
import { plannedGuardrails } from './rest/guardrails.ts';
import { type Machine, type Origin, placeOf, rootsOf } from './roots.ts';
import { agentsOf, followGives, scheduleOf } from './schedule.ts';
import { type BoundsFault, mcpOf, rootsOfServers } from './servers.ts';
import { silentTools } from './tools.ts';

/** Facts that the caller adds, because a manifest cannot contain them. */
export interface Surroundings extends Machine {
  /** Milliseconds since 1970. Dates have to be later. */
  readonly now: number;
  /** The plan of the layers above, whose roots and servers this layer may name. */
  readonly above?: Plan;
  /** What a host would refuse in the bounds of a tool. Templates have patterns of RE2, which is not read here. */
  readonly boundsFault?: BoundsFault;
  /** Where the manifest came from. */
  readonly origin?: Origin;
}

/** A plan, and what was found in one manifest. */
export interface Compiled {
  /** Undefined if a finding is an error. */
  readonly plan: Plan | undefined;
  readonly findings: readonly Finding[];
}

/**
 * Compiles a manifest whose shape was checked. Its examples are checked by `examplesOf`, because they speak of the
 * plan of all layers. `held` are caps that the session has from elsewhere, whose directories programs may see.
 */
export function compile(manifest: Manifest, surroundings: Surroundings, held: Plan['caps'] = {}): Compiled {
  return new Compiler(manifest, surroundings, held).compile();
}

/** Comparing 500 of them with a path of 2,000 names took 13 s. */
const MOST_DEEP_PATTERNS = 64;

const NAMED = ['fs', 'host', 'unix', 'forward'];

class Compiler {
  readonly #manifest: Manifest;
  readonly #surroundings: Surroundings;
  readonly #findings: Finding[] = [];
  readonly #flags: Readonly<Record<string, readonly string[]>>;
  readonly #servers: Readonly<Record<string, Server>>;
  readonly #channels: Plan['channels'];
  readonly #agents: Plan['agents'];
  readonly #roots: Plan['roots'];
  readonly #held: Plan['caps'];
  readonly #caps: Record<string, PlannedCap> = {};
  #directories: ReadonlySet<string> = new Set();
  /** Patterns with `**` + `/` so far. */
  #deepPatterns = 0;

  constructor(manifest: Manifest, surroundings: Surroundings, held: Plan['caps']) {
    this.#manifest = manifest;
    this.#surroundings = surroundings;
    this.#held = held;
    const { above, origin = { file: '' } } = surroundings;
    const { roots, findings } = rootsOf(manifest, above?.roots ?? {}, surroundings, origin);
    this.#roots = roots;
    this.#findings.push(...findings);
    this.#flags = { ...REVIEWED, ...manifest.flags };
    // A layer above decides what a server's name means.
    this.#servers = { ...manifest.servers, ...above?.servers };
    this.#channels = { ...channelsOf(manifest.channels ?? {}, this.#roots, this.#findings), ...above?.channels };
    const around = { roots: this.#roots, machine: surroundings, origin: surroundings.origin, findings: this.#findings };
    this.#agents = { ...agentsOf(manifest.agents ?? {}, around), ...above?.agents };
  }

  compile(): Compiled {
    const { session = {}, granters, judge, ledger, firewall: given, a2a: card, chats } = this.#manifest;
    this.#readFlags();
    this.#findings.push(...rootsOfServers(this.#manifest.servers ?? {}, this.#roots));
    this.#findings.push(...lookAlikes(this.#manifest, Object.keys(this.#held)));
    const listed = [
      ...Object.entries(session.caps ?? {}).map(([name, cap]) => ['caps', name, cap] as const),
      ...Object.entries(session.ask ?? {}).map(([name, cap]) => ['ask', name, cap] as const),
    ];
    // Programs name directory caps and caps of the network, so those come first.
    const isNamed = (cap: Cap | Ask): boolean => NAMED.some((key) => key in cap);
    for (const [part, name, cap] of listed) if (isNamed(cap)) this.#add(part, name, cap);
    this.#directories = new Set(
      [...Object.values(this.#held), ...Object.values(this.#caps)]
        .filter(({ kind }) => kind === 'fs')
        .map(({ name }) => name),
    );
    for (const [part, name, cap] of listed) if (!isNamed(cap)) this.#add(part, name, cap);
    this.#refuseHiddenAsks();
    for (const name of session.deny ?? []) delete this.#caps[name];
    followGives(this.#caps, (name) => session.deny?.includes(name) !== true);
    const { children, findings } = childrenOf(this.#manifest, this.#caps);
    this.#findings.push(...findings);
    const firewall = given === undefined ? undefined : this.#firewall(given);
    this.#findings.push(...silentTools(this.#caps, { servers: this.#servers, ...(firewall && { firewall }) }));
    const place = ledger?.path === undefined ? {} : { path: this.#place(ledger.path) };
    if (judge !== undefined && lacksPart(judge)) this.#wrong(['judge'], 'a judge that is asked has an api, a url and a model', 'add those, or leave out api, url, secret and timeout', true); // biome-ignore format: one line
    const a2a = card && a2aOf(card, { roots: this.#roots, machine: this.#surroundings, origin: this.#surroundings.origin, agents: this.#agents, caps: this.#given(), findings: this.#findings }); // biome-ignore format: one line
    const planned = chatsOf(chats ?? {}, granters ?? this.#surroundings.above?.granters, this.#findings);
    const broken = this.#findings.some(({ severity }) => severity !== 'warning');
    if (broken) return { plan: undefined, findings: this.#findings };
    const plan: Plan = {
      mode: session.mode ?? DEFAULT_MODE,
      ...(session.deadline === undefined ? {} : { deadlineMs: milliseconds(session.deadline) }),
      roots: this.#roots,
      servers: this.#servers,
      channels: this.#channels,
      agents: this.#agents,
      caps: this.#caps,
      denied: [...(session.deny ?? [])],
      children,
      never: listed.flatMap(([, , cap]) => ('command' in cap ? (cap.not_match ?? []).flatMap(wordsOf) : [])),
      ...(granters === undefined ? {} : { granters: [...new Set(granters)] }),
      ...(judge === undefined ? {} : { judge: judgeOf(judge) }),
      ...(ledger === undefined ? {} : { ledger: { ...ledgerOf(ledger), ...place } }),
      ...(firewall === undefined ? {} : { firewall }),
      ...(a2a === undefined ? {} : { a2a }),
      ...(chats === undefined ? {} : { chats: planned }),
    };
    return { plan, findings: this.#findings };
  }

  #wrong(path: Path, wrong: string, write: string, key = false): void {
    this.#findings.push({ path, wrong, write, key });
  }

  #readFlags(): void {
    for (const [name, flags] of Object.entries(this.#manifest.flags ?? {})) {
      if (Object.hasOwn(REVIEWED, name))
        this.#wrong(['flags', name], 'this set ships with Hob', 'choose another name', true);
      for (const [n, flag] of flags.entries())
        if (!isFlag(flag))
          this.#wrong(['flags', name, n], `${quoted(flag)} is not a flag`, 'write --name, -x, --name={text} or -{n}');
    }
  }

  #add(part: 'caps' | 'ask', name: string, cap: Cap | Ask): void {
    const path = ['session', part, name];
    const offer = 'offer' in cap ? cap.offer : undefined;
    const base: Base = {
      name,
      how: part === 'caps' ? ('mint' as const) : ('ask' as const),
      terms: this.#terms(cap, path),
      ...(offer === undefined ? {} : { offer: this.#terms(offer, [...path, 'offer']) }),
    };
    if ('fs' in cap) this.#addFs(cap, base, path);
    else if ('command' in cap) {
      const mounts = this.#mounts(cap.mounts ?? [], path);
      const cwd = this.#directory(cap.cwd, [...path, 'cwd']);
      const caps = { ...this.#held, ...this.#caps };
      const known = { flags: this.#flags, directories: this.#directories, caps };
      this.#caps[name] = commandOf(cap, base, { path, mounts, cwd, known, findings: this.#findings });
    } else if ('shell' in cap) this.#addShell(cap, base, path);
    else if ('http' in cap) this.#caps[name] = httpOf(cap, base, path, this.#findings);
    else if ('forward' in cap) {
      const http = httpOf(asHttp(cap), base, path, this.#findings);
      this.#caps[name] = forwardOf(http, path, this.#findings);
    } else if ('host' in cap) this.#caps[name] = hostOf(cap, base, path, this.#findings);
    else if ('unix' in cap) {
      const around = { roots: this.#roots, machine: this.#surroundings, findings: this.#findings };
      this.#caps[name] = unixOf(cap, base, path, around);
    } else if ('sign' in cap) this.#caps[name] = signOf(cap, base);
    else if ('mcp' in cap) {
      const known = { servers: this.#servers, roots: this.#roots, boundsFault: this.#surroundings.boundsFault };
      this.#caps[name] = mcpOf(cap, base, path, known, this.#findings);
    } else if ('schedule' in cap) {
      const known = { agents: this.#agents, caps: this.#given(), findings: this.#findings };
      this.#caps[name] = scheduleOf(cap, base, path, known);
    } else {
      const known = { channels: this.#channels, findings: this.#findings };
      this.#caps[name] = messageOf(cap, base, path, known);
    }
  }

  /** The caps that a run may hold, also those that stand below the schedule in the file, and those of layers above. */
  #given(): ReadonlyMap<string, { readonly isSchedule: boolean }> {
    const { caps = {}, ask = {} } = this.#manifest.session ?? {};
    const own = [...Object.entries(caps), ...Object.entries(ask)].map(
      ([name, one]) => [name, 'schedule' in one] as const,
    );
    const held = Object.values({ ...this.#surroundings.above?.caps, ...this.#held }).map(
      ({ name, kind }) => [name, kind === 'schedule'] as const,
    );
    return new Map([...held, ...own].map(([name, isSchedule]) => [name, { isSchedule }]));
  }

  #addFs(cap: FsCap, base: Base, path: Path): void {
    for (const [n, text] of (cap.except ?? []).entries()) {
      const why = wrongPattern(text);
      if (text.includes('**/')) this.#deepPatterns += 1;
      if (this.#deepPatterns === MOST_DEEP_PATTERNS + 1 && text.includes('**/'))
        this.#wrong([...path, 'except', n], `this is more than ${MOST_DEEP_PATTERNS} patterns with **/, and each is compared with every part of a path`, 'write the name alone: .env hides it at any depth'); // biome-ignore format: one line
      if (why !== undefined)
        this.#wrong(
          [...path, 'except', n],
          `${quoted(text)} is no pattern: ${why}`,
          'write for example .env* or /build',
        );
    }
    const directory = this.#directory(cap.fs, [...path, 'fs']);
    if (directory === undefined) return;
    const can = [...new Set(cap.can)].sort();
    // The order counts: a pattern with ! takes back those before it.
    const { own } = cap;
    if (own === true) this.#findings.push(...askedAnyway(cap, base, path));
    const mine = own === undefined ? {} : { own };
    this.#caps[base.name] = { ...base, kind: 'fs', directory, can, except: [...new Set(cap.except ?? [])], ...mine };
  }

  #addShell(cap: ShellCap, base: Base, path: Path): void {
    const cwd = this.#directory(cap.cwd, [...path, 'cwd']);
    const mounts = this.#mounts(cap.mounts, path);
    const caps = { ...this.#held, ...this.#caps };
    if (cwd !== undefined && !isMounted(caps, mounts, cwd))
      this.#wrong([...path, 'cwd'], 'this lies in none of the mounts', 'write a directory of one of the mounts');
    const net = netOf(cap.net, path, caps, this.#findings);
    const effect = effectOfProgram(caps, { mounts, ...net });
    this.#caps[base.name] = { ...base, kind: 'shell', ...(cwd && { cwd }), mounts, effect, ...net };
  }

  /** A program would use a directory without the question that its writer wanted. */
  #refuseHiddenAsks(): void {
    for (const cap of Object.values(this.#caps)) {
      if ((cap.kind !== 'command' && cap.kind !== 'shell') || cap.how === 'ask') continue;
      for (const name of cap.mounts)
        if ((this.#caps[name] ?? this.#held[name])?.how === 'ask')
          this.#wrong(
            ['session', 'caps', cap.name],
            `it uses ${name}, which has to be asked for`,
            `move ${cap.name} to ask, or ${name} to caps`,
            true,
          );
    }
  }

  #mounts(names: readonly string[], path: Path): readonly string[] {
    for (const [n, name] of names.entries()) {
      const at = [...path, 'mounts', n];
      const cap = this.#directories.has(name) ? (this.#caps[name] ?? this.#held[name]) : undefined;
      const why = cap === undefined ? undefined : notMountable(cap);
      if (cap === undefined)
        this.#wrong(at, `there is no directory cap ${name}`, orNearest(name, [...this.#directories]));
      else if (why !== undefined) this.#wrong(at, why.wrong, why.write);
    }
    return [...new Set(names)].sort();
  }

  #directory(text: string | undefined, path: Path): Directory | undefined {
    return text === undefined ? undefined : directoryOf(text, path, this.#roots, this.#findings);
  }

  /** The folder of the ledger's copy. A session that could write there could change what it did. */
  #place(written: string): string {
    const { home, holds, origin } = this.#surroundings;
    const place = placeOf(written, origin?.folder, home);
    if (place === undefined)
      this.#wrong(['ledger', 'path'], `${quoted(written)} is not a place`, 'write a path like /srv/ledger or ~/ledger');
    for (const [name, root] of Object.entries(this.#roots))
      if (place !== undefined && root !== undefined && holds?.(root, `${place}/ledger`) === true)
        this.#wrong(['ledger', 'path'], `this folder lies in the root ${name}, so a session could change the record of what it did`, 'write a folder outside of every root'); // biome-ignore format: one line
    return place ?? written;
  }

  /** A session that could write the program of a hook would see every call that it looks at. */
  #firewall({ mode, hooks = {}, review = [], guardrails = {} }: NonNullable<Manifest['firewall']>): PlannedFirewall {
    const { home, holds, origin } = this.#surroundings;
    const planned = Object.entries(hooks).map(([name, { program, within, caps, methods, sha256, on }]): PlannedHook => {
      const at = ['firewall', 'hooks', name];
      const place = placeOf(program, origin?.folder, home);
      if (place === undefined)
        this.#wrong([...at, 'program'], `${quoted(program)} is not a place`, 'write a path like /srv/hooks/check.py or ~/hooks/check.py'); // biome-ignore format: one line
      for (const [root, path] of Object.entries(this.#roots))
        if (place !== undefined && path !== undefined && holds?.(path, place) === true)
          this.#wrong([...at, 'program'], `this file lies in the root ${root}, so a session could change it`, 'write a file outside of every root'); // biome-ignore format: one line
      for (const [n, cap] of (caps ?? []).entries())
        if (!Object.hasOwn(this.#caps, cap) && !Object.hasOwn(this.#held, cap))
          this.#wrong([...at, 'caps', n], `there is no cap ${cap}`, orNearest(cap, Object.keys(this.#caps)));
      return {
        ...{ name, program: place ?? program, sha256, on },
        ...(caps === undefined ? {} : { caps: [...new Set(caps)].sort() }),
        ...(methods === undefined ? {} : { methods: [...new Set(methods)].sort() }),
        ...(within === undefined ? {} : { withinMs: milliseconds(within) }),
      };
    });
    for (const [n, cap] of review.entries())
      if ((this.#caps[cap] ?? this.#held[cap])?.kind !== 'fs')
        this.#wrong(['firewall', 'review', n], `there is no directory cap ${cap}`, orNearest(cap, [...this.#directories])); // biome-ignore format: one line
    return {
      mode,
      ...(planned.length === 0 ? {} : { hooks: planned }),
      ...(review.length === 0 ? {} : { review: [...new Set(review)].sort() }),
      ...plannedGuardrails(guardrails),
    };
  }

  #terms({ uses, for: time, until, ...rest }: CapTerms | Offer, path: Path): PlannedTerms {
    const untilMs = until === undefined ? undefined : Date.parse(until);
    if (untilMs !== undefined && untilMs <= this.#surroundings.now)
      this.#wrong([...path, 'until'], 'this date has passed', 'write one in the future, or remove the cap');
    const { needs, always_human, level, sensitivity } = rest as CapTerms;
    return {
      ...(uses === undefined ? {} : { uses }),
      ...(time === undefined ? {} : { forMs: milliseconds(time) }),
      ...(untilMs === undefined ? {} : { untilMs }),
      ...(needs === undefined ? {} : { needs }),
      ...(always_human === true ? { alwaysHuman: true as const } : {}),
      ...(level === undefined ? {} : { level }),
      ...(sensitivity === undefined ? {} : { sensitivity }),
    };
  }
}

const lacksPart = ({ api, url, model, secret, timeout }: JudgePart): boolean =>
  [api, url, secret, timeout].some((one) => one !== undefined) && [api, url, model].includes(undefined);

function judgeOf({ may, model, api, url, secret, timeout }: JudgePart): PlannedJudge {
  const timeoutMs = timeout === undefined ? undefined : milliseconds(timeout);
  return {
    may: [...new Set(may)].sort(),
    ...(model === undefined ? {} : { model }),
    ...(api === undefined || url === undefined || model === undefined
      ? {}
      : {
          asks: {
            ...{ api, url, model },
            ...(secret === undefined ? {} : { secret }),
            ...(timeoutMs === undefined ? {} : { timeoutMs }),
          },
        }),
  };
}

const ledgerOf = ({ keep, redact }: NonNullable<Manifest['ledger']>): NonNullable<Plan['ledger']> => ({
  ...(keep === undefined ? {} : { keepMs: milliseconds(keep) }),
  ...(redact === undefined ? {} : { redact }),
});
