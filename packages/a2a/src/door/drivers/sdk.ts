/** The parts of the SDK of A2A that the door uses, and the time as A2A writes it. */
export * as errors from '@a2a-js/sdk/errors';
export { type A2ARequestHandler, JsonRpcTransportHandler, ServerCallContext } from '@a2a-js/sdk/server';

/** A time in ms since 1970 as text. */
export const timeText = (ms: number): string => new Date(ms).toISOString();

/** A text as a time in ms since 1970. NaN if it is none. */
export const timeOf = (text: string): number => Date.parse(text);
