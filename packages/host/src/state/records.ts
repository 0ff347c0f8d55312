/**
 * The rows of a host's tables, as types. They are stored, so a field keeps its name. `host-state.ts` has
 * the actor that holds the tables.
 */
import type { GrantActor } from '@hob/revocable';
import type { Table } from '@hob/vat';
import type { Effects } from '@hob/vat/forwarder';
import type { PasskeyRecord } from '../webauthn/proof.ts';
import type { HostPowers } from './host-powers.ts';
import type { CallLevel, GrantTerms } from './terms.ts';

/** An entry of a c-list. It stays when its grant has ended, because a petname is never bound again. */
export interface CListEntry {
  readonly petname: string;
  readonly cap: object;
  readonly grant: string;
}

/** A session. */
export interface SessionRecord {
  readonly id: string;
  readonly name: string;
  readonly granters: readonly string[];
  /** By the skeleton of the petname. */
  readonly held: Table<CListEntry>;
  /** Their ids, by name. */
  readonly children: Table<string>;
  /** Its object URLs, by the hashes of their ids. */
  readonly urls: Table<PublishedUrl>;
  readonly parent: string | undefined;
  /** The number of sessions above it. */
  readonly depth: number;
  /** The session whose meter pays. */
  readonly payer: string;
  /** The bootstrap object of its connections. */
  readonly face: object;
  /** Hashes of the current secret, and of the next one, which becomes current when it is first used. */
  readonly secret: string;
  readonly nextSecret: string | undefined;
  /** Nobody is expected to answer its requests in time. It is inherited by child sessions. */
  readonly unattended?: true;
  /** A client has entered it. From then on a lost connection starts the grace time. */
  readonly entered: boolean;
  /** Its grants and its child sessions are in groups. Absent in sessions of versions without groups. */
  readonly grouped?: true;
}

/** The rows that are left to remove of a group that has ended. */
export type Removal =
  | {
      readonly what: 'session';
      /** The id of the session that was ended, with all child sessions. */
      readonly of: string;
      readonly act: { readonly by: string; readonly surface?: string };
      readonly why: string;
      /** The number of caps removed so far of the session that is being removed, for its ledger line. */
      readonly held: number;
    }
  | {
      readonly what: 'grants';
      readonly scope: RevokeScope;
      /** The number of the last grant that is revoked. */
      readonly to: number;
      /** The id of the last grant that was revoked. */
      readonly after: string | undefined;
      readonly act: { readonly by: string; readonly surface?: string };
      readonly why: string;
    };

/** The cap and the grant that a granter gave for the calls of a facet that asks. */
export interface Lease {
  readonly cap: object;
  readonly grant: string;
}

/** The grants that are revoked while their sessions go on. */
export type RevokeScope = `grants ${string}` | `granter ${string}` | 'all';

/** A grant. */
export interface GrantRecord {
  readonly id: string;
  readonly session: string;
  readonly petname: string;
  readonly granter: string;
  readonly offered: string;
  /** The grant that it was delegated from. */
  readonly parent: string | undefined;
  /** The digest of the request that was approved. Delegated grants keep it. */
  readonly act?: string;
  /** The accepted text that it was made for. It ends with that acceptance. */
  readonly accepted?: AcceptedText;
  /** The calls that wait for a granter, the methods whose calls are kept as drafts, and whether it asks (`terms.ts`). */
  readonly waits?: true | readonly string[];
  readonly drafts?: readonly string[];
  readonly asks?: true;
  /** It leads to the cap of the session above, and not to the offer. Absent in grants of earlier versions. */
  readonly delegated?: true;
  /** The highest level of risk at which a call goes on without a person, if a firewall is there. `medium` if absent. */
  readonly level?: CallLevel;
  /** No judge sees what waits under it. */
  readonly personOnly?: true;
  /** The things that its session made: versions of files by path, or names of other things (`powerbox/own/`). */
  readonly own?: Table<string>;
  readonly gate: GrantActor;
}

