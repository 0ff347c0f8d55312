/**
 * The first program in a box: it carries the agent's requests to its model through a door, and runs the agent.
 *
 * A door is a socket in a folder. Programs speak TCP to their model, and the loopback of a box is the box's own. So
 * this listens there and carries bytes. It decides nothing: the other end of the door does.
 *
 *     node enter.ts '{"program": …, "args": […], "model": {"port": …, "door": …}, "terminal": {"rows": …, "columns": …, "door": …}}'
 */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { constants } from 'node:os';

/** What runs in the box. */
export interface Entry {
  readonly program: string;
  readonly args: readonly string[];
  readonly model: { readonly port: number; readonly door: string };
  /** The size of the person's terminal, and the door through which new sizes come, as lines. */
  readonly terminal?: { readonly rows: number; readonly columns: number; readonly door: string };
}

const { program, args, model, terminal } = JSON.parse(process.argv[2] ?? '') as Entry;

const server = createServer((inner) => {
  const outer = connect(model.door);
  for (const [one, other] of [[inner, outer], [outer, inner]] as const) one.on('error', () => other.destroy()).on('close', () => other.destroy()).pipe(other); // biome-ignore format: one line
});
server.listen(model.port, '127.0.0.1', () => {
  const [command = '', ...words] = terminal === undefined ? [program, ...args] : inTerminal(terminal);
  const child = spawn(command, words, { stdio: 'inherit' });
  child.once('error', ({ message }) => {
    process.stderr.write(`hob: the agent cannot be run in the box: ${message}\n`);
    process.exit(127);
  });
  child.once('exit', (code, signal) => process.exit(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
});
// They reach the agent, too, which decides.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

/** The command that runs the agent in a terminal of the box's own. It is the first one in the box, so its number is 0. */
function inTerminal({ rows, columns, door }: NonNullable<Entry['terminal']>): readonly string[] {
  const resize = (line: string): void => {
    const [, high = '', wide = ''] = /^(\d+) (\d+)$/.exec(line) ?? [];
    if (high === '') return;
    try {
      const device = openSync('/dev/pts/0', 'r+');
      spawnSync('stty', ['rows', high, 'cols', wide], { stdio: [device, 'ignore', 'ignore'] });
      closeSync(device);
    } catch {
      // It is gone, and the agent with it.
    }
  };
  connect(door)
    .setEncoding('utf8')
    .on('error', () => {})
    .on('data', (text) => {
      for (const line of String(text).split('\n')) resize(line);
    });
  const words = [program, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
  return ['script', '--quiet', '--flush', '--return', '--command', `stty rows ${rows} cols ${columns}; exec ${words}`, '/dev/null']; // biome-ignore format: one line
}
