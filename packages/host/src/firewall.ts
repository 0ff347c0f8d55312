/**
 * The port of the firewall: a host tells it of each call that a grant allows, before the call goes on.
 *
 * Promise: a firewall only makes stricter. It is not asked about a call that a grant refuses. It can let a call go
 * on, make it wait for a granter, or refuse it. If it fails, the call waits. A call is assessed once, at the grant
 * that leads to the offer, whichever face or child session it came through.
 */
import type { GuardedCall, Guarding } from '@hob/revocable';
import { CapError, spawn } from '@hob/vat';
import type { Effects } from '@hob/vat/forwarder';
import { GateAskActor } from './powerbox/gate.ts';
import { type HostState, tablesOf } from './state/host-state.ts';
import type { GrantRecord, HostTables } from './state/records.ts';
import type { CallLevel } from './state/terms.ts';

/** A call that a grant allows, as a firewall sees it. All of it is data. */
export interface CallFacts {
  readonly session: string;
  readonly grant: string;
  readonly petname: string;
  /** The name of the offer that the grant leads to. */
  readonly offer: string;
  readonly method: string;
  /** References in them are opaque objects. */
  readonly args: readonly unknown[];
  /** What the maker of the offer declares about its methods. */
  readonly effects: Effects | undefined;
  /** The methods that the offer says change nothing. */
  readonly reads: readonly string[];
  /** The highest level at which the grant may go on without a person. */
  readonly level: CallLevel;
  /** The terms of the grant make each call of this method wait anyway. */
  readonly waits: boolean;
}

/** The decision of a firewall about one call. */
export interface CallDecision {
  /** The call waits for a granter. */
  readonly waits: boolean;
  /** Fields of the ledger line of the call. Plain data without secrets and without text of the call. */
  readonly trace: Readonly<Record<string, string | number | boolean>>;
  /** Lines for the granter: why the call waits. Text of ours. */
  readonly reasons: readonly string[];
}

/** Decides about each call, synchronously and in the turn of the call. Throws a `CapError` to refuse it at no cost. */
export interface CallFirewall {
  decide(call: CallFacts): CallDecision;
}

/** In a turn: asks the firewall about a call of a grant of this host. */
export function guardCall(hostState: HostState, firewall: CallFirewall, call: GuardedCall): Guarding | undefined {
  const tables = tablesOf(hostState);
  const grant = tables.grants.get(call.grant);
  // A grant that the program made itself is no grant of a session.
  if (grant === undefined || !leadsToOffer(grant)) return undefined;
  const facts = factsOf(tables, grant, call);
  const decision = decideSafely(firewall, facts);
  const { trace: fields } = decision;
  if (!decision.waits || facts.waits) return { fields };
  return { fields, judge: spawn(GateAskActor(hostState, grant.id, undefined, decision.reasons)) };
}

/**
 * A delegated grant and a facet that asks pass the call on to another grant, which is asked about. A delegated grant of
 * an earlier version is not marked: its calls are assessed twice, and never less strictly.
 */
const leadsToOffer = ({ delegated, asks }: GrantRecord): boolean => delegated !== true && asks !== true;

function factsOf(tables: HostTables, grant: GrantRecord, { method, args }: GuardedCall): CallFacts {
  const info = tables.offerInfo.get(grant.offered);
  const waits = grant.waits === true || (grant.waits ?? []).includes(method) || (grant.drafts ?? []).includes(method);
  return {
    session: grant.session,
    grant: grant.id,
    petname: grant.petname,
    offer: grant.offered,
    method,
    args,
    effects: info?.effects,
    reads: info?.reads ?? [],
    level: grant.level ?? 'medium',
    waits,
  };
}

const failed: CallDecision = Object.freeze({
  waits: true,
  trace: Object.freeze({ assess: 'failed' }),
  reasons: Object.freeze(['the assessment of the call failed, so a person decides']),
});

function decideSafely(firewall: CallFirewall, facts: CallFacts): CallDecision {
  try {
    return firewall.decide(facts);
  } catch (error) {
    // The grant writes the line of a refusal.
    if (!(error instanceof CapError)) return failed;
    throw error;
  }
}