/** A text, by the name that a program gave it and the SHA-256 of its bytes in hexadecimal digits. */
export interface AcceptedText {
  readonly name: string;
  readonly hash: string;
}

/** A text that a granter accepted. The key is `GRANTER/NAME`. */
export interface AcceptanceRecord extends AcceptedText {
  readonly granter: string;
  /** In ms since 1970. */
  readonly at: number;
}

/** The memory of a firewall about the calls of one grant (`loops.ts`). */
export interface LoopRow {
  /** The number of the person's turn that it was counted in. */
  readonly turn: number;
  /** The firewall's own data. */
  readonly kept: unknown;
  /** The latest warnings, each with the group of the call that it is about. */
  readonly warnings: readonly LoopWarning[];
}

export interface LoopWarning {
  readonly call: string | undefined;
  readonly text: string;
}

/** A granter's own name for a thing. The key is `GRANTER/ID`. */
export interface OwnName {
  readonly id: string;
  readonly kind: 'grant' | 'session' | 'request';
  readonly name: string;
}

export interface GranterRecord {
  readonly name: string;
  readonly secret: string;
  /** The granter's actor for the program that runs the host, and the one for connections. */
  readonly program: object;
  readonly wire: object;
}

/** The owner of a secret: a session, a granter or a sturdyref. The key is the hash of the secret. */
export interface SecretOwner {
  readonly session?: string;
  readonly granter?: string;
  /** The session and the grant of a sturdyref. */
  readonly sturdyref?: readonly [session: string, grant: string];
}

/** A sturdyref. The key has the id of its grant. */
export interface SturdyrefRecord {
  readonly cap: object;
  /** As those of a session. */
  readonly secret: string;
  readonly nextSecret: string | undefined;
}

/** An object URL. The key is the hash of its id. */
export interface PublishedUrl {
  readonly petname: string;
  /** In vat time, and in ms since 1970. The wall clock may only shorten it. */
  readonly deadline: number;
  readonly wallDeadline: number;
}

/** The facts that the host keeps about an offer's object. */
export interface OfferInfo {
  /** Another object under the same name has another number, so an approval is for one object. */
  readonly number: number;
  /** Its methods, if they can be seen. */
  readonly methods: readonly string[] | undefined;
  /** The methods that change nothing. */
  readonly reads: readonly string[];
  /** It has the methods of a directory cap, so a request can show what a call would change. */
  readonly directory: boolean;
  /** What its maker declares about its methods. */
  readonly effects?: Effects;
  /** Its name for people, from the program that runs the host. It is kept as it was given: show it quoted. */
  readonly label?: string;
  /** Each yes to a request for it, and to a call of it that waits, needs a passkey of the granter. */
  readonly needs?: 'passkey';
  /** Where it was when it was offered, as a line for granters only. Quoted and escaped already. */
  readonly place?: string;
}

