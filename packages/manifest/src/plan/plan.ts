/** A plan: what a session may hold, with every name resolved. It is data that can be printed and compared. */
import type { PublicKey } from '../file/a2a-part.ts';
import type { Auth, Channel, Client, FsRight, GuardrailPart, HttpProxy, Level, Method, Mode, Sensitivity, Server, SignCap } from '../file/types.ts'; // biome-ignore format: one line
import type { Word } from '../words/row.ts';

/** A directory: the name of a root, and names beneath it, joined by `/`. An empty path is the root itself. */
export interface Directory {
  readonly root: string;
  readonly path: string;
}

/** The limits of a planned cap, in milliseconds. */
export interface PlannedTerms {
  readonly uses?: number;
  readonly forMs?: number;
  /** Milliseconds since 1970. */
  readonly untilMs?: number;
  readonly needs?: 'passkey';
  readonly alwaysHuman?: true;
  /** With a firewall that enforces: calls of a higher risk wait. */
  readonly level?: Level;
  readonly sensitivity?: Sensitivity;
}

/**
 * The effect of a call: `read` changes nothing, `write` changes files that the session holds, `external` reaches somebody
 * else or cannot be undone.
 */
export type Effect = 'read' | 'write' | 'external';

interface Planned {
  readonly name: string;
  /** `mint`: made when the session starts. `ask`: a person is asked. */
  readonly how: 'mint' | 'ask';
  readonly terms: PlannedTerms;
  readonly offer?: PlannedTerms;
}
/** A directory. */
export interface PlannedFs extends Planned {
  readonly kind: 'fs';
  readonly directory: Directory;
  readonly can: readonly FsRight[];
  readonly except: readonly string[];
  /** Files that the session made itself change without a question. */
  readonly own?: boolean;
}
/** A program, with the calls it takes. */
export interface PlannedCommand extends Planned {
  readonly kind: 'command';
  readonly command: string;
  /** The program sees this directory. If no mount holds it, it may also change it, unless `reads`. */
  readonly cwd?: Directory;
  /** The program sees every directory to read only: the manifest says so, or every row is known to read. */
  readonly reads?: true;
  /** The effect of every call. It stays when a lower layer takes directories away. */
  readonly effect: Effect;
  readonly rows: readonly (readonly Word[])[];
  /** The flag sets that the rows name. */
  readonly flags: Readonly<Record<string, readonly string[]>>;
  /** The names of directory caps. */
  readonly mounts: readonly string[];
  /** The names of caps of the network that the program reaches. */
  readonly net?: readonly string[];
}
/** A shell in the sandbox. */
export interface PlannedShell extends Planned {
  readonly kind: 'shell';
  /** Lies in the directory of one of the mounts. */
  readonly cwd?: Directory;
  readonly effect: Effect;
  readonly mounts: readonly string[];
  readonly net?: readonly string[];
}
/** The requests that may be sent to an origin, and what the host puts into them. */
export interface PlannedRequests {
  readonly origin: string;
  /** Begins and ends with `/`. */
  readonly path: string;
  readonly methods: readonly Method[];
  readonly secret?: string;
  /** Undefined: a bearer token. */
  readonly auth?: Auth;
  /** Headers that a holder may send beside the usual ones, in lower case. */
  readonly headers: readonly string[];
  /** Reached although they are not public. */
  readonly addresses: readonly string[];
  /** The name of stored certificates. */
  readonly ca?: string;
  readonly client?: Client;
  readonly proxy?: HttpProxy;
}
/** An origin and a path prefix. */
export interface PlannedHttp extends Planned, PlannedRequests {
  readonly kind: 'http';
  /** The session changes a thing that it made by a POST without a question. */
  readonly own?: boolean;
}
/** The same for programs: the host sends their requests. */
export interface PlannedForward extends Planned, PlannedRequests {
  readonly kind: 'forward';
}
/** A host and port for programs. */
export interface PlannedHost extends Planned {
  readonly kind: 'host';
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly addresses: readonly string[];
  readonly client?: Client;
  readonly ca?: string;
}
/** A Unix socket for programs. */
export interface PlannedUnix extends Planned {
  readonly kind: 'unix';
  /** An absolute path of this machine. */
  readonly unix: string;
  /** The path at which programs see it. */
  readonly at: string;
}
/** A stored key that signs. */
export interface PlannedSign extends Planned {
  readonly kind: 'sign';
  readonly algorithm: SignCap['sign'];
  readonly secret: string;
  readonly context?: string;
}
/** The values that an argument of a tool may have. */
export type PlannedBound =
  | { readonly is: unknown }
  | { readonly oneOf: readonly unknown[] }
  | { readonly min?: number; readonly max?: number }
  | { readonly beneath: Directory }
  | { readonly like: string }
  | { readonly optional: PlannedBound }
  | { readonly fields: Readonly<Record<string, PlannedBound>> }
  | { readonly any: true };
