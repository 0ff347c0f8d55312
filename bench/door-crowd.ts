/**
 * `door-crowd.ts URL SECRET`: an agent that enters each of 254 children, and 256 sockets with requests
 * whose body never ends. A connection that is cut or refused is tried again at once, until the process is
 * ended. It prints a line when each was tried once.
 */
import './lockdown.ts';
import { connect as dialTcp } from 'node:net';
import type { SessionFace } from '@hob/host';
import { connect, E } from '@hob/vat';

const [url = '', secret = ''] = process.argv.slice(2);
const { port, host } = new URL(url);
const agent = await connect<SessionFace>(url, { secret });
const secrets: string[] = [];
for (let i = 0; i < 254; i += 1)
  secrets.push((await E(agent.bootstrap).spawnChild({ name: `p${process.pid}-${i}`, caps: {} })).secret);

async function keepEntering(child: string, tried: () => void): Promise<never> {
  for (;;) {
    try {
      const connection = await connect(url, { secret: child, patienceMs: 0 });
      tried();
      await connection.closed;
    } catch {
      tried();
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function keepAsking(bearer: string | undefined, tried: () => void): void {
  const socket = dialTcp(Number(port), '127.0.0.1', () => {
    tried();
    const authorization = bearer === undefined ? '' : `Authorization: Bearer ${bearer}\r\n`;
    socket.write(
      `POST /object/${'a'.repeat(52)} HTTP/1.1\r\nHost: ${host}\r\n${authorization}Content-Length: 9999\r\n\r\n{`,
    );
  });
  socket.resume();
  socket.on('error', () => {});
  socket.once('close', () => setTimeout(() => keepAsking(bearer, () => {}), 10));
}

const all: Promise<void>[] = [];
const once = (start: (tried: () => void) => void): void => void all.push(new Promise((tried) => start(() => tried())));
for (const child of secrets) once((tried) => void keepEntering(child, tried));
const bearers = [undefined, 'hob1_wrong', secret, ...secrets];
for (let i = 0; i < 256; i += 1) once((tried) => keepAsking(bearers[i % bearers.length], tried));
await Promise.all(all);
process.send?.('there');
