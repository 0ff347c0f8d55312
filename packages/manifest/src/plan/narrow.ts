/**
 * Narrows a plan by a lower layer.
 *
 * The result never allows what the bound did not. A lower layer can remove, narrow, and move from `caps` to `ask`.
 * A change that would widen is dropped, and a finding names it.
 */

import type { Level, Manifest, Mode, Sensitivity } from '../file/types.ts';
import type { Finding } from '../text/mistakes.ts';
import type { Word } from '../words/row.ts';
import type { Row } from './deny.ts';
import { notMountable } from './directories.ts';
import { covering } from './effects.ts';
import {
  type Given,
  isWithin,
  type Plan,
  type PlannedCap,
  type PlannedCommand,
  type PlannedFs,
  type PlannedHttp,
  type PlannedTerms,
} from './plan.ts';
import { isOfPrograms } from './program-net.ts';
import { restOf } from './rest/layered.ts';
import { followGives, narrowedSchedule } from './schedule.ts';

/** The modes, strictest first. */
const STRICTEST_FIRST: readonly Mode[] = ['plan', 'supervised', 'cautious', 'autonomous'];

export const stricterMode = (a: Mode, b: Mode): Mode =>
  STRICTEST_FIRST.indexOf(a) <= STRICTEST_FIRST.indexOf(b) ? a : b;

/** The plan that is left of `bound`, and what was dropped of `lower`, the plan of `manifest`. */
export function narrow(bound: Plan, manifest: Manifest, lower: Plan): { plan: Plan; findings: readonly Finding[] } {
  const findings: Finding[] = [];
  const caps: Record<string, PlannedCap> = { ...bound.caps };
  for (const part of ['caps', 'ask'] as const)
    for (const name of Object.keys(manifest.session?.[part] ?? {})) {
      const path = ['session', part, name];
      const drop = (wrong: string): void =>
        void findings.push({
          severity: 'warning',
          path,
          key: true,
          wrong,
          write: 'change the layer above, or remove this',
        });
      const [own, wanted] = [caps[name], lower.caps[name]];
      if (wanted === undefined) continue;
      if (own === undefined) drop(`no layer above has ${name}: this is dropped`);
      else {
        const left = narrowCap(own, wanted, drop);
        if (left === undefined) delete caps[name];
        else caps[name] = left;
      }
    }
  for (const name of lower.denied) delete caps[name];
  followMounts(caps, bound.caps);
  const deadlineMs = least(bound.deadlineMs, lower.deadlineMs);
  const plan: Plan = {
    mode: manifest.session?.mode === undefined ? bound.mode : stricterMode(bound.mode, lower.mode),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
    roots: bound.roots,
    servers: bound.servers,
    channels: bound.channels,
    agents: bound.agents,
    caps,
    denied: [...new Set([...bound.denied, ...lower.denied])],
    children: childrenOf(bound, lower, caps, findings),
    never: [...bound.never, ...lower.never],
    ...restOf(bound, lower, { mayAdd: false }, findings),
  };
  return { plan, findings };
}

/**
 * A program sees only directories that are still held and that a sandbox can show, and asks if it sees one that has to
 * be asked for. If the mount that held its `cwd` is gone, it has none: without the mount it could write there.
 */
export function followMounts(caps: Record<string, PlannedCap>, before: Plan['caps']): void {
  followGives(caps, (name) => Object.hasOwn(caps, name));
  for (const cap of Object.values(caps)) {
    if (cap.kind !== 'command' && cap.kind !== 'shell') continue;
    const mounts = cap.mounts.filter((name) => {
      const held = caps[name];
      return held !== undefined && notMountable(held) === undefined;
    });
    const asks = cap.how === 'ask' || mounts.some((name) => caps[name]?.how === 'ask');
    const old = before[cap.name];
    const wasHeld =
      cap.cwd !== undefined &&
      (old?.kind === 'command' || old?.kind === 'shell') &&
      covering(before, old.mounts, cap.cwd) !== undefined;
    const { cwd, ...rest } = cap;
    const keeps = cwd !== undefined && (!wasHeld || covering(caps, mounts, cwd) !== undefined);
    const net = cap.net?.filter((name) => isOfPrograms(caps[name]) && caps[name]?.how === 'mint');
    caps[cap.name] = { ...rest, ...(keeps ? { cwd } : {}), mounts, ...(net && { net }), how: asks ? 'ask' : 'mint' };
  }
}

function least(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.min(a, b);
}

