/** The program of `deep.test.ts`: prints how deep it came, and how a call that never ends came back. */
import { type Definition, define, E, openVats } from '../src/index.ts';

interface Down {
  down(n: number): number;
}
const Down: Definition<Down, []> = define('Down', (bcom) => ({
  down: (n) => (n === 0 ? 0 : 1 + bcom.self.down(n - 1)),
}));

const vats = await openVats();
const down = await vats.vat('a').spawn(Down());
const came = [
  await E(down).down(10_000),
  await E(down)
    .down(-1)
    .catch((error: { code: string }) => error.code),
];
await vats.close();
process.stdout.write(JSON.stringify(came));
