/** `hob recipe`: the configuration of an agent host in which its model has the verbs of Hob alone. */

import { textOf, type Verb } from '../../line/verb.ts';
import type { Recipe, SetUp } from '../../recipes/recipe.ts';

/** `hob recipe` */
export const recipe: Verb = {
  name: 'recipe',
  operands: '<host>',
  about: 'prints the configuration of an agent host in which its model has the verbs of Hob and no tool of the host’s',
  options: [
    { flags: '--write <dir>', about: 'writes the files into this folder, which becomes the home of the host' },
    {
      flags: '--model <name>',
      about: 'the model’s name, for a host whose configuration has it (codex, opencode, hermes)',
    },
  ],
  examples: [
    'hob recipe claude',
    'hob recipe opencode --model gpt-5.5 --write ~/hob-opencode',
    'hob recipe claude --json',
  ],
  json: '{ host: string, version: string, tight: boolean, open?: string, closes: string[], keys: string[], tolerated: { [tool]: string }, files: { [path]: string }, made: { [path]: string[] }, env: { [name]: string }, command: string[] }', // biome-ignore format: one line
  codes: { 1: 'a file cannot be written, or is there already' },
  async run(given, { line, say, json }) {
    const { recipeOf } = await import('../../recipes/all.ts');
    const { ownCommand } = await import('../../drivers/own-code.ts');
    const { absolute } = await import('../../drivers/places.ts');
    const found = recipeOf(given.operands[0] ?? '');
    const folder = textOf(given, 'write');
    const home = folder === undefined ? '/HOME-OF-THE-HOST' : absolute(folder);
    const modelName = textOf(given, 'model') ?? 'MODEL';
    const setUp = found.setUp({
      home,
      start: '/EMPTY-DIRECTORY',
      model: found.model,
      modelName,
      server: [...ownCommand(), 'mcp'],
    });
    const env = { HOME: home, ...setUp.env };
    const command = [found.program, ...setUp.args];
    if (folder !== undefined) {
      const { writeNewFile } = await import('../../drivers/new-file.ts');
      const { makeFilesOf } = await import('../../recipes/drivers/made.ts');
      const made = await makeFilesOf(found, modelName);
      for (const [name, text] of Object.entries({ ...made, ...setUp.files })) writeNewFile(`${home}/${name}`, text);
    }
    for (const text of page(found, setUp, home, command)) line(text);
    if (folder !== undefined) say(`hob: the files are in ${home}`);
    const { name: host, version, notTight, closes, keys, tolerated } = found;
    const open = notTight === undefined ? {} : { open: notTight };
    json({
      host,
      version,
      tight: notTight === undefined,
      ...open,
      closes,
      keys,
      tolerated,
      files: setUp.files,
      made: Object.fromEntries((found.made ?? []).map(({ file, args }) => [file, [found.program, ...args]])),
      env,
      command,
    });
    return 0;
  },
};

/** The first line says whether the recipe is tight, and whether there is a box. */
function page(found: Recipe, { files, env }: SetUp, home: string, command: readonly string[]): readonly string[] {
  const { program, version, notTight, noBox, closes, keys, tolerated, name, made } = found;
  const left = Object.keys(tolerated).length;
  const has =
    notTight === undefined
      ? `its model has the verbs of Hob and ${left === 0 ? 'nothing else' : `${left} tools of its own, which reach nothing but Hob: see below`}`
      : `NOT TIGHT: ${notTight}`;
  return [
    `# ${program} ${version}: ${has}${noBox === undefined ? '' : `; NO BOX: ${noBox}`}`,
    `# hob start --recipe ${name} -- ${program} …    does all of this, and looks at what is offered`,
    ...closes.map((text) => `# ${text}`),
    ...Object.entries(tolerated).map(([tool, why]) => `# left: ${tool}: ${why}`),
    '',
    ...Object.entries(files).flatMap(([path, text]) => [
      `# the file ${home}/${path}`,
      ...text.trimEnd().split('\n'),
      '',
    ]),
    ...(made ?? []).flatMap(({ file, args }) => [`# the file ${home}/${file}`, `# is made of what ${[program, ...args].join(' ')} prints: --write makes it`, '']), // biome-ignore format: one line
    '# in an empty directory that the agent cannot write, nor any directory above it:',
    `HOME=${quoted(home)} \\`,
    ...Object.entries(env).map(([key, value]) => `${key}=${quoted(value)} \\`),
    `# and of your own: ${keys.join(', ')}`,
    `  ${command.map(quoted).join(' ')}`,
  ];
}

/** As a shell takes it for one word. */
const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
