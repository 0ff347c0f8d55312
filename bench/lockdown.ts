/** The regime that peers run in: hardened intrinsics, eventual send before them. Errors and the console stay readable. */
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