export interface HostTables {
  readonly sessions: Table<SessionRecord>;
  /** The ids of sessions without a parent, by name. */
  readonly rootSessions: Table<string>;
  readonly grants: Table<GrantRecord>;
  readonly offers: Table<object>;
  readonly granters: Table<GranterRecord>;
  readonly secretOwners: Table<SecretOwner>;
  /** By `SESSION/GRANT`. */
  readonly sturdyrefs: Table<SturdyrefRecord>;
  readonly counts: Table<number>;
  readonly powers: Table<HostPowers>;
  readonly facts: Table<string>;
  /** By the names of offers. */
  readonly offerInfo: Table<OfferInfo>;
  /**
   * Requests that wait for a granter, by id; the ids by `ASKER DIGEST`; and by the same key the reasons of
   * lasting refusals.
   */
  readonly requests: Table<RequestRecord>;
  readonly requestByDigest: Table<string>;
  readonly refusals: Table<string>;
  /** How often each paying session has asked lately. */
  readonly requestCounts: Table<RequestCounts>;
  /** The one actor that looks after requests. */
  readonly powerbox: Table<object>;
  /** The session that a start opened, by purpose. The row stays when the session has ended. */
  readonly starts: Table<string>;
  /** The ids of grants, and of sessions, by keys that sort by number: see `order.ts`. */
  readonly grantIndex: Table<string>;
  readonly sessionIndex: Table<string>;
  /** Groups that have ended and whose rows are not all removed (`groups.ts`). */
  readonly endedGroups: Table<Removal>;
  /** The one actor that removes. */
  readonly remover: Table<object>;
  readonly acceptances: Table<AcceptanceRecord>;
  readonly ownNames: Table<OwnName>;
  /** Texts that the program keeps, by name (`kept.ts`). */
  readonly kept: Table<string>;
  /** Calls that wait by the terms of their grant, and that a firewall keeps from judges (`gate.ts`). */
  readonly personOnly: Table<true>;
  /** By the name of their granter. */
  readonly passkeys: Table<readonly PasskeyRecord[]>;
  /** By the ids of grants. */
  readonly loops: Table<LoopRow>;
  /** How often a person has had a turn, by the ids of sessions. */
  readonly personTurns: Table<number>;
}

/** A file and the version that its diff was made from. Undefined if there was no file. */
export type FileVersion = readonly [path: string, version: string | undefined];

/** The texts that a person is shown. All of them are ours, or escaped by `text/safe-text.ts`. */
export interface RequestDisplay {
  readonly effect: string;
  readonly table: readonly (readonly [name: string, value: string])[];
  readonly diff?: string;
  readonly permits: readonly string[];
  /** Warnings about odd characters in the texts of others. */
  readonly flags: readonly string[];
}

export interface Proposal {
  readonly terms: GrantTerms;
  readonly means: string;
  readonly why: string;
}

export interface RequestRecord extends RequestDisplay {
  readonly id: string;
  readonly kind: 'grant' | 'call';
  /**
   * The session whose granters decide: for a gated call the session of the gated grant, otherwise the
   * asker.
   */
  readonly session: string;
  readonly asker: string;
  readonly payer: string;
  readonly digest: string;
  /** The petname or the offer that is asked for. For a call, the petname that was called. */
  readonly asks: string;
  readonly why: string;
  readonly offered: string;
  /** The number of the offer's object. Another number is another cap. */
  readonly offer: number;
  /** The grant of the facet that asks, as its caller holds it. The new grant is in no c-list, and ends with that one. */
  readonly lease?: string;
  /** The terms that were asked for. Undefined for a call. */
  readonly terms: GrantTerms | undefined;
  readonly method: string | undefined;
  /** For a call: its arguments as data, if a frame has room for them. */
  readonly args?: readonly unknown[];
  /** For a call: the grants that it was made under, the gated one last. */
  readonly under: readonly string[];
  readonly seen: readonly FileVersion[];
  readonly proposals: readonly Proposal[];
  /** For a call: when its uses were charged, in vat time. */
  readonly charged?: number;
  /** It is about a change (`ask-change.ts`), and a yes is for all who wait. */
  readonly change?: true;
  /** No judge sees it. */
  readonly personOnly?: true;
  /** The caller does not wait: it was told that this is a draft. */
  readonly draft?: true;
  /** Its call went on at once, and the request is a look at its change. */
  readonly review?: true;
  /** A granter was shown this request, or the one that it replaces. */
  readonly looked?: boolean;
  /** How often it was asked. */
  readonly count: number;
  readonly since: number;
  readonly deadline: number;
  readonly wake: string;
  /** The request that this one replaces, because what it showed has changed. */
  readonly stale: string | undefined;
}

/** How often a session and its child sessions have asked lately. */
export interface RequestCounts {
  readonly since: number;
  readonly asked: number;
  readonly pending: number;
}
