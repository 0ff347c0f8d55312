/**
 * `@hob/vat/testing`: a clock that a test moves by hand, and a wire in memory with the faults of a real one.
 */
export { type Faults, memoryPair } from './captp/transport/memory-pair.ts';
export { type TestClock, testClock } from './testing/test-clock.ts';
export { development } from './turn/development.ts';
