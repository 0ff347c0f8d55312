/** Says in plain words what a session of a plan can do, what each cap is only as strong as, and what it can never do. */
import { quoted, visible } from '../text/mistakes.ts';
import type { Word } from '../words/row.ts';
import { type Decision, decisionOf } from './decide.ts';
import { covering, type Effect, effectOfFs, effectOfHttp, effectOfSchedule, isWritable, scheduleMethods } from './effects.ts'; // biome-ignore format: one line
import type {
  Directory,
  Plan,
  PlannedBound,
  PlannedCap,
  PlannedCommand,
  PlannedForward,
  PlannedFs,
  PlannedHost,
  PlannedMcp,
  PlannedRequests,
  PlannedSchedule,
  PlannedShell,
  PlannedTerms,
  PlannedUnix,
} from './plan.ts';
import { isOfPrograms } from './program-net.ts';
import { toolsText } from './tools.ts';

/** One cap in words. `weakest` says what the cap is only as strong as. */
export interface Explained {
  readonly cap: string;
  readonly does: string;
  /** Without a person, or after one said yes. */
  readonly when: string;
  readonly weakest: string;
}

/** Writes a date, given in milliseconds since 1970. The caller knows the reader's clock and language. */
export type DateText = (ms: number) => string;

/** The words for a whole plan: each cap, and what no cap of the plan can do. */
export function explain(
  plan: Plan,
  dateText: DateText,
): {
  readonly caps: readonly Explained[];
  readonly never: readonly string[];
  /** The work of the firewall before each call, in words. Undefined if there is none. */
  readonly firewall?: string;
} {
  const caps = Object.values(plan.caps).sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    caps: caps.map((cap) => ({
      cap: cap.name,
      does: visible(doesOf(cap)),
      when: visible(whenOf(plan, cap, dateText)),
      weakest: visible(weakestOf(plan, cap)),
    })),
    never: neverOf(caps),
    ...(plan.firewall === undefined ? {} : { firewall: FIREWALLS[plan.firewall.mode] }),
  };
}

const FIREWALLS: Readonly<Record<'observe' | 'enforce', string>> = {
  observe:
    'Each call is assessed, and the ledger has the assessment. Only messages about a person in danger wait for a person.',
  enforce:
    'Each call is assessed, and the ledger has the assessment. Calls that are risky or unclear wait for a person, whatever the mode says.',
};

const at = ({ root, path }: Directory): string => (path === '' ? root : `${root}/${path}`);

function doesOf(cap: PlannedCap): string {
  switch (cap.kind) {
    case 'fs': {
      const except = cap.except.length === 0 ? '' : `, except ${cap.except.map(quoted).join(', ')}`;
      return `may ${cap.can.join(', ')} beneath ${at(cap.directory)}${except}`;
    }
    case 'command':
      return `may run ${cap.rows.map((row) => rowText(cap, row)).join('; ')}${placeText(cap)}`;
    case 'shell':
      return `may run any program, with ${cap.mounts.join(', ') || 'no directory'}`;
    case 'http':
      return httpText(cap);
    case 'mcp':
      return `may call ${cap.tools.map(quoted).join(', ')} of the server ${cap.server}${whereText(cap)}`;
    case 'forward':
      return `lets programs ${httpText(cap).replace(/^may /, '')}, which the host sends for them`;
    case 'host':
      return hostText(cap);
    case 'unix':
      return `lets programs connect to the socket ${quoted(cap.unix)}, as ${quoted(cap.at)}`;
    case 'sign':
      return `may sign with the ${cap.algorithm} key ${cap.secret}${cap.context === undefined ? '' : `, each text after ${quoted(cap.context)}`}`; // biome-ignore format: one line
    case 'message':
      return `may send messages to ${quoted(`${cap.channel}:${cap.recipient}`)}`;
    case 'schedule':
      return scheduleText(cap);
  }
}

const MINUTE = 60_000;

function scheduleText({
  agent,
  gives,
  shortestMs = MINUTE,
  missed,
  zone,
  lastsMs = 60 * MINUTE,
}: PlannedSchedule): string {
  return [
    `may let the agent ${agent} run later, each time in a fresh session with ${gives.join(', ')} and nothing else`,
    `no task more often than every ${span(shortestMs)}`,
    `no run longer than ${span(lastsMs)}`,
    missed === 'never' ? 'a missed run is left out' : 'a missed run runs late, once',
    ...(zone === undefined ? [] : [`times are those of ${zone}`]),
  ].join(', ');
}