/** Tools of a server. Each is a cap of its own, with the same terms. */
export interface PlannedMcp extends Planned {
  readonly kind: 'mcp';
  readonly server: string;
  readonly tools: readonly string[];
  /** The arguments of every call, by name. Undefined: any. */
  readonly where?: Readonly<Record<string, PlannedBound>>;
}
/** A way to recipients, with its directory resolved. */
export type PlannedChannel = Exclude<Channel, { readonly outbox: string }> | { readonly outbox: Directory };
/** One recipient. */
export interface PlannedMessage extends Planned {
  readonly kind: 'message';
  /** The name of a channel. */
  readonly channel: string;
  /** As the channel calls it. */
  readonly recipient: string;
}
/** Tasks that run later. `uses`, `forMs` and `untilMs` of its terms are those of all its runs together. */
export interface PlannedSchedule extends Planned {
  readonly kind: 'schedule';
  /** The name of an agent. */
  readonly agent: string;
  /** The names of the caps that a run holds. */
  readonly gives: readonly string[];
  readonly shortestMs?: number;
  readonly missed?: 'late' | 'never';
  readonly zone?: string;
  readonly lastsMs?: number;
}
/** A program for scheduled runs, with its paths resolved. */
export interface PlannedAgent {
  readonly command: readonly string[];
  readonly secrets: readonly string[];
}
/** A cap with every name resolved. */
export type PlannedCap =
  | PlannedFs
  | PlannedCommand
  | PlannedShell
  | PlannedHttp
  | PlannedMcp
  | PlannedMessage
  | PlannedHost
  | PlannedUnix
  | PlannedForward
  | PlannedSign
  | PlannedSchedule;

/** A cap that a child session may get. */
export interface Given {
  readonly cap: string;
  /** Only what reads: of a directory `read`, `list`, `search`; of http `GET`; programs see it all to read only. */
  readonly readonly?: true;
}

/** A judge of the plan. */
export interface PlannedJudge {
  readonly may: readonly ('propose' | 'refuse')[];
  readonly model?: string;
  /** Undefined: no model is asked. */
  readonly asks?: {
    readonly api: 'openai' | 'anthropic';
    readonly url: string;
    readonly model: string;
    readonly secret?: string;
    readonly timeoutMs?: number;
  };
}

/** The authority that a session may hold. */
export interface Plan {
  readonly mode: Mode;
  /** Undefined: the host's own. */
  readonly deadlineMs?: number;
  /** Host paths by name; undefined for a folder that is made for the session. */
  readonly roots: Readonly<Record<string, string | undefined>>;
  readonly servers: Readonly<Record<string, Server>>;
  readonly channels: Readonly<Record<string, PlannedChannel>>;
  readonly agents: Readonly<Record<string, PlannedAgent>>;
  readonly caps: Readonly<Record<string, PlannedCap>>;
  /** Names that no lower layer can bring back. */
  readonly denied: readonly string[];
  readonly children: Readonly<Record<string, readonly Given[]>>;
  /** Calls that no cap may run, from `not_match` of every layer. */
  readonly never: readonly (readonly string[])[];
  /** Undefined: the host's own. */
  readonly granters?: readonly string[];
  /** An empty `may` means that no judge sees the requests. Undefined: the host's own. */
  readonly judge?: PlannedJudge;
  readonly ledger?: { readonly path?: string; readonly keepMs?: number; readonly redact?: 'secrets' };
  /** Undefined: no call is assessed. */
  readonly firewall?: PlannedFirewall;
  /** Undefined: no card is served. */
  readonly a2a?: PlannedA2a;
  readonly chats?: Readonly<Record<string, PlannedChat>>;
}

