/** A manifest as TypeScript. The schema is checked against these types when the project compiles. */

import type { A2aPart } from './a2a-part.ts';
import type { ChatPart } from './chat-part.ts';

/** How far listed caps go without a person. `ask` and absence hold in every mode. */
export type Mode = 'plan' | 'supervised' | 'cautious' | 'autonomous';
/** The methods of an http cap. */
export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
/** The rights of a directory cap. */
export type FsRight = 'read' | 'list' | 'search' | 'write' | 'remove';

/** Levels of risk of a call, as the firewall assesses it. */
export type Level = 'low' | 'medium' | 'high';
/** How much depends on the object of a cap. */
export type Sensitivity = 'scratch' | 'ordinary' | 'high';

/** The limits of a grant. A part that is left out sets no limit. */
export interface CapTerms {
  /** The number of calls. */
  readonly uses?: number | undefined;
  /** A time from the grant on, for example `15m`. */
  readonly for?: string | undefined;
  /** A date, for example `2027-01-31`. */
  readonly until?: string | undefined;
  readonly needs?: 'passkey' | undefined;
  /** No judge and no answer for several requests at once. */
  readonly always_human?: boolean | undefined;
  /** With a firewall that enforces: the highest level of risk at which a call goes on without a person. */
  readonly level?: Level | undefined;
  /** For the firewall: how much depends on what the cap leads to. */
  readonly sensitivity?: Sensitivity | undefined;
}

/** A directory of a root, for example `project/src`. */
export interface FsCap extends CapTerms {
  readonly fs: string;
  readonly can: readonly FsRight[];
  /** Patterns of gitignore: names that do not exist for the holder. */
  readonly except?: readonly string[] | undefined;
  /** The session changes and removes files that it made itself without a question, as long as nobody else changed them. */
  readonly own?: boolean | undefined;
}

/** A command as one text, split at spaces outside quotes, or as a list of words. */
export type Example = string | readonly string[];

/** A program, and each form of arguments that it may be called with. */
export interface CommandCap extends CapTerms {
  /** A name that is looked up on the machine's PATH when the session starts, or an absolute path. */
  readonly command: string;
  /** A directory of a root, where it runs. The program sees it. */
  readonly cwd?: string | undefined;
  /** The program only reads: it sees every directory to read only. */
  readonly reads?: boolean | undefined;
  /** Rows of words. See `words/row.ts`. */
  readonly argv: readonly (readonly string[])[];
  /** Rows that are taken out of `argv`. */
  readonly deny?: readonly (readonly string[])[] | undefined;
  /** Directory caps of this session that the program sees. */
  readonly mounts?: readonly string[] | undefined;
  /** Caps with `host`, `unix` or `forward` of this session that the program reaches. */
  readonly net?: ProgramNet | undefined;
  /** Calls that have to run. They are compared and never executed. */
  readonly match?: readonly Example[] | undefined;
  /** Calls that no cap of the session may run. */
  readonly not_match?: readonly Example[] | undefined;
}

/** The caps of the network that a program reaches. */
export type ProgramNet = 'none' | readonly string[];

/** A shell in the sandbox. It runs any program there. */
export interface ShellCap extends CapTerms {
  readonly shell: 'sandbox';
  /** A directory of one of the mounts, where it runs. */
  readonly cwd?: string | undefined;
  readonly mounts: readonly string[];
  readonly net?: ProgramNet | undefined;
}

/** Where the secret of an http cap goes: exactly one of these. */
export interface Auth {
  /** The name of a header whose value is the secret. */
  readonly header?: string | undefined;
  /** The name of a user: the secret is the password of a basic login. */
  readonly basic?: string | undefined;
  /** The name of a parameter of the query. */
  readonly query?: string | undefined;
}

