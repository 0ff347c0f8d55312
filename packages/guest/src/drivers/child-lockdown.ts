/** The first import of a guest's process: hardened intrinsics, before anything else runs. Errors keep their stacks, which stay here. */
import 'ses';

lockdown({
  errorTaming: 'unsafe',
  consoleTaming: 'unsafe',
  overrideTaming: 'severe',
  domainTaming: 'unsafe',
  stackFiltering: 'verbose',
  errorTrapping: 'none',
  unhandledRejectionTrapping: 'none',
});
