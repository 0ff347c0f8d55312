/**
 * Opens a host: checks the options, opens the store and the vats, carries out a stop that was ordered, and
 * starts.
 */
import { guardCalls } from '@hob/revocable';
import { CapError, openStore, openVats, type Store, systemClock, systemRandom, type Vats } from '@hob/vat';
import { base32, type OptionNames, takeOptions } from '@hob/vat/forwarder';
import { definitions } from './definitions.ts';
import { holdPlace, openStateDir } from './drivers/state-dir.ts';
import { type CallFirewall, guardCall } from './firewall.ts';
import { pendingStop } from './granters/stop.ts';
import { hookPowers } from './hooks-driver.ts';
import { LiveHost } from './host.ts';
import { type HostState, HostStateActor } from './state/host-state.ts';
import { takeMost } from './state/most.ts';
import type { Host, HostOptions } from './types.ts';

const hostOptions: OptionNames<HostOptions> = {
  stateDir: true,
  store: true,
  sentinel: true,
  onCheckpoint: true,
  blank: true,
  clock: true,
  random: true,
  observe: true,
  graceMs: true,
  requestMs: true,
  onRequest: true,
  suggest: true,
  most: true,
  withoutLockdown: true,
  firewall: true,
  definitions: true,
};

/**
 * Opens a host on `stateDir`, or continues the one that lies there. Close it with `await using` or
 * `close()`. Errors: `E_NO_LOCKDOWN` (the intrinsics of this process are not hardened), `invalid` (an option, two
 * definitions with one label), `unavailable` (the folder or its store cannot be opened, or another process has it).
 */
export async function openHost(given: HostOptions): Promise<Host> {
  const options = takeOptions(given, 'openHost', hostOptions);
  if (options.withoutLockdown !== true && !isLockedDown())
    throw new CapError(
      'E_NO_LOCKDOWN',
      "any module of this process could change what an intrinsic does, and so what every session may do: make import '@hob/host/lockdown' the first line of the program (or say withoutLockdown: true, if you trust every module in it)",
    );
  const { stateDir, clock = systemClock(), random = systemRandom, graceMs = 600_000, requestMs = 3_600_000 } = options;
  if (!(typeof graceMs === 'number' && graceMs >= 0 && graceMs <= longestTimer))
    throw new CapError('invalid', 'graceMs is a number of ms, 24 days at the most');
  if (!(typeof requestMs === 'number' && requestMs > 0 && requestMs <= longestTimer))
    throw new CapError('invalid', 'requestMs is a number of ms above 0, 24 days at the most');
  const most = takeMost(options.most);
  const { store, letGo } = await storeOf(options);
  let vats: Vats | undefined;
  try {
    const all = new Set([...definitions, ...(options.definitions ?? [])]);
    const { firewall } = options;
    const stop = pendingStop(stateDir);
    // Before any stored message runs, so that none goes on without an assessment.
    const first =
      firewall === undefined && stop === undefined
        ? undefined
        : async (opened: Vats): Promise<void> => {
            if (firewall !== undefined) await putBeforeCalls(opened, firewall, `hob-hooks:${base32(random(10))}`);
            await stop?.(opened);
          };
    const { onCheckpoint, blank, observe } = options;
    vats = await openVats({
      store,
      clock,
      random,
      definitions: [...all],
      ...(first === undefined ? {} : { first }),
      ...(onCheckpoint === undefined ? {} : { onCheckpoint }),
      ...(blank === undefined ? {} : { blank }),
      ...(observe === undefined ? {} : { onFault: (error) => observe({ id: base32(random(5)), error }) }),
    });
    const vat = vats.vat('host');
    const hostState = await vat.root('house', () => HostStateActor({}));
    const host = new LiveHost({
      stateDir,
      store,
      letGo,
      vats,
      vat,
      hostState,
      random,
      clock,
      graceMs,
      requestMs,
      most: most.connections,
      observe,
    });
    await host.start(options);
    return host;
  } catch (error) {
    await vats?.close();
    await store.close();
    letGo();
    throw error;
  }
}

/** The store that the program gives, or the one in the folder of the state. `letGo` after it is closed. */
async function storeOf({
  stateDir,
  store,
  sentinel,
}: HostOptions): Promise<{ readonly store: Store; readonly letGo: () => void }> {
  let letGo: () => void;
  try {
    if (store !== undefined && sentinel !== undefined)
      throw new CapError('invalid', 'the sentinel of a store is named where that store is opened: leave it out here');
    openStateDir(stateDir);
    letGo = holdPlace(stateDir, store !== undefined);
  } catch (error) {
    await store?.close();
    throw error;
  }
  return { store: store ?? (await openStore({ path: stateDir, sentinel })), letGo };
}

/** Those that the code of a host relies on most. `lockdown()` freezes them all at once. */
const isLockedDown = (): boolean =>
  [Object, Array, Map, Set, Promise, RegExp, String].every(
    (intrinsic) => Object.isFrozen(intrinsic) && Object.isFrozen(intrinsic.prototype),
  );

async function putBeforeCalls(vats: Vats, firewall: CallFirewall, name: string): Promise<void> {
  const hostState = (await vats.vat('host').root('house', () => HostStateActor({}))) as unknown as HostState;
  const by = { firewall, hooks: firewall.hooks === undefined ? undefined : hookPowers(firewall.hooks, name) };
  guardCalls(vats, (call) => guardCall(hostState, by, call));
}

const longestTimer = 24 * 86_400_000;
