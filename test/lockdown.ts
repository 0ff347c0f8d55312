/**
 * The regime `locked`: hardened intrinsics, as in every process of ours that holds a cap.
 *
 * The order matters: `ses`, then the shim (without it Endo finds no `HandledPromise`), then `lockdown`, all before
 * anything of Endo is loaded. The options are those that leave errors and the console as they are under vitest.
 * Files that share a process load this once for each file; `lockdown()` runs for the first.
 */
import 'ses';
import '@endo/eventual-send/shim.js';

if (!Object.isFrozen(Object.prototype))
  lockdown({
    overrideTaming: 'severe',
    errorTaming: 'unsafe',
    consoleTaming: 'unsafe',
    errorTrapping: 'none',
    unhandledRejectionTrapping: 'none',
    domainTaming: 'unsafe',
  });
