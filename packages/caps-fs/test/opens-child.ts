/**
 * `opens-child.ts [BACKEND…]`: prints which of them (all, and none named) can be opened and read through
 * here.
 */
import { openFsCap } from '../src/index.ts';
import type { Backend } from './backends.ts';
import { code } from './scratch.ts';

const asked = process.argv.slice(2);
const answers: Record<string, string> = {};
for (const name of asked.length > 0 ? asked : ['auto', 'proc', 'native']) {
  const options = name === 'auto' ? {} : { backend: name as Backend };
  answers[name] = await code(
    openFsCap(import.meta.dirname, options).then(async (cap) => {
      await cap.readText('scratch.ts');
      await cap.close();
    }),
  );
}
process.stdout.write(JSON.stringify(answers));
