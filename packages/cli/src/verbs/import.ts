/** `hob import`: rules of another agent as a manifest. */
import type { Product } from '@hob/manifest/rules';
import { Mistake } from '../line/mistake.ts';
import { listOf, type Verb } from '../line/verb.ts';

const PRODUCTS: readonly string[] = ['hermes', 'claude', 'codex', 'gemini'] satisfies readonly Product[];

/** `hob import` */
export const importVerb: Verb = {
  name: 'import',
  operands: '<product> <file...>',
  about:
    'turns the rules of hermes, claude, codex or gemini into a manifest, and names the rules that it cannot express',
  options: [
    {
      flags: '--root <name=dir>',
      about: 'a directory that the session may have; the first is where the agent worked (default: project=.)',
      many: true,
    },
  ],
  examples: [
    'hob import claude .claude/settings.json .mcp.json --root project=. > ~/.config/hob/app.yaml',
    'hob import hermes ~/.hermes/config.yaml --json',
  ],
  json:
    '{ "manifest": object, "untranslated": { "rule", "why", "line", "file" }[], "translated": { "rule", "to", "line", "file" }[] }, ' +
    'or { "mistakes": { "file", "line", "column", "wrong", "write" }[] }',
  codes: {
    1: 'a file cannot be read, or not whole',
    3: 'a rule is not in the manifest, or only in part; each is named',
  },
  async run(given, { line, say, json }) {
    const [product = '', ...files] = given.operands;
    if (!PRODUCTS.includes(product))
      throw new Mistake(`there are no rules of ${JSON.stringify(product)}: name ${PRODUCTS.join(', ')}`, 2);
    const [{ lineOf }, { importRules, manifestText }, { here, readRules }] = await Promise.all([
      import('@hob/manifest'),
      import('@hob/manifest/rules'),
      import('../drivers/rules.ts'),
    ]);
    const roots = await rootsOf(listOf(given, 'root'));
    const read = files.map((file) => ({ file, ...readRules(file) }));
    const sources = read.flatMap((one) => ('text' in one ? [{ file: one.file, text: one.text }] : []));
    const lost = read.flatMap((one) =>
      'wrong' in one
        ? [
            {
              severity: 'error' as const,
              file: one.file,
              line: 1,
              column: 1,
              at: '',
              wrong: one.wrong,
              write: one.write,
            },
          ]
        : [],
    );
    const options = { product: product as Product, ...here(), roots };
    const result = lost.length > 0 ? { mistakes: lost, manifest: undefined } : importRules(sources, options);
    if (result.manifest === undefined) {
      json({ mistakes: result.mistakes });
      for (const mistake of result.mistakes) say(lineOf(mistake));
      return 1;
    }
    const { manifest, untranslated, translated } = result;
    json({ manifest, untranslated, translated });
    for (const text of manifestText(manifest).trimEnd().split('\n')) line(text);
    for (const { file, line: at, rule, why } of untranslated) say(`${file}:${at}: ${rule}: ${why}`);
    return untranslated.length === 0 ? 0 : 3;
  },
};

/**
 * `project=DIR`, with a folder that is there. The manifest has absolute paths: it must not lie in a root, so a relative
 * one would mean another place there.
 */
async function rootsOf(given: readonly string[]): Promise<Record<string, string>> {
  const { folderAt } = await import('../drivers/rules.ts');
  const roots: Record<string, string> = {};
  for (const one of given.length === 0 ? ['project=.'] : given) {
    const [, name = '', folder = ''] = /^([A-Za-z][A-Za-z0-9_-]{0,62})=(.+)$/s.exec(one) ?? [];
    if (name === '') throw new Mistake(`${JSON.stringify(one)} is no root: write --root project=DIR`, 2);
    if (Object.hasOwn(roots, name)) throw new Mistake(`there are two roots ${name}: choose another name`, 2);
    const path = folderAt(folder);
    if (path === undefined)
      throw new Mistake(`root ${name}: there is no folder ${JSON.stringify(folder)}: make it, or look at its name`);
    roots[name] = path;
  }
  return roots;
}
