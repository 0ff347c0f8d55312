/** Locks down every process of the bench: eventual send, then hardened intrinsics. Errors stay readable. */
import 'ses';
import '@endo/eventual-send/shim.js';

lockdown({
  overrideTaming: 'severe',
  errorTaming: 'unsafe',
  consoleTaming: 'unsafe',
  errorTrapping: 'none',
  unhandledRejectionTrapping: 'none',
  domainTaming: 'unsafe',
});
