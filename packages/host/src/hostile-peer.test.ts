/**
 * A peer with a session's secret, against a real host: whatever it says, the host and the other sessions go
 * on.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { connect, E } from '@hob/vat';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { Program, readiness } from '../../../test/processes.ts';
import { scratch } from '../test/test-host.ts';
import type { Granter } from './index.ts';

let folder: string;
let host: Program;
beforeEach(() => {
  folder = scratch();
  mkdirSync(join(folder, 'root'));
  writeFileSync(join(folder, 'root', 'notes.txt'), 'for the agent\n');
  host = new Program('workspace', ['--root', join(folder, 'root'), '--state', join(folder, 'state')], {});
});
afterEach(async () => {
  await host.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A peer by hand: says operations of `hob.1`, and waits for answers. */
class Peer {
  readonly #socket: WebSocket;
  readonly #said: (readonly unknown[])[] = [];
  #wake: () => void = () => {};
  closed: number | undefined;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data, binary) => {
      if (!binary) this.#said.push(...(JSON.parse(String(data)) as unknown[][]));
      this.#wake();
    });
    socket.on('close', (code) => {
      this.closed = code;
      this.#wake();
    });
  }
  static async enter(url: string, secret: string): Promise<Peer> {
    const socket = new WebSocket(url, ['hob.1'], { headers: { authorization: `Bearer ${secret}` } });
    const peer = new Peer(socket);
    await new Promise((opened, failed) => socket.once('open', opened).once('error', failed));
    return peer;
  }
  say(...operations: readonly (readonly unknown[])[]): void {
    this.#socket.send(JSON.stringify(operations));
  }
  /**
   * Whether the question was answered, and with which code; the close code where the connection closed
   * instead.
   */
  async answer(question: number): Promise<string> {
    for (;;) {
      const said = this.#said.find(([name, id]) => (name === 'return' || name === 'fail') && id === question);
      if (said !== undefined) return `${said[0]} ${said[2]}`;
      if (this.closed !== undefined) return `closed ${this.closed}`;
      await new Promise<void>((wake) => {
        this.#wake = wake;
      });
    }
  }
  vanish(): Promise<void> {
    return new Promise((gone) => {
      this.#socket.once('close', () => gone());
      this.#socket.terminate();
    });
  }
}

test('a "return" sent to an answer that is broken, or about to be, ends neither the host nor the session', async () => {
  const { url, session, granter } = await readiness(host);
  const other = await connect<Granter>(url, { secret: granter.secret });
  const peer = await Peer.enter(url, session.secret as string);
  peer.say(['deliver', 0, 'cap', ['workspace'], 1]);
  let question = 1;
  for (const ending of ['return', 'abort', 'close', 'next'])
    for (let ms = 0; ms < 12; ms += 1) {
      const broken = question + 1;
      question += 2;
      peer.say(['deliver', [1], 'readText', ['missing'], broken]);
      // Answers break, are committed and are said one after the other: some of these calls come at each of
      // these moments.
      if (ms === 11) expect(await peer.answer(broken)).toBe('fail NOT_FOUND');
      else await setTimeout(ms);
      peer.say(['deliver', [broken], ending, [], question]);
      expect(await peer.answer(question)).toBe('fail NOT_FOUND');
    }
  expect(await E(other.bootstrap).list()).toHaveLength(2);
  await peer.vanish();
  for (let ms = 0; ms < 12; ms += 1) {
    const next = await Peer.enter(url, session.secret as string);
    next.say(['deliver', 0, 'cap', ['workspace'], 1], ['deliver', [1], 'readText', ['missing'], 2]);
    next.say(['deliver', [2], 'return', [], 3]);
    await setTimeout(ms);
    await next.vanish();
    expect(await E(other.bootstrap).list()).toHaveLength(2);
  }
  expect(host.child.exitCode).toBe(null);
  other.close();
  await other.closed;
});