function hostText({ host, port, tls, addresses, client }: PlannedHost): string {
  const by = client === undefined ? '' : `, and the host shows the client certificate ${client.cert}`;
  const how = client !== undefined || tls ? ', over TLS by that name' : ', with any bytes';
  const where = addresses.length === 0 ? '' : `, also where it leads to ${addresses.join(', ')}`;
  return `lets programs connect to ${host}:${port}${how}${by}${where}`;
}

function httpText({ methods, origin, path, secret, auth, headers, addresses, client, proxy }: PlannedRequests): string {
  const [[place, name] = ['header', 'authorization']] = Object.entries(auth ?? {});
  const where = place === 'basic' ? `as the password of ${quoted(name)}` : `in the ${place} ${quoted(name)}`;
  return [
    `may send ${methods.join(', ')} to ${origin}${path}`,
    ...(secret === undefined ? [] : [`with the secret ${secret}${auth === undefined ? '' : ` ${where}`}`]),
    ...(client === undefined ? [] : [`with the client certificate ${client.cert}`]),
    ...(proxy === undefined ? [] : [`through the proxy ${proxy.origin}${proxy.names === 'proxy' ? ', which looks up the name' : ''}`]), // biome-ignore format: one line
    ...(headers.length === 0 ? [] : [`with the headers ${headers.join(', ')}`]),
    ...(addresses.length === 0 ? [] : [`also where it leads to ${addresses.join(', ')}`]),
  ].join(', ');
}

/** The names of the arguments, as a call may have no others. */
const whereText = ({ where }: PlannedMcp): string =>
  where === undefined
    ? ''
    : `, with no other arguments than ${Object.entries(where)
        .map(([name, bound]) => `${name} ${boundText(bound)}`)
        .join(', ')}`;

function boundText(bound: PlannedBound): string {
  if ('is' in bound) return quoted(JSON.stringify(bound.is));
  if ('oneOf' in bound) return `one of ${bound.oneOf.map((one) => quoted(JSON.stringify(one))).join(', ')}`;
  if ('any' in bound) return '(any)';
  if ('beneath' in bound) return `beneath ${at(bound.beneath)}`;
  if ('like' in bound) return `like ${quoted(bound.like)}`;
  if ('optional' in bound) return `${boundText(bound.optional)} or left out`;
  if ('fields' in bound)
    return `{${Object.entries(bound.fields)
      .map(([name, inner]) => `${name} ${boundText(inner)}`)
      .join(', ')}}`;
  return `from ${bound.min ?? 'any'} to ${bound.max ?? 'any'}`;
}

const placeText = ({ cwd }: PlannedCommand): string => (cwd === undefined ? '' : `, in ${at(cwd)}`);

const rowText = ({ command }: PlannedCommand, row: PlannedCommand['rows'][number]): string =>
  row.length === 0 ? `${command} without arguments` : [command, ...row.map(wordText)].join(' ');

function wordText(word: Word): string {
  switch (word.kind) {
    case 'literal':
      return word.texts.length === 1 ? (word.texts[0] as string) : `(${word.texts.join('|')})`;
    case 'path':
      return `<path in ${word.cap}>`;
    case 'flags':
      return `<flags of ${word.set}>`;
    default:
      return `<${word.kind}>`;
  }
}

