/**
 * What the host keeps: the rows of its tables, as types. `host-state.ts` has the actor that holds the tables.
 */
import type { Gate } from '@hob/revocable';
import type { Table } from '@hob/vat';
import type { HostPowers } from './host-powers.ts';
import type { GrantTerms } from './terms.ts';

/** What a session holds under a petname. The row stays when the grant is over: a petname is never bound anew. */
export interface CListEntry {
  readonly petname: string;
  readonly cap: object;
  readonly grant: string;
}

/** A session, as it is kept. */
export interface SessionRecord {
  readonly id: string;
  readonly name: string;
  readonly granters: readonly string[];
  /** By the look of the petname. */
  readonly held: Table<CListEntry>;
  /** Their ids, by name. */
  readonly children: Table<string>;
  /** Its object URLs, by the hashes of their ids. */
  readonly urls: Table<Published>;
  readonly parent: string | undefined;
  /** How many sessions it hangs under. */
  readonly depth: number;
  /** The session whose meter pays. */
  readonly payer: string;
  /** What its connections bootstrap as. */
  readonly face: object;
  /** Hashes of the secret that is in use, and of the one that takes its place when it is first used. */
  readonly secret: string;
  readonly nextSecret: string | undefined;
  /** Somebody has been in it: from then on it is kept for the grace time only. */
  readonly entered: boolean;
  /** Its grants are in groups, and those of the sessions under it. Not so where a version opened it that knew none. */
  readonly grouped?: true;
}

/** What is left to be removed of a group that has ended. */
export type Removal =
  | {
      readonly what: 'session';
      /** The session that was ended, and all under it. */
      readonly of: string;
      readonly act: { readonly by: string; readonly surface?: string };
      readonly why: string;
      /** How many caps were removed of the session that is being removed now: for its line in the ledger. */
      readonly held: number;
    }
  | {
      readonly what: 'grants';
      readonly scope: Scope;
      /** The number of the last grant that is meant. */
      readonly to: number;
      /** The last one that was done. */
      readonly after: string | undefined;
      readonly act: { readonly by: string; readonly surface?: string };
      readonly why: string;
    };

/** Whose grants are revoked while sessions go on. */
export type Scope = `grants ${string}` | `granter ${string}` | 'all';

/** A grant, as it is kept. */
export interface GrantRecord {
  readonly id: string;
  readonly session: string;
  readonly petname: string;
  readonly granter: string;
  readonly offered: string;
  /** The grant that it hangs under. */
  readonly parent: string | undefined;
  /** The digest of the request that was approved; also of what hangs under it. */
  readonly act?: string;
  readonly gate: Gate;
}

export interface GranterRecord {
  readonly name: string;
  readonly secret: string;
  /** For the program that runs the host, and for who enters with the secret. */
  readonly program: object;
  readonly wire: object;
}

/** Whom a secret opens something for, by the secret's hash. */
export interface Bearer {
  readonly session?: string;
  readonly granter?: string;
  /** The grant of a sturdyref, and the session that it hangs under. */
  readonly sturdyref?: readonly [session: string, grant: string];
}

/** A sturdyref, as it is kept. It is called after its grant. */
export interface SturdyrefRecord {
  readonly cap: object;
  /** As those of a session. */
  readonly secret: string;
  readonly nextSecret: string | undefined;
}

/** What an object URL stands for. */
export interface Published {
  readonly petname: string;
  /** In vat time, and in ms since 1970, which may only shorten. */
  readonly deadline: number;
  readonly wallDeadline: number;
}

/** What the host knows of an offer of this process. */
export interface Offered {
  /** Another object under the same name has another number. */
  readonly number: number;
  /** Its methods, where they can be seen. */
  readonly methods: readonly string[] | undefined;
  /** Those that change nothing. */
  readonly reads: readonly string[];
  /** Its calls are those of a directory cap: what they would change can be shown. */
  readonly directory: boolean;
}

export interface HostTables {
  readonly rooms: Table<SessionRecord>;
  /** The sessions that hang under none: their ids, by name. */
  readonly firsts: Table<string>;
  readonly grants: Table<GrantRecord>;
  readonly offers: Table<object>;
  readonly granters: Table<GranterRecord>;
  readonly bearers: Table<Bearer>;
  /** By `SESSION/GRANT`. */
  readonly sturdyrefs: Table<SturdyrefRecord>;
  readonly counts: Table<number>;
  readonly world: Table<HostPowers>;
  readonly facts: Table<string>;
  /** By the names of offers. */
  readonly offered: Table<Offered>;
  /** What waits for a granter; the same by `ASKER DIGEST`; what is refused for good, and why, by the same. */
  readonly requests: Table<Pending>;
  readonly asked: Table<string>;
  readonly refusals: Table<string>;
  /** How much the session that pays has asked. */
  readonly askers: Table<Asker>;
  /** The one actor that looks after requests. */
  readonly powerbox: Table<object>;
  /** The session that a start of the program opened, by its purpose. The row stays when the session has ended. */
  readonly starts: Table<string>;
  /** The ids of grants, and of sessions, by keys that sort by number: see `order.ts`. */
  readonly grantIndex: Table<string>;
  readonly roomIndex: Table<string>;
  /** What has ended and is not removed yet, by its group: see `groups.ts`. */
  readonly ended: Table<Removal>;
  /** The one actor that removes. */
  readonly remover: Table<object>;
}

/** A version of a file that a diff was made from; undefined where there was none. */
export type Seen = readonly [path: string, version: string | undefined];

/** What is shown of it, all of it words of ours, or of others made fit to be read. */
export interface Shown {
  readonly effect: string;
  readonly table: readonly (readonly [name: string, value: string])[];
  readonly diff?: string;
  readonly permits: readonly string[];
  /** What is odd about the words of others in it. */
  readonly flags: readonly string[];
}

export interface Proposal {
  readonly terms: GrantTerms;
  readonly means: string;
  readonly why: string;
}

export interface Pending extends Shown {
  readonly id: string;
  readonly kind: 'grant' | 'call';
  /** The session whose granters decide: of a gated call that of the gate, else the asker. */
  readonly session: string;
  readonly asker: string;
  readonly payer: string;
  readonly digest: string;
  /** A petname that is held, or an offer; of a call the petname that was called. */
  readonly asks: string;
  readonly why: string;
  readonly offered: string;
  /** Which object stands behind the offer: another one is another cap. */
  readonly offer: number;
  /** Of a request for a grant: what it would have. */
  readonly terms: GrantTerms | undefined;
  readonly method: string | undefined;
  /** Of a call: the grants that it was made under, the gated one last. */
  readonly under: readonly string[];
  readonly seen: readonly Seen[];
  readonly proposals: readonly Proposal[];
  /** Of a call: when it was charged, in vat time. */
  readonly charged?: number;
  /** It, or what it takes the place of, was shown to a granter. */
  readonly looked?: boolean;
  /** How often it was asked. */
  readonly count: number;
  readonly since: number;
  readonly deadline: number;
  readonly wake: string;
  /** The request that this one takes the place of, for what was shown has changed. */
  readonly stale: string | undefined;
}

/** What a session, with those that it pays for, has asked lately. */
export interface Asker {
  readonly since: number;
  readonly asked: number;
  readonly pending: number;
}
