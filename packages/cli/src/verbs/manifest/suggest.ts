/** `hob suggest`: what was granted again and again, as a change of the manifest. It writes nothing. */
import { Mistake } from '../../line/mistake.ts';
import { MANIFEST, STATE } from '../../line/options.ts';
import { textOf, type Verb } from '../../line/verb.ts';

/** `hob suggest` */
export const suggest: Verb = {
  name: 'suggest',
  about: 'prints a change of the manifest for caps that you granted again and again. You read it, and apply it by hand',
  options: [
    { flags: '--from <n>', about: 'how often a cap was granted (default: 5)' },
    { flags: '--ledger <file>', about: 'an exported ledger, in place of that of the state' },
    MANIFEST,
    STATE,
  ],
  examples: [
    'hob suggest',
    'hob suggest --from 3 > change.diff',
    'hob suggest --ledger ledger.jsonl --manifest app.yaml',
  ],
  json: '{ manifest: string, compared: boolean, suggestions: { cap: string, uses?: number, for?: string, lines: string[] }[],\n  left: { cap: string, why: string }[], diff: string }',
  codes: { 1: 'there is no ledger or no manifest, or the manifest changed since it was served' },
  hardened: true,
  async run(given, { line, say, json }) {
    const { readLedger } = await import('../../daemon/drivers/ledger-source.ts');
    const { suggestedFor } = await import('../../daemon/served/suggested.ts');
    const { usualManifest } = await import('../../drivers/places.ts');
    const from = textOf(given, 'from') ?? '5';
    if (!/^[1-9]\d{0,5}$/.test(from)) throw new Mistake('--from takes a whole number above 0: --from 5', 2);
    const { lines, served } = await readLedger(given, textOf(given, 'ledger'));
    const manifest = textOf(given, 'manifest') ?? served?.file ?? usualManifest();
    const { file, found, diff } = suggestedFor({ lines, served, manifest, from: Number(from) });
    if (served === undefined && found.moves.length > 0)
      say('hob: no host serves this, so nobody compared the folders and programs of then with those of the manifest: do it before you apply this'); // biome-ignore format: one line
    for (const { cap, why } of found.left) say(`hob: ${cap}: ${why}`);
    if (found.moves.length === 0) say(`hob: nothing to suggest: nothing that asks was granted ${from} times`);
    for (const one of diff === '' ? [] : diff.trimEnd().split('\n')) line(one);
    json({
      manifest: file,
      compared: served !== undefined,
      suggestions: found.moves.map(({ name, uses, for: time, lines: based }) => ({
        cap: name,
        ...(uses === undefined ? {} : { uses }),
        ...(time === undefined ? {} : { for: time }),
        lines: based,
      })),
      left: found.left,
      diff,
    });
    return 0;
  },
};
