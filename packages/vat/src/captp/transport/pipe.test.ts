/** A channel to a process that writes what it likes. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Duplex as Stream } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { captp } from '../../index.ts';
import { fromChild } from './child.ts';
import { type PipeChannel, pipeChannel } from './pipe.ts';

/** A node that runs `code`; descriptor 3 is its end of the channel. */
function start(code: string): { readonly child: ChildProcess; readonly channel: PipeChannel } {
  const child = spawn(process.execPath, ['-e', code], {
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
    env: { NODE_CHANNEL_FD: '3', NODE_CHANNEL_SERIALIZATION_MODE: 'json' },
  });
  const gone = new Promise<void>((done) => child.once('exit', () => done()));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await gone;
  });
  return { child, channel: pipeChannel(child.stdio[3] as unknown as Stream) };
}

const over = (channel: PipeChannel): Promise<unknown> => new Promise((done) => channel.once('disconnect', done));
const heard = (channel: PipeChannel): Promise<unknown> => new Promise((done) => channel.once('message', done));

test('messages go both ways, in order, whole, and the end of the process is told last', async () => {
  const { channel } = start(`
    process.on('message', (m) => process.send({ echo: m }, () => { if (m === 'end') process.disconnect(); }));
    for (let i = 0; i < 300; i += 1) process.send('early ' + i);`);
  const got: unknown[] = [];
  channel.on('message', (message) => got.push(message));
  const end = over(channel);
  const large = 'ü"\\\n'.repeat(200_000);
  channel.send(large);
  channel.send('end');
  await end;
  expect(got).toHaveLength(302);
  expect(got.slice(0, 300)).toEqual(Array.from({ length: 300 }, (_, i) => `early ${i}`));
  expect((got[300] as { echo: string }).echo === large).toBe(true);
  expect(got[301]).toEqual({ echo: 'end' });
  expect(channel.connected).toBe(false);
  const refused = new Promise((done) => channel.send('late', done));
  expect(await refused).toBeInstanceOf(Error);
});

test('an error in a listener ends its own channel and nothing else', { timeout: 20_000 }, async () => {
  const [one, two] = [start("process.send('a message')"), start("process.once('message', (m) => process.send(m))")];
  const injected = new Error('a fault in a listener');
  const end = over(one.channel);
  const fault = new Promise((done) => one.channel.on('fault', done));
  one.channel.on('message', () => {
    throw injected;
  });
  expect(await fault).toBe(injected);
  await end;
  two.channel.send('to another');
  expect(await heard(two.channel)).toBe('to another');
});

// Node's own end of the channel dies of the first and the third, and keeps all of the last.
const hostile: Readonly<Record<string, string>> = {
  'no JSON': '"this is no json\\n"',
  'half a text': "'\"\\n'",
  'an acknowledgement of a descriptor that was never sent': '\'{"cmd":"NODE_HANDLE_ACK"}\\n\'',
  'a descriptor that is not there': '\'{"cmd":"NODE_HANDLE","type":"net.Server","msg":1}\\n\'',
  'no packet': "'null\\n'",
  'nesting without end': "'['.repeat(2_000_000) + '\\n'",
  'a record with many keys': "'{' + Array.from({ length: 300_000 }, (_, i) => '\"' + i + '\":0').join() + '}\\n'",
  'bytes that are no text': 'Buffer.from([0xff, 0xfe, 0, 10])',
  'a line without an end': "'\"' + 'x'.repeat(12_000_000)",
};
for (const [what, bytes] of Object.entries(hostile))
  test(`${what} ends the connection and nothing else`, async () => {
    const write = `
      const fs = require('node:fs');
      let rest = Buffer.from(${bytes});
      const go = () => {
        try { while (rest.length > 0) rest = rest.subarray(fs.writeSync(3, rest)); } catch (e) { if (e.code !== 'EAGAIN') return; setTimeout(go, 5); }
      };
      go(); setInterval(() => {}, 1000);`;
    const connection = captp(fromChild(start(write).channel));
    expect((await connection.closed).code).toBe(4400);
  });

test('a flood of small messages leaves others their turn', async () => {
  const { channel } = start(`
    const line = Buffer.from('"x"\\n'.repeat(10_000));
    const fs = require('node:fs');
    for (;;) try { fs.writeSync(3, line); } catch (e) { if (e.code === 'EPIPE') break; }`);
  let count = 0;
  channel.on('message', () => {
    count += 1;
  });
  await heard(channel);
  const before = count;
  for (let round = 0; round < 20; round += 1) await new Promise((done) => setImmediate(done));
  // One or two a round, not a whole buffer of them.
  expect(count - before).toBeLessThan(200);
  const end = over(channel);
  channel.disconnect();
  await end;
});