/** The lower of two levels. A level that is left out counts as `medium`, as in a grant. */
function lowerLevel(a: Level | undefined, b: Level | undefined): Level | undefined {
  if (a === undefined && b === undefined) return undefined;
  const order: readonly Level[] = ['low', 'medium', 'high'];
  return order[Math.min(order.indexOf(a ?? 'medium'), order.indexOf(b ?? a ?? 'medium'))];
}

/** The stricter of what two layers say. Without a word it counts as `ordinary`. */
function moreSensitive(a: Sensitivity | undefined, b: Sensitivity | undefined): Sensitivity | undefined {
  if (a === undefined && b === undefined) return undefined;
  const order: readonly Sensitivity[] = ['scratch', 'ordinary', 'high'];
  return order[Math.max(order.indexOf(a ?? 'ordinary'), order.indexOf(b ?? a ?? 'ordinary'))];
}

/** Takes the strictest value of each term. `a` is of the layer above. */
function strictest(a: PlannedTerms, b: PlannedTerms): PlannedTerms {
  const [uses, forMs, untilMs] = [least(a.uses, b.uses), least(a.forMs, b.forMs), least(a.untilMs, b.untilMs)];
  const needs = a.needs ?? b.needs;
  const [level, sensitivity] = [lowerLevel(a.level, b.level), moreSensitive(a.sensitivity, b.sensitivity)];
  return {
    ...(uses === undefined ? {} : { uses }),
    ...(forMs === undefined ? {} : { forMs }),
    ...(untilMs === undefined ? {} : { untilMs }),
    ...(needs === undefined ? {} : { needs }),
    ...(a.alwaysHuman || b.alwaysHuman ? { alwaysHuman: true as const } : {}),
    ...(level === undefined ? {} : { level }),
    ...(sensitivity === undefined ? {} : { sensitivity }),
  };
}

/** Returns undefined if nothing of the cap is left. */
function narrowCap(own: PlannedCap, wanted: PlannedCap, drop: (wrong: string) => void): PlannedCap | undefined {
  const both = {
    how: own.how === 'ask' || wanted.how === 'ask' ? ('ask' as const) : ('mint' as const),
    terms: strictest(own.terms, wanted.terms),
    ...(own.offer === undefined && wanted.offer === undefined
      ? {}
      : { offer: strictest(own.offer ?? {}, wanted.offer ?? {}) }),
  };
  const other = (what: string): PlannedCap => {
    drop(`${what} than in the layer above: that of the layer above holds`);
    return { ...own, ...both };
  };
  const beyond = <T>(all: readonly T[], allowed: readonly T[], what: string): readonly T[] => {
    const more = all.filter((one) => !allowed.includes(one));
    if (more.length > 0) drop(`${what} ${more.join(', ')} is more than the layer above allows: it is dropped`);
    return all.filter((one) => allowed.includes(one));
  };
  /** Silence inherits. */
  const orOwn = <T>(all: readonly T[], allowed: readonly T[], what: string): readonly T[] =>
    all.length === 0 ? allowed : beyond(all, allowed, what);
  if (own.how === 'ask' && wanted.how === 'mint') drop('the layer above asks for it: it is asked for');
  if (own.kind === 'fs' && wanted.kind === 'fs') {
    return narrowFs(own, wanted, { ...both, can: beyond(wanted.can, own.can, 'can') }, drop);
  }
  if (own.kind === 'command' && wanted.kind === 'command') {
    if (own.command !== wanted.command) return other('another program');
    if (!sameDirectory(own.cwd, wanted.cwd)) return other('another cwd');
    return narrowCommand(own, wanted, both, drop);
  }
  if (own.kind === 'shell' && wanted.kind === 'shell') {
    if (!sameDirectory(own.cwd, wanted.cwd)) return other('another cwd');
    const net = beyond(wanted.net ?? [], own.net ?? [], 'net');
    return { ...own, ...both, mounts: beyond(wanted.mounts, own.mounts, 'mounts'), net };
  }
  if ((own.kind === 'http' && wanted.kind === 'http') || (own.kind === 'forward' && wanted.kind === 'forward')) {
    if (own.origin !== wanted.origin) return other('another origin');
    if (own.secret !== wanted.secret || !isSame(own.auth, wanted.auth)) return other('another secret, or another place of it'); // biome-ignore format: one line
    if (![wanted.ca ?? own.ca, wanted.client ?? own.client, wanted.proxy ?? own.proxy].every((one, n) => isSame(one, [own.ca, own.client, own.proxy][n]))) return other('another ca, client or proxy'); // biome-ignore format: one line
    if (!wanted.path.startsWith(own.path)) return other('another path');
    const methods = beyond(wanted.methods, own.methods, 'methods');
    const headers = orOwn(wanted.headers, own.headers, 'headers');
    const addresses = orOwn(wanted.addresses, own.addresses, 'addresses');
    if (methods.length === 0) return undefined;
    const left = { ...own, ...both, path: wanted.path, methods, headers, addresses };
    return own.kind === 'http' ? narrowOwn(left as PlannedHttp, wanted as PlannedHttp, drop) : left;
  }
  if (own.kind === 'mcp' && wanted.kind === 'mcp') {
    if (own.server !== wanted.server) return other('another server');
    const tools = beyond(wanted.tools, own.tools, 'tools');
    const where = own.where ?? wanted.where;
    if (own.where !== undefined && wanted.where !== undefined && !isSame(own.where, wanted.where))
      drop('where is not that of the layer above: that of the layer above holds');
    return tools.length === 0 ? undefined : { ...own, ...both, tools, ...(where === undefined ? {} : { where }) };
  }
  if (own.kind === 'message' && wanted.kind === 'message')
    return own.channel === wanted.channel && own.recipient === wanted.recipient
      ? { ...own, ...both }
      : other('another recipient');
  if (own.kind === 'host' && wanted.kind === 'host') {
    const same = own.host === wanted.host && own.port === wanted.port && own.tls === wanted.tls;
    if (!same || !isSame(own.client, wanted.client ?? own.client) || (wanted.ca ?? own.ca) !== own.ca) return other('another host'); // biome-ignore format: one line
    const addresses = orOwn(wanted.addresses, own.addresses, 'addresses of a host');
    return { ...own, ...both, addresses };
  }
  if (own.kind === 'unix' && wanted.kind === 'unix')
    return own.unix === wanted.unix && own.at === wanted.at ? { ...own, ...both } : other('another socket');
  if (own.kind === 'sign' && wanted.kind === 'sign') {
    const same = own.algorithm === wanted.algorithm && own.secret === wanted.secret;
    return same && own.context === wanted.context ? { ...own, ...both } : other('another key or context');
  }
  if (own.kind === 'schedule' && wanted.kind === 'schedule') {
    if (own.agent !== wanted.agent) return other('another agent');
    const left = narrowedSchedule(own, wanted, beyond(wanted.gives, own.gives, 'gives'), drop);
    return left === undefined ? undefined : { name: own.name, ...left, ...both };
  }
  return other('another kind of cap');
}

