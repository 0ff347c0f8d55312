/**
 * The common form of a rule: four products write their rules in four ways, and each reader returns this.
 *
 * A rule never gets lost. A reader that cannot say exactly which calls a rule is about sets `why`, and gives a subject
 * that takes in at least those calls. The rule then gives nothing, and a deny among such rules still takes away.
 */
import type { FsRight, Server } from '../file/types.ts';

/** The product whose rules are read. */
export type Product = 'hermes' | 'claude' | 'codex' | 'gemini';

/** Where a rule stands. */
export interface At {
  readonly file: string;
  readonly line: number;
}

/** Which files a rule is about: names beneath `from`, each a literal or a glob of one name; `**` is any number. */
export interface FilePattern {
  readonly from: 'cwd' | 'home' | '/';
  readonly names: readonly string[];
  /** The pattern may mean more than its names say, so it takes away only. */
  readonly unclear?: string;
}

/** The calls that a rule is about. */
export type Subject =
  /** A program with these words, each one of several. `more`: any further words may follow. */
  | { readonly kind: 'command'; readonly words: readonly (readonly string[])[]; readonly more: boolean }
  /** Every command line that a glob takes; `*` is any text. It takes away only. */
  | { readonly kind: 'lines'; readonly glob: string }
  /** No pattern: every file of the machine. */
  | { readonly kind: 'files'; readonly rights: readonly FsRight[]; readonly pattern?: FilePattern }
  /** The pages of a host; `*` is any text. */
  | { readonly kind: 'pages'; readonly host: string }
  /** Tools of a server; `*` is any text in both. */
  | { readonly kind: 'mcp'; readonly server: string; readonly tool: string }
  /** Another tool of the product. */
  | { readonly kind: 'tool'; readonly name: string }
  /** Every call. */
  | { readonly kind: 'any' };

/** The effect of a rule on a call. */
export type How = 'allow' | 'ask' | 'deny';

/** One rule of a product. */
export interface Rule extends At {
  /** As the file writes it. */
  readonly text: string;
  readonly how: How;
  readonly subject: Subject;
  /** Why it cannot be translated. */
  readonly why?: string;
  /** In a product where rules have numbers: a higher one wins. It is compared with rules of the same file only. */
  readonly rank?: number;
}

/** A line of a file that is no rule about calls, and still says how calls are judged. */
export interface Setting extends At {
  readonly text: string;
  /** Where it stands in the manifest. */
  readonly to?: string;
  /** Why it cannot be translated, or not all of it. */
  readonly why?: string;
}

/** A server that a file declares. */
export interface NamedServer extends At {
  readonly name: string;
  readonly server: Server;
}

/** All that a reader found in one file. */
export interface Found {
  readonly rules: readonly Rule[];
  readonly settings: readonly Setting[];
  readonly servers: readonly NamedServer[];
  readonly mode?: { readonly mode: 'plan' | 'supervised' | 'cautious' | 'autonomous' } & At;
  /** The product refuses the calls that it would have to ask for. */
  readonly neverAsks?: At & { readonly text: string };
  /** The file lets a model judge requests. */
  readonly judge?: boolean;
}
