/**
 * Waits for the programs that look at a call before it goes on.
 *
 * Promise: the call goes on once, or not at all. It goes on after every program has returned, and after a granter has
 * said yes if one of them wants it. If a program cannot be run, or this process ends meanwhile, the call does not go
 * on. A call that a program blocks costs no use.
 */
import type { Judge } from '@hob/revocable';
import { type Definition, define, E, ledgerLine } from '@hob/vat';
import { askGranters, refuseUnseen } from '../powerbox/gate.ts';
import type { HookedCall, HookPowers, HookVerdict } from '../state/hooked.ts';
import type { HostState } from '../state/host-state.ts';

/** A call, without what the one that asks about it brings. */
export type HookedCap = Omit<HookedCall, 'method' | 'args'>;

/** The decision before the programs ran. */
interface DecidedBefore {
  /** It waits for a granter, whatever they say. */
  readonly waits: boolean;
  /** The terms of the grant make it wait: whoever keeps them asks, with the reasons of nobody. */
  readonly termsWait: boolean;
  readonly reasons: readonly string[];
  /** If it waits, it is for a person alone. */
  readonly personOnly: boolean;
}

export const HookJudgeActor: Definition<
  Judge,
  [hostState: HostState, powers: HookPowers, cap: HookedCap, decided: DecidedBefore, reviewer?: Judge | undefined]
> = define('host.hook-judge', (_bcom, hostState, powers, cap, decided, reviewer) => ({
  ask(call, target, charged) {
    const asking = { hostState, gatedGrant: cap.grant, call, target, charged };
    const looked = E(powers as object as Promise<HookPowers>).before({ ...cap, method: call.method, args: call.args });
    return E.when(looked as unknown as Promise<HookVerdict>, (verdict) => {
      ledgerLine('assess', { grant: cap.grant, method: call.method.slice(0, 64), ...verdict.trace });
      if (verdict.blocks !== undefined) return refuseUnseen(asking, verdict.blocks);
      if (decided.termsWait) return true;
      if (!(decided.waits || verdict.waits))
        return reviewer === undefined ? true : E(reviewer).ask(call, target, charged);
      const reasons = [...decided.reasons.map((reason) => ['why it waits', reason] as const), ...verdict.reasons];
      return askGranters({ ...asking, reasons, personOnly: decided.personOnly });
    }) as never;
  },
}));
