/**
 * `@hob/vat/captp`: references across a wire.
 *
 * Apart from the package's first face because the Endo packages need `ses` and the eventual-send shim: whoever only wants actors
 * should not load them. They are loaded here, without lockdown: that is the entry point's to decide, and comes before.
 */
import 'ses';
import '@endo/eventual-send/shim.js';

export { fromWebSocket, largestFrame } from '../drivers/websocket.ts';
export { connect } from './connect.ts';
export { closeCodes, type Duplex } from './duplex.ts';
export { type EndoConnection, type EndoOptions, endoConnection } from './endo.ts';
export { checkFrame, frameLimits } from './frame.ts';
