/**
 * The serving process of `fs.ts`: a directory cap of each backend over CapTP, each on a port of its own. It
 * sends the ports to its parent. A backend that this machine lacks has no port.
 */
import './lockdown.ts';
import { openFsCap } from '@hob/caps-fs';
import { captp, driverOf, fromWebSocket } from '@hob/vat';
import { WebSocketServer } from 'ws';

process.on('disconnect', () => process.exit());
const ports: Record<string, number> = {};
for (const backend of ['proc', 'native'] as const) {
  const cap = await openFsCap(process.argv[2] ?? '', { backend }).catch(() => undefined);
  if (cap === undefined) continue;
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false, maxPayload: 64 << 20 });
  server.on('connection', (socket) => {
    captp(fromWebSocket(socket as never), { dialect: 'hob.1', bootstrap: driverOf(cap) });
  });
  await new Promise((listening) => server.once('listening', listening));
  ports[backend] = (server.address() as { port: number }).port;
}
process.send?.(ports);
