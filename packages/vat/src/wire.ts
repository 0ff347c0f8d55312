/** `@hob/vat/wire`: CapTP sessions, the transports below them, and what limits them. */
export {
  type CapTPOptions,
  type Connected,
  type Connection,
  captp,
  type DialectOrOcapn as Dialect,
  dialects,
  release,
  type WireFault,
} from './captp/captp.ts';
export { connect } from './captp/connect.ts';
export { checkJson } from './captp/dialects/parse-frame.ts';
export { closeCodes, type Duplex } from './captp/session/duplex.ts';
export { type CapTPLimits, defaultLimits } from './captp/session/limits.ts';
export type { CapTPStats } from './captp/session/session.ts';
export { type BrowserSocket, fromBrowserSocket } from './captp/transport/browser-socket.ts';
export { fromChild } from './captp/transport/child.ts';
export { type PipeChannel, pipeChannel } from './captp/transport/pipe.ts';
export { fromWebSocket, largestFrame } from './captp/transport/websocket.ts';
export { chargeConnection } from './core/meter.ts';
export { type ByteSink, type ByteSource, iterate } from './eventual/streams.ts';