function whenOf(plan: Plan, cap: PlannedCap, dateText: DateText): string {
  const limits = limitsOf(cap.terms, dateText);
  const does = cap.kind === 'mcp' ? toolsText(plan, cap) : '';
  const within = `${limits === '' ? '' : `, ${limits}`}${riskText(plan, cap)}${does}`;
  if (cap.how === 'ask' && cap.kind === 'message') return `each message waits for a person${within}`;
  if (cap.how === 'ask') {
    const offered = limitsOf(cap.offer ?? {}, dateText);
    return `after a person said yes${offered === '' ? '' : ` (the question offers ${offered})`}${within}`;
  }
  if (cap.terms.alwaysHuman === true) return `each call waits for a person${within}`;
  if (cap.terms.needs !== undefined) return `each call waits for a person with a ${cap.terms.needs}${within}`;
  if (cap.kind === 'fs') {
    const by = new Map(cap.can.map((right) => [right, decisionOf(plan, cap, effectOfFs(right), right)]));
    const waits = [...by]
      .filter(([, how]) => how !== 'runs')
      .map(([right, how]) => `${right} ${how === 'asks' ? 'waits for a person' : 'becomes a draft'}`);
    const own = cap.own === true && waits.length > 0 ? '; files that it made itself, and nobody else changed, without a question' : ''; // biome-ignore format: one line
    return `${waits.length === by.size ? waits.join(', ') : ['without a question', ...waits].join('; ')}${own}${within}`;
  }
  if (isOfPrograms(cap)) return `for programs that name it, as often as they run${within}`;
  return `${whenCalled(plan, cap)}${within}`;
}

function whenCalled(
  plan: Plan,
  cap: Exclude<PlannedCap, PlannedFs | PlannedHost | PlannedUnix | PlannedForward>,
): string {
  const how = (effect: Effect): string => WORDS[decisionOf(plan, cap, effect)];
  switch (cap.kind) {
    case 'http': {
      const own = cap.own === true ? '; what it made itself by a POST, without a question' : '';
      return `${groups(cap.methods.map((method) => [method, how(effectOfHttp(method))]))}${own}`;
    }
    case 'command':
    case 'shell':
      return how(cap.effect);
    case 'schedule':
      return groups(scheduleMethods.map((method) => [method, how(effectOfSchedule(method))]));
    case 'mcp':
    case 'message':
    case 'sign':
      return how('external');
  }
}

/** The effect of an enforcing firewall on the calls of this cap, in words. */
function riskText({ firewall }: Plan, { terms: { level = 'medium', sensitivity } }: PlannedCap): string {
  if (firewall?.mode !== 'enforce') return '';
  const most = { low: 'low risk', medium: 'medium risk', high: 'high risk' }[level];
  const much = sensitivity === 'high' ? ', and much depends on what it leads to' : '';
  return `; the firewall lets calls of ${most} go on at the most${much}`;
}

const WORDS: Readonly<Record<Decision, string>> = {
  runs: 'without a question',
  asks: 'each call waits for a person',
  drafts: 'each call becomes a draft',
  absent: 'never',
};

/** One text if all parts are alike; else the parts by what happens to them. */
function groups(parts: readonly (readonly [part: string, how: string])[]): string {
  const by = new Map<string, string[]>();
  for (const [part, how] of parts) by.set(how, [...(by.get(how) ?? []), part]);
  if (by.size === 1) return [...by.keys()].join('');
  return [...by].map(([how, all]) => `${all.join(', ')}: ${how}`).join('; ');
}

function limitsOf({ uses, forMs, untilMs }: PlannedTerms, dateText: DateText): string {
  return [
    ...(uses === undefined ? [] : [uses === 1 ? 'one use' : `${uses} uses`]),
    ...(forMs === undefined ? [] : [`for ${span(forMs)}`]),
    ...(untilMs === undefined ? [] : [`until ${dateText(untilMs)}`]),
  ].join(', ');
}

function span(ms: number): string {
  for (const [unit, name] of [
    [86_400_000, 'day'],
    [3_600_000, 'hour'],
    [60_000, 'minute'],
    [1000, 'second'],
  ] as const)
    if (ms % unit === 0) return ms === unit ? `one ${name}` : `${ms / unit} ${name}s`;
  return `${ms} ms`;
}