/** The card of the agent. */
export interface PlannedA2a {
  readonly name?: string;
  readonly description?: string;
  readonly version?: string;
  readonly url?: string;
  /** Absolute paths of folders. */
  readonly skills: readonly string[];
  readonly disabled: readonly string[];
  readonly provider?: { readonly organization: string; readonly url: string };
  readonly serve: boolean;
  /** The name of a secret. */
  readonly key?: string;
  /** The agents that may send tasks. */
  readonly peers?: Readonly<Record<string, PlannedPeer>>;
}

/** A chat of one granter. Without a name it is the first one. Tokens and keys are names of secrets. */
export type PlannedChat = { readonly granter?: string } & (
  | { readonly kind: 'telegram'; readonly token: string; readonly user: number; readonly api?: string }
  | { readonly kind: 'webhook'; readonly url: string; readonly secret: string; readonly sender: string }
);

/** Another agent that may send tasks. */
export interface PlannedPeer {
  readonly key: PublicKey;
  /** Caps of the session that each of its tasks holds, and those that it may ask for. No cap is in both. */
  readonly gives: readonly string[];
  readonly asks: readonly string[];
  /** Works on tasks in words. */
  readonly agent?: string;
  readonly lastsMs: number;
}

/** The firewall before all calls of a host. */
export interface PlannedFirewall {
  readonly mode: 'observe' | 'enforce';
  readonly hooks?: readonly PlannedHook[];
  /** The caps whose changes are looked at afterwards. */
  readonly review?: readonly string[];
  /** When loops are warned of and stopped. What is not named has its usual numbers. */
  readonly guardrails?: PlannedGuardrails;
}

/** By the words of the manifest. */
export type PlannedGuardrails = Readonly<
  Partial<Record<'exact_failure' | 'same_method' | 'same_result', GuardrailPart>>
>;

/** A program that looks at calls. */
export interface PlannedHook {
  readonly name: string;
  /** An absolute path. */
  readonly program: string;
  readonly sha256: string;
  readonly on: 'pre_call' | 'post_call' | 'pre_tool_call' | 'PreToolUse';
  readonly caps?: readonly string[];
  readonly methods?: readonly string[];
  readonly withinMs?: number;
}

/** The mode of a session whose manifest names none. */
export const DEFAULT_MODE: Mode = 'cautious';

/** Reads `project/src`. Returns undefined if it is not a root's name and plain names. */
export function readDirectory(text: string): Directory | undefined {
  const [root = '', ...names] = text.replace(/\/$/, '').split('/');
  const plain = names.every((one) => one !== '' && one !== '.' && one !== '..' && !one.includes('\0'));
  return plain && root !== '' ? { root, path: names.join('/') } : undefined;
}

/** Whether a directory is `outer` or lies beneath it. */
export const isWithin = (inner: Directory, outer: Directory): boolean =>
  inner.root === outer.root && (outer.path === '' || `${inner.path}/`.startsWith(`${outer.path}/`));

/**
 * Whether `path`, as a program in `cwd` writes it, lies beneath `directory`. Compared as text: it says what an
 * example means. At run time the mounts decide.
 */
export function isPathBeneath(path: string, cwd: Directory | undefined, directory: Directory): boolean {
  if (cwd === undefined || cwd.root !== directory.root || path.startsWith('/') || path.includes('\0')) return false;
  const names = cwd.path === '' ? [] : cwd.path.split('/');
  for (const name of path.split('/')) {
    if (name === '' || name === '.') continue;
    if (name !== '..') names.push(name);
    else if (names.pop() === undefined) return false;
  }
  return isWithin({ root: cwd.root, path: names.join('/') }, directory);
}
