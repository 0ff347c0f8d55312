/** `hob explain`: a manifest in plain words. */
import type { ReadLayers } from '../../drivers/layers.ts';
import { LAYERS } from '../../line/options.ts';
import { listOf, type Verb } from '../../line/verb.ts';

/** `hob explain` */
export const explain: Verb = {
  name: 'explain',
  operands: '[file]',
  about:
    'says what a session of a manifest can do and never can, and what each cap is only as strong as. Without a file, of all layers that hob serve reads',
  options: [LAYERS],
  examples: ['hob explain', 'hob explain app.yaml --layer org=/etc/hob/org.yaml'],
  json: '{ "mode": string, "caps": { "cap", "does", "when", "weakest" }[], "never": string[], "firewall"?: string }, or { "mistakes": object[] }',
  codes: { 1: 'the manifest has mistakes' },
  async run(given, { line, say, json }) {
    const [
      { check, explain: explainPlan, lineOf },
      { readLayers, servedLayers, surroundings },
      { usualPlaces },
      { dateText },
    ] = await Promise.all([
      import('@hob/manifest'),
      import('../../drivers/layers.ts'),
      import('../../drivers/places.ts'),
      import('../../drivers/machine.ts'),
    ]);
    const [[file], named] = [given.operands, listOf(given, 'layer')];
    const from: ReadLayers & { readonly said?: readonly string[] } =
      file === undefined ? servedLayers(usualPlaces(undefined), named) : readLayers(file, named);
    const { given: read, lost } = from;
    for (const text of from.said ?? []) say(text);
    const { plan, mistakes } = lost.length > 0 ? { plan: undefined, mistakes: lost } : check(read, surroundings());
    for (const mistake of mistakes) say(lineOf(mistake));
    if (plan === undefined) {
      json({ mistakes });
      return 1;
    }
    const { caps, never, firewall } = explainPlan(plan, dateText);
    json({ mode: plan.mode, caps, never, ...(firewall === undefined ? {} : { firewall }) });
    line(`A session of this manifest, in the mode ${plan.mode}:`);
    if (firewall !== undefined) line(firewall);
    for (const { cap, does, when, weakest } of caps) {
      line('');
      line(`${cap} ${does}.`);
      line(`  When: ${when}.`);
      line(`  It is only as strong as ${weakest.replace(/\.$/, '')}.`);
    }
    line('');
    line('It can never:');
    for (const one of never) line(`  ${one}`);
    return 0;
  },
};
