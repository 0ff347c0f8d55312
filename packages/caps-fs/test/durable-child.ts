/**
 * `durable-child.ts BACKEND ROOT`: a new file, a replaced one and one made in whichever way, first durable
 * and then not.
 */
import { openFsCap } from '../src/index.ts';
import type { Backend } from './backends.ts';

const [backend, root = ''] = process.argv.slice(2);
// More than what is written at once where there is no disk.
const content = 'x'.repeat(70_000);
const cap = await openFsCap(root, { backend: backend as Backend });
for (const durable of [true, false]) {
  for (const create of ['new', 'never'] as const) await cap.write(`f${durable}`, content, { create, durable });
  await cap.write(`g${durable}`, content, { durable });
}
await cap.close();
