/**
 * The first import of every entry point: hardened intrinsics for every process of ours that holds a cap.
 *
 * Libraries never call `lockdown()`. The order matters: `ses`, then the eventual-send shim, then lockdown, then the rest.
 */
import 'ses';
import '@endo/eventual-send/shim.js';

lockdown({
  errorTaming: 'unsafe',
  consoleTaming: 'unsafe',
  overrideTaming: 'severe',
  domainTaming: 'unsafe',
  errorTrapping: 'none',
  unhandledRejectionTrapping: 'none',
});