/** An origin with a path prefix that ends in `/`. */
export interface HttpCap extends CapTerms {
  readonly http: string;
  readonly methods: readonly Method[];
  /** The session changes what it made itself by a POST without a question. */
  readonly own?: boolean | undefined;
  /** The name of a stored secret. The session never sees its value. */
  readonly secret?: string | undefined;
  /** Without it the secret is sent as a bearer token. */
  readonly auth?: Auth | undefined;
  /** Headers that a holder may send beside the usual ones. */
  readonly headers?: readonly string[] | undefined;
  /** Addresses and ranges that are reached although they are not public. */
  readonly addresses?: readonly string[] | undefined;
  /** The name of stored certificates (PEM) that are trusted instead of the usual ones. */
  readonly ca?: string | undefined;
  readonly client?: Client | undefined;
  readonly proxy?: HttpProxy | undefined;
}

/** The names of a stored certificate (PEM) and of its stored key, with which the host shows who it is. */
export interface Client {
  readonly cert: string;
  readonly key: string;
}

/** A proxy that opens a tunnel to the origin. */
export interface HttpProxy {
  /** `http://proxy.example:3128` */
  readonly origin: string;
  /** The name of the stored value of `proxy-authorization`. */
  readonly secret?: string | undefined;
  /** `proxy`: the proxy looks up the name, and no address is judged here. */
  readonly names?: 'here' | 'proxy' | undefined;
}

/** A host and port for programs that name this cap in `net`. */
export interface HostCap extends CapTerms {
  readonly host: string;
  /** 443 if it is left out. */
  readonly port?: number | undefined;
  /** `false`: the connection need not be TLS that names the host. */
  readonly tls?: boolean | undefined;
  readonly addresses?: readonly string[] | undefined;
  /** The host speaks TLS, and shows this certificate. Programs send plain bytes. */
  readonly client?: Client | undefined;
  /** With `client`: the name of stored certificates that are trusted instead of the usual ones. */
  readonly ca?: string | undefined;
}

/** A Unix socket of this machine for programs that name this cap in `net`. */
export interface UnixCap extends CapTerms {
  readonly unix: string;
  /** The path at which programs see it. Without it: `/run/NAME.sock`. */
  readonly at?: string | undefined;
}

/** An origin with a path prefix for programs that name this cap in `net`. The host sends their requests. */
export interface ForwardCap extends CapTerms {
  readonly forward: string;
  readonly methods: readonly Method[];
  readonly secret?: string | undefined;
  readonly auth?: Auth | undefined;
  readonly headers?: readonly string[] | undefined;
  readonly addresses?: readonly string[] | undefined;
  readonly ca?: string | undefined;
  readonly client?: Client | undefined;
  readonly proxy?: HttpProxy | undefined;
}

/** A stored key that signs. */
export interface SignCap extends CapTerms {
  readonly sign: 'ed25519' | 'hmac-sha256';
  /** The name of the stored key: a private key in PEM, or a text of at least 32 characters. */
  readonly secret: string;
  /** A text that goes before each text that is signed. */
  readonly context?: string | undefined;
}

/** The values that an argument of a tool may have. A text, a number, true, false or null means exactly that. */
export type ArgumentBound =
  | string
  | number
  | boolean
  | null
  | { readonly is: unknown }
  | { readonly oneOf: readonly unknown[] }
  | { readonly min?: number | undefined; readonly max?: number | undefined }
  /** A path in `ROOT/folder`, as the server sees it: `/ROOT/folder/…`. */
  | { readonly beneath: string }
  /** A text like this template: `Dinner at {restaurant}`. */
  | { readonly like: string }
  | { readonly optional: ArgumentBound }
  | { readonly fields: Readonly<Record<string, ArgumentBound>> }
  | { readonly any: true };

/** Tools of a server that `servers` names. */
export interface McpCap extends CapTerms {
  readonly mcp: string;
  readonly tools: readonly string[];
  /** Bounds of the arguments, by name. An argument that is not named here is refused then. */
  readonly where?: Readonly<Record<string, ArgumentBound>> | undefined;
}

/** One recipient, as `channel:recipient`. */
export interface MessageCap extends CapTerms {
  readonly message: string;
}

