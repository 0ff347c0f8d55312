/** The file of a machine is read again. The attacker is an agent that can write a file that this file names. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { requires } from '../../../../../test/needs.ts';
import { Mistake } from '../../line/mistake.ts';
import { type ClusterFile, readCluster } from './file.ts';
import { rereadCluster } from './reread.ts';

/** Reads the file of a machine again and again. `said` is the log. `peers` returns the peers of the last file taken. */
function machine(take: (next: ClusterFile) => void = () => {}) {
  const folder = mkdtempSync(join(tmpdir(), 'hob-reread-'));
  const at = (name: string): string => join(folder, name);
  const put = (name: string, text: string): void => {
    writeFileSync(at('draft'), text, { mode: 0o600 });
    renameSync(at('draft'), at(name));
  };
  put('store.yaml', 'url: postgres://hob@127.0.0.1/hob\n');
  put('beta.pem', 'of beta');
  const withPeers = (peers: string, door = '{ port: 0 }'): void =>
    put('cluster.yaml', `name: alpha\nstore: store.yaml\nstate: state\ndoor: ${door}\nlink: { port: 0, peers: ${peers} }\n`); // biome-ignore format: one line
  withPeers('{ beta: beta.pem }');
  const [said, taken, end] = [[] as string[], [] as ClusterFile[], new AbortController()];
  onTestFinished(() => {
    end.abort();
    rmSync(folder, { recursive: true });
  });
  const took = (next: ClusterFile): void => {
    take(next);
    taken.push(next);
  };
  rereadCluster(readCluster(at('cluster.yaml')), { take: took, write: (line) => void said.push(line) }, end.signal);
  const peers = (): unknown => taken.at(-1)?.link.peers;
  return { at, put, withPeers, said, peers };
}

const looks = (count: number): Promise<void> => new Promise((done) => setTimeout(done, count * 1000 + 200));
const soon = { timeout: 5000 };

test('if a file names a certificate that is written later, the file is taken then, and the log says each once', async () => {
  const { put, withPeers, said, peers } = machine();
  withPeers('{ gamma: gamma.pem }');
  await expect.poll(() => said, soon).toEqual([expect.stringMatching(/not taken: link\.peers\.gamma .*ENOENT/)]);
  await looks(2);
  expect(said).toHaveLength(1);
  put('gamma.pem', 'of gamma');
  await expect.poll(peers, soon).toEqual({ gamma: 'of gamma' });
  await looks(1);
  expect(said.slice(1)).toEqual(['the file of the machine was read again']);
});

test('a file that was not taken is read again when a file that it names changes; a mistake that is saved again is logged again', async () => {
  const { put, withPeers, said, peers } = machine(({ link }) => {
    if (Object.values(link.peers).includes('no PEM')) throw new Mistake('that is not PEM');
  });
  put('gamma.pem', 'no PEM');
  for (const times of [1, 2]) {
    withPeers('{ gamma: gamma.pem }');
    await expect.poll(() => said, soon).toHaveLength(times);
    await looks(2);
    expect(said).toHaveLength(times);
  }
  expect(new Set(said)).toEqual(new Set(['the file of the machine was changed, and is not taken: that is not PEM']));
  put('gamma.pem', 'of gamma');
  await expect.poll(peers, soon).toEqual({ gamma: 'of gamma' });
}, 30_000);

test('the log names the settings that take effect only at the next start, such as TLS of a door that had none', async () => {
  const { put, withPeers, said } = machine();
  put('door.pem', 'of the door');
  put('door.key', 'key');
  const notice = /door \(except its certificate\) take effect at the next start/;
  withPeers('{}', '{ host: 127.0.0.1, port: 0, cert: door.pem, key: door.key }');
  await expect
    .poll(() => said, soon)
    .toEqual(['the file of the machine was read again', expect.stringMatching(notice)]);
  withPeers('{}');
  await expect.poll(() => said.slice(2), soon).toEqual(['the file of the machine was read again']);
  withPeers('{}', '{ port: 0, cert: door.pem, key: door.key }');
  await expect
    .poll(() => said.slice(3), soon)
    .toEqual([expect.stringMatching(/not taken: door: cert, key and names need host/)]);
}, 30_000);

requires('linux', 'mkfifo')(
  'attack: a FIFO, an endless device or a huge file in the place of a certificate holds up nothing, and is not taken',
  async () => {
    const { at, put, said, peers } = machine();
    const makes: readonly ((place: string) => void)[] = [
      (place) => execFileSync('mkfifo', [place]),
      (place) => symlinkSync('/dev/zero', place),
      (place) => {
        writeFileSync(place, '');
        truncateSync(place, 2 ** 32);
      },
    ];
    // Opens the FIFO for writing after a while, so that a process which waits for a writer fails this test and ends.
    const writer = spawn('sh', ['-c', 'sleep 8; : > freed; : > beta.pem'], { cwd: at(''), stdio: 'ignore' });
    onTestFinished(() => void writer.kill());
    for (const [index, make] of makes.entries()) {
      make(at('made'));
      renameSync(at('made'), at('beta.pem'));
      await expect.poll(() => said, soon).toHaveLength(2 * index + 1);
      if (index === 0) expect(existsSync(at('freed'))).toBe(false);
      writer.kill();
      expect(said.at(-1)).toMatch(/not taken: link\.peers\.beta cannot be read \((?:not a file|too large)\)/);
      expect(peers()).toEqual(index === 0 ? undefined : { beta: `${index - 1}` });
      put('beta.pem', String(index));
      await expect.poll(peers, soon).toEqual({ beta: String(index) });
    }
  },
  30_000,
);
