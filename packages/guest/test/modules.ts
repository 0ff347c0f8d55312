/** Lists the modules of the script of a guest in their order, and whether intrinsics are hardened when each begins. */
import { execFile } from 'node:child_process';

interface Begun {
  readonly name: string;
  readonly isHardened: boolean;
}

/** Runs the script of `code` (`childCode`) in a process of its own, until it needs its channel and fails. */
export function modulesOf(code: Uint8Array): Promise<readonly Begun[]> {
  const bytes = Buffer.from(code);
  const script = bytes
    .toString('latin1', 8, 8 + bytes.readUInt32LE(0))
    .replaceAll(/^const m\d+ = \(\(\) => \{ \/\/ (\S+)$/gm, "$&\nrequire('test:begun')('$1');");
  const run = `
    const begun = [];
    const begin = (name) => begun.push({ name, isHardened: Object.isFrozen(Object.prototype) && Object.isFrozen(Array.prototype.map) });
    const find = (name) => (name === 'test:begun' ? begin : require(name));
    let text = '';
    process.stdin.setEncoding('latin1').on('data', (part) => (text += part)).on('end', () => {
      try {
        require('node:vm').runInThisContext(text)(find, () => {}, false);
      } catch (error) {
        if (!/IPC channel/.test(error.message)) throw error;
      }
      process.stdout.write(JSON.stringify(begun), () => process.exit());
    });`;
  return new Promise((resolve, reject) => {
    const child = execFile(process.execPath, ['--no-warnings', '-e', run], (error, stdout) =>
      error === null ? resolve(JSON.parse(stdout) as Begun[]) : reject(error),
    );
    child.stdin?.end(script, 'latin1');
  });
}
