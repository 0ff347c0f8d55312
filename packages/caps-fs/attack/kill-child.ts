/**
 * `kill-child.ts ROOT BACKEND LETTER`: writes in every way there is, for ever; to be killed in the middle.
 */
import { openFsCap } from '../src/index.ts';
import type { Backend } from '../test/backends.ts';

const [root = '', backend = '', seed = ''] = process.argv.slice(2);
const cap = await openFsCap(root, { backend: backend as Backend });
const size = 512 * 1024;
process.send?.('ready');
for (let round = 0; ; round++) {
  // One letter each time: a file with two of them is a part of one and a part of the other.
  const content = String.fromCharCode(97 + ((round + Number(seed)) % 26)).repeat(size);
  const half = new TextEncoder().encode(content.slice(0, size / 2));
  await cap.write('written', content);
  const sink = await cap.openWrite('streamed');
  await sink.write(half);
  await sink.write(half);
  await sink.close();
  await cap.remove('copied').catch(() => {});
  await cap.copy('written', 'copied');
  await cap.remove('new').catch(() => {});
  await cap.write('new', content, { create: 'new' });
  const { version } = await cap.stat('edited');
  await cap.edit('edited', [{ oldText: await cap.readText('edited'), newText: `${round}\n`.repeat(1_000) }], {
    version,
  });
}
