/** The person's terminal, for a program in a box that has one of its own. */
import { createServer, type Socket } from 'node:net';

interface CarriedTerminal {
  readonly size: { readonly rows: number; readonly columns: number };
  /** Every key goes to the program. Returns what gives the terminal back. */
  readonly enter: () => () => void;
  close(): Promise<void>;
}

/** Sizes go through a door at `path`, as lines. */
export async function carryTerminal(path: string): Promise<CarriedTerminal> {
  const listeners = new Set<Socket>();
  const size = (): CarriedTerminal['size'] => ({ rows: process.stdout.rows, columns: process.stdout.columns });
  const tell = (): void => {
    const { rows, columns } = size();
    for (const socket of listeners) socket.write(`${rows} ${columns}\n`);
  };
  const server = createServer((socket) => {
    listeners.add(socket);
    socket.on('error', () => {}).on('close', () => listeners.delete(socket));
    socket.resume();
  });
  await new Promise<void>((done, fail) => server.once('error', fail).listen(path, done));
  process.stdout.on('resize', tell);
  return {
    size: size(),
    enter: () => {
      process.stdin.setRawMode(true);
      return () => process.stdin.setRawMode(false);
    },
    close: () =>
      new Promise((done) => {
        process.stdout.off('resize', tell);
        server.close(() => done());
        for (const socket of listeners) socket.destroy();
      }),
  };
}
