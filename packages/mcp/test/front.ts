/**
 * A door in front of the path `/mcp` of a host that shows the secret of a session, for programs that can show none. It
 * passes everything on, and changes its own address in `Host` and `Origin` into that of the host. For tests.
 */
import { createServer, request } from 'node:http';
import { onTestFinished } from 'vitest';
import type { World } from './world.ts';

/** Returns its address. It ends with the test. */
export async function frontOf({ url, session }: Pick<World, 'url' | 'session'>): Promise<string> {
  const inner = new URL(url);
  let own = '';
  const mapped = (value: string): string => (value.endsWith(own) ? value.replace(own, inner.host) : value);
  const front = createServer((from, to) => {
    const { host = '', origin, ...rest } = from.headers;
    const headers = {
      ...rest,
      host: mapped(host),
      ...(origin === undefined ? {} : { origin: mapped(origin) }),
      authorization: `Bearer ${session.secret}`,
    };
    const sent = request({ host: inner.hostname, port: inner.port, method: from.method, path: from.url, headers });
    sent.on('response', (got) => {
      to.writeHead(got.statusCode ?? 502, got.headers);
      got.pipe(to);
    });
    sent.on('error', () => to.destroy());
    to.on('close', () => sent.destroy());
    from.pipe(sent);
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    front.closeAllConnections();
    await new Promise((resolve) => front.close(resolve));
  });
  own = `127.0.0.1:${(front.address() as { readonly port: number }).port}`;
  return `http://${own}/mcp`;
}
