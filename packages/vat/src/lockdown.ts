/**
 * `@hob/vat/lockdown`: hardens the intrinsics of this process. It is the first import of a program that holds caps, since
 * what was loaded before may have kept a way around it.
 *
 * Libraries never call `lockdown()`; a program asks for it by importing this. In a process that is locked down already it
 * does nothing. The order matters: `ses`, then the eventual-send shim, then lockdown, then the rest.
 */
import 'ses';
import '@endo/eventual-send/shim.js';

if (!Object.isFrozen(Object.prototype))
  lockdown({
    errorTaming: 'unsafe',
    consoleTaming: 'unsafe',
    overrideTaming: 'severe',
    domainTaming: 'unsafe',
    errorTrapping: 'none',
    unhandledRejectionTrapping: 'none',
  });
