/** The child of `child.test.ts`: serves a counter to its parent until that closes. */
import { captp, type Definition, define, fromChild, openVats, spawn } from '../src/index.ts';

interface Counter {
  next(): number;
  echo(value: unknown): unknown;
  fill(bytes: number): Uint8Array;
}
const Counter: Definition<Counter, [count: number]> = define('Counter', (bcom, count) => ({
  next: () => bcom(Counter(count + 1), count + 1),
  echo: (value) => value,
  fill: (bytes) => new Uint8Array(bytes).fill(7),
}));

if (process.argv[2] === 'junk') process.send?.({ junk: true });
else {
  const vats = await openVats();
  const bootstrap = await vats.vat('child').turn(() => spawn(Counter(0)));
  const { closed } = captp(fromChild(process), { bootstrap: bootstrap as object });
  const { code } = await closed;
  await vats.close();
  process.exitCode = code - 4300;
}