function narrowFs(
  own: PlannedFs,
  wanted: PlannedFs,
  both: Pick<PlannedFs, 'how' | 'terms' | 'offer' | 'can'>,
  drop: (wrong: string) => void,
): PlannedFs | undefined {
  if (both.can.length === 0) return undefined;
  return narrowOwn({ ...own, ...both, ...placeOf(own, wanted, drop) }, wanted, drop);
}

/** `own` of the layer above holds in what is left, if the layer below keeps it and no person is asked about each call. */
function narrowOwn<T extends PlannedFs | PlannedHttp>(left: T, wanted: T, drop: (wrong: string) => void): T {
  if (wanted.own === true && left.own !== true) drop('own is more than the layer above allows: it is dropped');
  const { alwaysHuman, needs } = left.terms;
  const isAsked = left.how === 'ask' || alwaysHuman === true || needs !== undefined;
  const mine = left.own === true && wanted.own !== false && !isAsked;
  const { own: _, ...rest } = left;
  return { ...rest, ...(mine ? { own: true } : {}) } as T;
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const sameDirectory = (a: PlannedCommand['cwd'], b: PlannedCommand['cwd']): boolean =>
  a?.root === b?.root && a?.path === b?.path;

/** A pattern with a slash inside is anchored at the cap's directory, and would mean another file in another one. */
const isAnchored = (pattern: string): boolean => /\/./.test(pattern) && !pattern.startsWith('**/');

function placeOf(
  own: PlannedFs,
  wanted: PlannedFs,
  drop: (wrong: string) => void,
): Pick<PlannedFs, 'directory' | 'except'> {
  if (sameDirectory(own.directory, wanted.directory))
    return { directory: own.directory, except: bothExcepts(own.except, wanted.except, drop) };
  const why = !isWithin(wanted.directory, own.directory)
    ? 'the directory lies outside that of the layer above'
    : [...own.except, ...wanted.except].some((pattern) => isAnchored(pattern) || pattern.startsWith('!'))
      ? 'except has patterns with / or !, which mean other files in a deeper directory'
      : undefined;
  if (why !== undefined) drop(`${why}: the directory of the layer above holds`);
  const floating = wanted.except.filter((pattern) => !isAnchored(pattern) && !pattern.startsWith('!'));
  return {
    directory: why === undefined ? wanted.directory : own.directory,
    except: bothExcepts(own.except, floating, drop),
  };
}

/** Returns patterns that hide the files of both lists. A pattern with `!` could take back what the other list hides, so it is dropped. */
function bothExcepts(
  own: readonly string[],
  wanted: readonly string[],
  drop: (wrong: string) => void,
): readonly string[] {
  if (wanted.length === 0 || own.join('\n') === wanted.join('\n')) return own;
  if (own.length === 0) return wanted;
  const all = [...new Set([...own, ...wanted])];
  if (all.some((pattern) => pattern.startsWith('!')))
    drop('two layers have except, and patterns with ! could show what the other hides: those are dropped');
  return all.filter((pattern) => !pattern.startsWith('!')).sort();
}

function narrowCommand(
  own: PlannedCommand,
  wanted: PlannedCommand,
  both: Pick<PlannedCommand, 'how' | 'terms' | 'offer'>,
  drop: (wrong: string) => void,
): PlannedCommand | undefined {
  const rows = wanted.rows.filter((row) => own.rows.some((outer) => isRowWithin(row, outer)));
  if (rows.length < wanted.rows.length)
    drop(`${wanted.rows.length - rows.length} rows of argv allow more than the layer above: they are dropped`);
  if (rows.length === 0) return undefined;
  const mounts = wanted.mounts.filter((name) => own.mounts.includes(name));
  if (mounts.length < wanted.mounts.length) drop('mounts has more than the layer above: the rest is dropped');
  // A lower layer may give a set of the same name other flags.
  const flags = Object.fromEntries(
    Object.entries(own.flags).map(([set, all]) => [
      set,
      all.filter((flag) => (wanted.flags[set] ?? all).includes(flag)),
    ]),
  );
  const reads = own.reads === true || wanted.reads === true ? { reads: true as const } : {};
  const net = (wanted.net ?? []).filter((name) => own.net?.includes(name));
  if (net.length < (wanted.net ?? []).length) drop('net has more than the layer above: the rest is dropped');
  return { ...own, ...both, ...reads, rows, mounts, flags, ...(own.net === undefined ? {} : { net }) };
}

/** Whether every call that `inner` takes is taken by `outer`. It may say no where the answer is yes. */
function isRowWithin(inner: Row, outer: Row): boolean {
  return inner.length === outer.length && inner.every((word, n) => isWordWithin(word, outer[n] as Word));
}

function isWordWithin(inner: Word, outer: Word): boolean {
  if (inner.kind === 'literal')
    return outer.kind === 'literal'
      ? inner.texts.every((text) => outer.texts.includes(text))
      : outer.kind === 'text' && inner.texts.every((text) => !text.startsWith('-'));
  if (inner.kind === 'path') return (outer.kind === 'path' && inner.cap === outer.cap) || outer.kind === 'text';
  if (inner.kind === 'flags') return outer.kind === 'flags' && inner.set === outer.set;
  if (inner.kind === 'ref') return outer.kind === 'ref' || outer.kind === 'text';
  return inner.kind === outer.kind;
}

function childrenOf(
  bound: Plan,
  lower: Plan,
  caps: Readonly<Record<string, PlannedCap>>,
  findings: Finding[],
): Plan['children'] {
  const children: Record<string, readonly Given[]> = {};
  for (const [child, give] of Object.entries(bound.children))
    children[child] = give.flatMap((own): readonly Given[] => {
      const wanted = Object.hasOwn(lower.children, child)
        ? lower.children[child]?.find(({ cap }) => cap === own.cap)
        : own;
      if (wanted === undefined || !Object.hasOwn(caps, own.cap)) return [];
      return [own.readonly === true || wanted.readonly === true ? { cap: own.cap, readonly: true } : own];
    });
  for (const child of Object.keys(lower.children))
    if (!Object.hasOwn(bound.children, child))
      findings.push({
        severity: 'warning',
        path: ['children', child],
        key: true,
        wrong: `no layer above has the child ${child}: it is dropped`,
        write: 'change the layer above, or remove this',
      });
  return children;
}
