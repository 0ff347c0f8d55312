/**
 * The first import of a guest's process: hardens the intrinsics before anything else runs. Errors keep their
 * stacks, and these stay in this process.
 */
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