/** A program over directories may run code that lies in them, so nothing but the sandbox confines it. */
function programText(plan: Plan, cap: PlannedCommand | PlannedShell): string {
  const mounts = cap.mounts.map((name) => plan.caps[name]).filter((one): one is PlannedFs => one?.kind === 'fs');
  const isOwn =
    cap.kind === 'command' && cap.cwd !== undefined && covering(plan.caps, cap.mounts, cap.cwd) === undefined;
  const own = isOwn && cap.cwd !== undefined ? [at(cap.cwd)] : [];
  const reads = cap.kind === 'command' && cap.reads === true;
  const writable = reads ? [] : [...own, ...mounts.filter(isWritable).map(({ name }) => name)];
  const sees = [...own, ...mounts.map(({ name }) => name)].filter((name) => !writable.includes(name));
  return [
    'the sandbox.',
    ...(cap.kind === 'shell' || own.length + mounts.length > 0
      ? ['It may run code that the agent wrote, so it is exactly as strong as the sandbox.']
      : []),
    ...(sees.length === 0 ? [] : [`It reads all of ${sees.join(', ')}.`]),
    writable.length === 0 ? 'It changes no file that lasts.' : `It may change all of ${writable.join(', ')}.`,
    (cap.net ?? []).length === 0
      ? 'It has no network.'
      : `It reaches ${(cap.net ?? []).join(', ')}, and can send there all that it reads.`,
  ].join(' ');
}

function weakestOf(plan: Plan, cap: PlannedCap): string {
  switch (cap.kind) {
    case 'fs':
      return 'the directory itself: links and mounts do not lead out of it';
    case 'command':
    case 'shell':
      return programText(plan, cap);
    case 'http':
      return 'the server behind that prefix. A session can tell it what it has read, in a path, a query or a body';
    case 'mcp':
      return weakServer(plan, cap);
    case 'message':
      return 'the recipient';
    case 'schedule':
      return weakAgent(plan, cap);
    case 'forward':
      return 'the server behind that prefix. A program can tell it what it has read; it never sees a secret of the host';
    case 'host':
      return 'the server at that port. A program can tell it what it has read, and TLS passes unseen';
    case 'unix':
      return 'the program that listens there: it does for the session what it does for the user of the host';
    case 'sign':
      return 'whoever believes the signature: the session signs what it likes';
  }
}

function weakServer({ servers }: Plan, { server: name }: PlannedMcp): string {
  const server = servers[name];
  const decides = 'the server: it decides what its tools do.';
  if (server === undefined) return decides;
  if ('url' in server) {
    const { origin } = new URL(server.url);
    const knows = server.secret === undefined ? '' : ` It is sent the secret ${server.secret}.`;
    return `${decides} It runs at ${origin}, which keeps what its tools are told.${knows}`;
  }
  const { roots = [], writes = [], secrets = [] } = server;
  const reads = roots.filter((root) => !writes.includes(root));
  return [
    decides,
    'It runs in the sandbox, without a network.',
    ...(reads.length === 0 ? [] : [`It reads all of ${reads.join(', ')}.`]),
    writes.length === 0 ? 'It changes no file that lasts.' : `It may change all of ${writes.join(', ')}.`,
    ...(secrets.length === 0 ? [] : [`It knows the secrets ${secrets.join(', ')}.`]),
  ].join(' ');
}

/** The program of an agent is the granter's choice. The session chooses the text that it reads. */
function weakAgent({ agents, caps }: Plan, { agent: name, gives }: PlannedSchedule): string {
  const { command = [], secrets = [] } = agents[name] ?? {};
  const asks = gives.filter((given) => caps[given]?.how === 'ask');
  return [
    `the program ${quoted(command.join(' '))}, which reads the task and runs outside of the sandbox, as you.`,
    ...(secrets.length === 0 ? [] : [`It knows the secrets ${secrets.join(', ')}.`]),
    ...(asks.length === 0 ? [] : [`It may ask for ${asks.join(', ')}: without an answer in time that is a no.`]),
  ].join(' ');
}

function neverOf(caps: readonly PlannedCap[]): readonly string[] {
  const has = (kind: PlannedCap['kind']): boolean => caps.some((cap) => cap.kind === kind);
  const changes = caps.some((cap) => cap.kind === 'fs' && (cap.can.includes('write') || cap.can.includes('remove')));
  return [
    ...(has('fs') ? ['read a file outside the directories above'] : ['read a file']),
    ...(changes ? [] : ['change a file']),
    ...(has('command') || has('shell')
      ? has('shell')
        ? []
        : ['run a program in another form than above']
      : ['run a program']),
    ...(has('http') || has('mcp') || has('host') || has('forward') ? [] : ['reach a network address']),
    ...(has('message') ? ['send a message to anybody else'] : ['send a message']),
    'make a cap that is not listed, or make a listed one wider',
  ];
}
