/**
 * A program that got out of its compartment: its process writes what it likes into the channel. The process
 * is a child of ours.
 */
import { spawn } from 'node:child_process';
import type { Duplex as Stream } from 'node:stream';
import { driver, E } from '@hob/vat';
import { pipeChannel } from '@hob/vat/wire';
import { expect, test } from 'vitest';
import { guestsFor, outcome } from '../test/guests.ts';
import { hasCodeCache, reading } from './drivers/child-code.ts';

/** In place of a sandbox: the same channel, another program. */
const spawnForger = (code: string) => async () => {
  const child = spawn(process.execPath, ['-e', code], {
    env: { NODE_CHANNEL_FD: '3', NODE_CHANNEL_SERIALIZATION_MODE: 'json' },
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise<{ ended: string }>((done) => child.once('exit', () => done({ ended: 'revoked' })));
  return {
    channel: pipeChannel(child.stdio[3] as unknown as Stream),
    pid: child.pid as number,
    ended,
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
};

/** A program that reads its code, runs none of it, and does `act` at the first frame. `raw` writes bytes. */
const forger = (act: string): string => `
  const fs = require('node:fs');
  ${reading}
  process.send({ ready: true });
  const raw = (bytes) => { let rest = Buffer.from(bytes); while (rest.length > 0) try { rest = rest.subarray(fs.writeSync(3, rest)) } catch (e) { if (e.code !== 'EAGAIN') throw e } };
  let n = 0;
  process.on('message', (m) => { if (m.warm) return; n += 1; if (n === 1) act(m) });
  const act = (m) => { ${act} };`;

const forgeries: Readonly<Record<string, string>> = {
  'no JSON': `raw('this is no json\\n')`,
  'an internal message of Node': `raw('{"cmd":"NODE_HANDLE_ACK"}\\n{"cmd":"NODE_HANDLE","type":"net.Server"}\\n')`,
  'no packet': `process.send({ bytes: 7 }); process.send(null); process.send([[]])`,
  'a frame that is none': `process.send('[')`,
  'operations that are none': `process.send(JSON.stringify([["nope", 1], {}, 7]))`,
  'calls of what was never offered': `for (let i = 0; i < 500; i += 1) process.send(JSON.stringify([["deliver", 900 + i, "readText", ["/etc/passwd"], i + 1]]))`,
  'its own end, with a code': `process.send({ close: [4403, 'x'.repeat(100000)] })`,
  'a line without an end': `raw('"' + 'x'.repeat(12_000_000))`,
  'nothing but more': `const l = '"' + '['.repeat(60000) + '"\\n'; for (let i = 0; i < 300; i += 1) raw(l)`,
  'what it never printed': `for (;;) { process.send({ said: 'x'.repeat(100000) }); if (n++ > 100) break }`,
  'ready, again and again': `for (let i = 0; i < 1000; i += 1) process.send({ ready: true }); process.exit()`,
  'compiled code for later processes': `process.send({ codeCache: 'AAAA' }); process.exit()`,
  'its death': `process.kill(process.pid, 'SIGKILL')`,
};

test('a process that writes anything invalid fails its program, and the host goes on', async () => {
  const calls = driver<{ count(): Promise<number> }>({ count: async () => 7 });
  for (const [what, act] of Object.entries(forgeries)) {
    const guests = await guestsFor({
      spawnConfined: spawnForger(forger(act)),
      pool: 0,
      limits: { wallMs: 20_000, outputBytes: 65_536 },
    });
    const { code, message } = await outcome(guests, 'return 1', { caps: { calls } });
    expect([what, code]).toEqual([what, expect.stringMatching(/^(?:E_PROGRAM|limit)$/)]);
    expect(message).not.toMatch(/time is limited/);
    await guests.close();
    expect(hasCodeCache()).toBe(false);
    expect(await E(calls).count()).toBe(7);
  }
}, 400_000);