/** Tasks that run later, each in a fresh session. `uses`, `for` and `until` are those of all its runs together. */
export interface ScheduleCap extends CapTerms {
  /** The name of the agent that is started for each run. */
  readonly schedule: string;
  /** The names of the caps that a run holds. */
  readonly gives: readonly string[];
  /** The shortest time between two runs of one task. `1m` without it. */
  readonly shortest?: string | undefined;
  /** A run whose time passed while the host was down: once as soon as possible (without it), or not at all. */
  readonly missed?: 'late' | 'never' | undefined;
  /** The time zone of cron lines. `UTC` without it. */
  readonly zone?: string | undefined;
  /** How long a run may last. `1h` without it. */
  readonly lasts?: string | undefined;
}

/** A cap of a manifest. It has exactly one kind. */
export type Cap =
  | FsCap
  | CommandCap
  | ShellCap
  | HttpCap
  | McpCap
  | MessageCap
  | HostCap
  | UnixCap
  | ForwardCap
  | SignCap
  | ScheduleCap;

/** The terms that a question proposes to the person. */
export interface Offer {
  readonly uses?: number | undefined;
  readonly for?: string | undefined;
  readonly until?: string | undefined;
}
/** A cap that a person is asked for, with the terms that the question proposes. */
export type Ask = Cap & { readonly offer?: Offer | undefined };

/** The caps of a session, and its deadline. */
interface SessionPart {
  /** No grant outlives it. */
  readonly deadline?: string | undefined;
  readonly mode?: Mode | undefined;
  /** Minted when the session starts. */
  readonly caps?: Readonly<Record<string, Cap>> | undefined;
  /** A person is asked at each first use. */
  readonly ask?: Readonly<Record<string, Ask>> | undefined;
  /** Caps of other layers that do not exist here. */
  readonly deny?: readonly string[] | undefined;
}

/** A folder of this machine, or one that is made for the session. */
export type Root = string | { readonly temp: true };
/** The effect of calls of a tool. The writer of the manifest states it. */
export interface ToolEffect {
  /** `A` reads, `B` changes this machine, `C` has an effect outside of it, `D` is critical. */
  readonly class: 'A' | 'B' | 'C' | 'D';
  /** `hard` without it. */
  readonly undo?: 'easy' | 'hard' | 'impossible' | undefined;
  /** Its arguments reach somebody outside. `true` without it: the server is somebody else's. */
  readonly outbound?: boolean | undefined;
}

/** An MCP server: a program that runs in the sandbox, or an address. */
export type Server = {
  /** The effects of its tools, by name. A tool that is not there may do anything. */
  readonly effects?: Readonly<Record<string, ToolEffect>> | undefined;
} & (
  | {
      readonly command: readonly string[];
      readonly roots?: readonly string[] | undefined;
      /** Roots that the program may change, too. */
      readonly writes?: readonly string[] | undefined;
      readonly secrets?: readonly string[] | undefined;
    }
  | {
      readonly url: string;
      readonly secret?: string | undefined;
      /** Addresses and ranges that are reached although they are not public. */
      readonly addresses?: readonly string[] | undefined;
    }
);

/** A way to recipients. Each recipient of a webhook has a URL of its own, which is a stored secret. */
export type Channel =
  | { readonly slack: Readonly<Record<string, string>>; readonly addresses?: readonly string[] | undefined }
  | { readonly webhook: Readonly<Record<string, string>>; readonly addresses?: readonly string[] | undefined }
  | {
      /** `mail.example.org:465` */
      readonly smtp: string;
      readonly from: string;
      readonly tls?: 'implicit' | 'starttls' | 'none' | undefined;
      readonly user?: string | undefined;
      /** The name of the stored password. */
      readonly secret?: string | undefined;
      readonly addresses?: readonly string[] | undefined;
    }
  /** A directory of a root, where each message becomes a file. */
  | { readonly outbox: string };

