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
    const { unifiedDiff } = await import('@hob/caps-fs');
    const { readLedger } = await import('../../daemon/drivers/ledger-source.ts');
    const { suggestions } = await import('../../daemon/suggestions.ts');
    const { readLayers, surroundings, textOfFile } = await import('../../drivers/layers.ts');
    const { check, lineOf } = await import('@hob/manifest');
    const { usualManifest } = await import('../../drivers/places.ts');
    const from = textOf(given, 'from') ?? '5';
    if (!/^[1-9]\d{0,5}$/.test(from)) throw new Mistake('--from takes a whole number above 0: --from 5', 2);
    const { lines, served } = await readLedger(given, textOf(given, 'ledger'));
    const changed = served?.files.find((one) => textOfFile(one.file) !== one.text);
    if (changed !== undefined)
      throw new Mistake(`${changed.file} is not what the host serves: the ledger is about what it said then. End the host, serve it anew, and ask again later`); // biome-ignore format: one line
    const { given: read, lost } = readLayers(textOf(given, 'manifest') ?? served?.file ?? usualManifest(), []);
    const { plan, mistakes } = lost.length > 0 ? { plan: undefined, mistakes: lost } : check(read, surroundings());
    const [{ file, text } = { file: '', text: '' }] = read;
    if (plan === undefined) throw new Mistake(`the manifest has mistakes:\n${mistakes.map(lineOf).join('\n')}`);
    if (served !== undefined && !served.files.some((one) => one.text === text))
      throw new Mistake(`${file} is not what the host serves: leave --manifest out`);
    const found = suggestions(
      { around: surroundings(), file, text, plan },
      { lines, offers: served?.offers, from: Number(from) },
    );
    const diff = unifiedDiff(text, found.text, file);
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
