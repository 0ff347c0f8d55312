/** The driver through which a call waits for the programs that look at it. */
import { driver } from '@hob/vat';
import type { CallHooks } from './firewall.ts';
import type { HookPowers } from './state/hooked.ts';

/** `name` is of this process alone: a call that waited in an earlier one finds nobody, and does not go on. */
export function hookPowers(hooks: CallHooks, name: string): HookPowers {
  return driver<HookPowers>(
    {
      before: ([call], { signal }) => hooks.before(call, signal),
      after: ([call, outcome], { signal }) => hooks.after(call, outcome, signal),
    },
    { name },
  ) as unknown as HookPowers;
}
