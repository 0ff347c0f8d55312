/** Sessions with a child process, over its IPC channel. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { captp, E } from '../../index.ts';
import { fromChild } from './child.ts';

interface Counter {
  next(): number;
  echo(value: unknown): unknown;
  fill(bytes: number): Uint8Array;
}

function child(...args: string[]): ChildProcess {
  const root = join(import.meta.dirname, '../../../../..');
  const made = fork(join(import.meta.dirname, '../../../test/ipc-child.ts'), args, {
    cwd: root,
    execArgv: ['--import', './scripts/resolve.mjs'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  onTestFinished(
    () =>
      new Promise<void>((done) => {
        if (made.exitCode !== null || made.signalCode !== null) return done();
        made.once('exit', () => done());
        made.kill('SIGKILL');
      }),
  );
  return made;
}

test('calls, bytes and callbacks cross; the close says its code to both sides', async () => {
  const process = child();
  const said = new Promise<unknown>((resolve) => process.once('exit', resolve));
  const connection = captp<Counter>(fromChild(process));
  const counter = connection.bootstrap;
  expect(await Promise.all([E(counter).next(), E(counter).next()])).toEqual([1, 2]);
  const bytes = new Uint8Array([0, 1, 255]);
  expect(await E(counter).echo({ bytes })).toEqual({ bytes });
  expect(((await E(counter).fill(3_000_000)) as Uint8Array).length).toBe(3_000_000);
  connection.close('enough', 4403);
  expect(await connection.closed).toEqual({ code: 4403, reason: 'enough' });
  // The child exits with what it was told, less what an exit code cannot say.
  expect(await said).toBe(4403 - 4300);
});

test('a child that dies breaks what waits for it', async () => {
  const process = child();
  const connection = captp<Counter>(fromChild(process));
  await E(connection.bootstrap).next();
  const waits = E(connection.bootstrap).fill(1);
  process.kill('SIGKILL');
  await expect(waits).rejects.toMatchObject({ code: 'disconnected' });
  expect((await connection.closed).code).toBe(1006);
  await expect(E(connection.bootstrap).next()).rejects.toMatchObject({ code: 'disconnected' });
});

test('a child that says what is no frame is left', async () => {
  const connection = captp<Counter>(fromChild(child('junk')));
  expect(await connection.closed).toEqual({ code: 4400, reason: 'the other process says what is no frame' });
});

test('an error in a listener ends neither the process nor another connection', { timeout: 20_000 }, async () => {
  const start = (): ChildProcess => {
    const made = spawn(
      process.execPath,
      ['-e', "process.once('message', () => process.disconnect()); process.send('a frame')"],
      {
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      },
    );
    onTestFinished(
      () => new Promise<void>((done) => (made.exitCode === null ? void made.once('exit', () => done()) : done())),
    );
    return made;
  };
  const [one, two] = [fromChild(start()), fromChild(start())];
  const injected = [new Error('a fault at a frame'), new Error('a fault at the close')];
  const faults: unknown[] = [];
  one.onFault?.((error) => faults.push(error));
  const over = new Promise<void>((done) =>
    one.onClose(() => {
      done();
      throw injected[1];
    }),
  );
  one.onFrame(() => {
    one.send('end');
    throw injected[0];
  });
  await over;
  expect(await new Promise((resolve) => two.onFrame(resolve))).toBe('a frame');
  expect(faults).toEqual(injected);
  const end = new Promise((resolve) => two.onClose(resolve));
  two.send('end');
  await end;
});

test('a process without a channel is refused', () => {
  expect(() => fromChild({})).toThrowError(/no IPC channel/);
});