/** A program that the host starts for a scheduled run, outside of the sandbox. Its standard input is the task. */
export interface Agent {
  /** Words that begin with `/`, `~/` or `./` are paths. */
  readonly command: readonly string[];
  /** Names of stored secrets that it gets as variables. */
  readonly secrets?: readonly string[] | undefined;
}

/** The layer that assesses each call of every session, and makes some wait for a person. */
interface FirewallPart {
  /** `observe`: only messages about a person in danger wait. `enforce`: what is risky or unclear waits, too. */
  readonly mode: 'observe' | 'enforce';
  /** Programs that look at calls and answers, by name. */
  readonly hooks?: Readonly<Record<string, HookPart>> | undefined;
  /** Directory caps whose changes go on at once under `enforce`, and are shown to a person afterwards. */
  readonly review?: readonly string[] | undefined;
  /** When a model that goes round in circles is warned and stopped. */
  readonly guardrails?: GuardrailsPart | undefined;
}

/** `off` leaves a guardrail out. What is not named has its usual numbers. */
export type GuardrailPart = 'off' | { readonly warn: number; readonly stop: number };

interface GuardrailsPart {
  readonly exact_failure?: GuardrailPart | undefined;
  readonly same_method?: GuardrailPart | undefined;
  readonly same_result?: GuardrailPart | undefined;
}

/** A program that looks at calls. It runs in the sandbox, without a network, and only makes stricter. */
interface HookPart {
  /** The file: absolute, beneath `~/`, or relative to the folder of the manifest. */
  readonly program: string;
  /** The SHA-256 of the file, as `sha256sum` prints it. A file with another one is not run, and what it looks at is blocked. */
  readonly sha256: string;
  readonly on: 'pre_call' | 'post_call' | 'pre_tool_call' | 'PreToolUse';
  /** The caps that it looks at. All of them without it. */
  readonly caps?: readonly string[] | undefined;
  readonly methods?: readonly string[] | undefined;
  /** How long it may take: `1s` to `1m`. */
  readonly within?: string | undefined;
}

/** A model that reads requests. It is asked if `api`, `url` and `model` are there. */
export interface JudgePart {
  readonly may: readonly ('propose' | 'refuse')[];
  readonly model?: string | undefined;
  /** The form in which its server is asked. */
  readonly api?: 'openai' | 'anthropic' | undefined;
  readonly url?: string | undefined;
  /** The name of the secret that is its key. */
  readonly secret?: string | undefined;
  readonly timeout?: string | undefined;
}

/** The whole of `hob.yaml`: roots, what a session holds, what it may ask for, and who decides. */
export interface Manifest {
  readonly version: 1;
  /** Folders of this machine by name. Host paths stand only here. */
  readonly roots?: Readonly<Record<string, Root>> | undefined;
  readonly servers?: Readonly<Record<string, Server>> | undefined;
  readonly channels?: Readonly<Record<string, Channel>> | undefined;
  /** Programs for scheduled runs, by name. */
  readonly agents?: Readonly<Record<string, Agent>> | undefined;
  /** Sets of flags for `flags(SET)`. See `words/flags.ts`. */
  readonly flags?: Readonly<Record<string, readonly string[]>> | undefined;
  readonly session?: SessionPart | undefined;
  /** Sessions that this one may start. `give` names caps; `docs.readonly` gives only what reads. */
  readonly children?: Readonly<Record<string, { readonly give: readonly string[] }>> | undefined;
  readonly granters?: readonly string[] | undefined;
  readonly judge?: JudgePart | undefined;
  readonly ledger?:
    | {
        readonly path?: string | undefined;
        readonly keep?: string | undefined;
        readonly redact?: 'secrets' | undefined;
      }
    | undefined;
  readonly firewall?: FirewallPart | undefined;
  readonly a2a?: A2aPart | undefined;
  readonly chats?: Readonly<Record<string, ChatPart>> | undefined;
}

/** Returns its argument. TypeScript checks it, and an editor completes it. */
export const defineManifest = (manifest: Manifest): Manifest => manifest;
