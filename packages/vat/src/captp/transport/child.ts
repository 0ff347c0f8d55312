/** Makes a duplex from a child process with an IPC channel, or from `process` in the child. */
import { fromBase64, toBase64 } from '../../core/drivers/platform.ts';
import { CapError } from '../../core/errors.ts';
import { type Duplex, Inbox } from '../session/duplex.ts';

/** The methods that both ends of an IPC channel have. */
interface Channel {
  readonly connected?: boolean;
  send?(message: unknown, then: (error: Error | null) => void): boolean;
  on(event: 'message' | 'disconnect' | 'fault', then: (message: unknown) => void): unknown;
  disconnect?(): void;
}

/** Text is sent as it is. The encoding of the channel is JSON, which has neither bytes nor close codes. */
type Packet = string | { readonly bytes: string } | { readonly close: readonly [code: number, reason: string] };

const lost = 1006;

/** The other process may run any program. A message that is not a `Packet` ends the connection. */
export function fromChild(child: object): Duplex {
  const channel = child as Channel;
  if (typeof channel.send !== 'function' || typeof channel.on !== 'function')
    throw new CapError('invalid', 'this process has no IPC channel: start it with stdio "ipc"');
  const inbox = new Inbox();
  let buffered = 0;
  const end = (code: number, reason: string): void => {
    if (inbox.ended) return;
    inbox.end(code, reason);
    if (channel.connected === true) channel.disconnect?.();
  };
  const sendPacket = (packet: Packet, bytes: number, then: () => void = () => {}): void => {
    if (inbox.ended || channel.connected !== true) return then();
    buffered += bytes;
    // If the peer dies between the check and the write, `disconnect` reports it.
    channel.send?.(
      packet,
      inbox.guard(() => {
        buffered -= bytes;
        then();
      }),
    );
  };
  const onMessage = (packet: unknown): void => {
    if (typeof packet === 'string') return inbox.frame(packet);
    const { bytes, close } = (packet ?? {}) as { readonly bytes?: unknown; readonly close?: unknown };
    if (typeof bytes === 'string') return inbox.frame(fromBase64(bytes));
    const [code, reason] = Array.isArray(close) ? (close as unknown[]) : [];
    if (typeof code === 'number' && typeof reason === 'string') end(code, reason);
    else end(4400, 'the other process says what is no frame');
  };
  channel.on('message', inbox.guard(onMessage));
  channel.on(
    'disconnect',
    inbox.guard(() => end(lost, 'the other process is gone')),
  );
  // Only `PipeChannel` emits `fault`: an error of the channel or of another listener.
  channel.on('fault', (error) => inbox.fault(error));
  return Object.freeze({
    send: (frame: string | Uint8Array): void =>
      typeof frame === 'string'
        ? sendPacket(frame, frame.length)
        : sendPacket({ bytes: toBase64(frame) }, frame.length),
    get buffered(): number {
      return buffered;
    },
    onFrame: (then: (frame: string | Uint8Array) => void) => inbox.onFrame(then),
    onClose: (then: (why: { code: number; reason: string }) => void) => inbox.onClose(then),
    onFault: (then: (error: unknown) => void) => inbox.onFault(then),
    close: (code: number, reason: string): void => sendPacket({ close: [code, reason] }, 0, () => end(code, reason)),
  });
}
