/**
 * A program in a read-only directory: the things it can do and cannot do, as root and as an ordinary user.
 *
 * The mount itself protects files and directories. It does not stop FIFOs and sockets, whose bytes are not in
 * the file system.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { needs, requires } from '../../../test/needs.ts';
import { type Starter, starter, USER } from '../test/as.ts';
import { type Builds, builds } from '../test/builds.ts';

const test = requires('linux', 'cc', 'userns', 'unprivileged', 'mkfifo');
const { O_RDWR, O_NONBLOCK } = fs.constants;

describe.each(needs('root') ? (['root', 'user'] as const) : (['user'] as const))('as %s', (name) => {
  let all: Builds;
  test.beforeAll(() => {
    all = builds();
  });

  const scene = async (): Promise<{ who: Starter; folder: string }> => {
    const who = await starter(name, all.tool);
    const folder = fs.mkdtempSync(join(tmpdir(), 'hob-readonly-'));
    fs.chmodSync(folder, 0o755);
    for (const each of ['ro', 'rw']) fs.mkdirSync(join(folder, each));
    if (name === 'user' && needs('root')) for (const each of ['ro', 'rw']) fs.chownSync(join(folder, each), USER, USER);
    onTestFinished(async () => {
      await who.close();
      fs.rmSync(folder, { recursive: true, force: true });
    });
    return { who, folder };
  };
  /** The host holds both ends, so opening it never blocks. Returns what arrives. */
  const fifo = (path: string): (() => string) => {
    spawnSync('mkfifo', ['-m', '666', path]);
    const fd = fs.openSync(path, O_RDWR | O_NONBLOCK);
    onTestFinished(() => fs.closeSync(fd));
    return () => {
      try {
        const bytes = Buffer.alloc(64);
        return bytes.toString('latin1', 0, fs.readSync(fd, bytes));
      } catch {
        return '';
      }
    };
  };

  test('a FIFO of the host in a read-only directory cannot be written', async () => {
    const { who, folder } = await scene();
    const arrived = fifo(join(folder, 'ro', 'fifo'));
    const grants = { '/ro': { path: join(folder, 'ro'), writable: false }, '/rw': { path: join(folder, 'rw') } };
    const attack =
      'echo one > /ro/fifo; exec 3<>/ro/fifo; echo two >&3; exec 4</ro/fifo; echo three > /proc/self/fd/4; ln /ro/fifo /rw/l; echo four > /rw/l';
    await who.run(attack, { grants });
    expect(arrived()).toBe('');
    // It is that step that holds, and the attack is real.
    await who.run('echo one > /ro/fifo', { grants, built: all.without('landlock') });
    expect(arrived()).toBe('one\n');
  });

  test('FIFOs, pipes, devices and files can be written in writable directories', async () => {
    const { who, folder } = await scene();
    const arrived = fifo(join(folder, 'rw', 'fifo'));
    const grants = { '/ro': { path: join(folder, 'ro'), writable: false }, '/rw': { path: join(folder, 'rw') } };
    const text = `
      echo one > /rw/fifo && mkdir /rw/a /rw/b && echo x > /rw/a/f && mv /rw/a/f /rw/b/f && ln /rw/b/f /rw/a/g && echo y >> /rw/a/g &&
      mv /rw/a /rw/b/a && echo z >> /rw/b/a/g && echo x > /tmp/f && mkdir /tmp/d && mv /tmp/f /tmp/d/f && echo y >> /tmp/d/f && echo x > /dev/null &&
      echo x > /dev/shm/x && { echo x | cat > /dev/stdout; } && mkfifo /tmp/p && { echo x > /tmp/p & } && cat /tmp/p && echo all`;
    const { stdout } = await who.run(text, { grants });
    expect(stdout).toBe('x\nx\nall\n');
    expect(arrived()).toBe('one\n');
  });

  test('a job cannot make the kernel spare it when memory runs out', async () => {
    const { who } = await scene();
    const attack = 'cat /proc/self/oom_score_adj; echo 0 > /proc/$$/oom_score_adj; cat /proc/self/oom_score_adj';
    const { stdout } = await who.run(attack);
    expect(stdout).toBe('800\n800\n');
  });
});
