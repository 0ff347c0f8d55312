/**
 * `hob mcp`: the verbs of a session as an MCP server over standard input and output.
 *
 * Promise: nothing but the protocol is written to the output. The end of the input ends the calls that wait for an
 * answer, and the process leaves the session. Jobs in the background go on.
 */
import type { Readable, Writable } from 'node:stream';
import { type OptionNames, takeOptions } from '@hob/vat/forwarder';
import { Entrance } from './drivers/entrance.ts';
import { LineTransport } from './drivers/line-transport.ts';
import { type Served, serve } from './drivers/sdk.ts';
import { secretFrom, secretInFile } from './drivers/secret.ts';
import { openFace } from './open-face.ts';
import type { HeldSession } from './verbs/session.ts';

/** Where the session is, and who speaks to it. */
export interface StdioOptions {
  /** The address that the host printed. */
  readonly url: string;
  /** A file of mode 0600, or an open descriptor. */
  readonly secret: { readonly file: string } | { readonly descriptor: number };
  /** The version that clients are told. */
  readonly version: string;
  readonly input: Readable;
  readonly output: Writable;
}

const stdioOptions: OptionNames<StdioOptions> = {
  url: true,
  secret: true,
  version: true,
  input: true,
  output: true,
};

/**
 * Serves until the input ends. Errors, before anything is served: `invalid` (the secret, the address), `denied`,
 * `limit`, `unavailable`, `disconnected`.
 */
export async function serveStdio(options: StdioOptions): Promise<void> {
  const { url, secret, version, input, output } = takeOptions(options, 'serveStdio', stdioOptions);
  const key = 'file' in secret ? secretInFile(secret.file) : secretFrom(secret.descriptor);
  const entrance = new Entrance<HeldSession>(url, key);
  let served: Served | undefined;
  const face = await openFace(() => entrance.session(), { onGrant: () => served?.announce() });
  const transport = new LineTransport(input, output);
  const ended = new Promise<void>((resolve) => {
    input.once('end', resolve);
    input.once('close', resolve);
    output.once('error', () => resolve());
  });
  served = serve(face, version, transport);
  await ended;
  await served.close();
  await face.close();
  await entrance.close();
}
