/** Where the code of this program is: no session may hold it. */
import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The command line that runs this program again, with whole paths. */
export const ownCommand = (): readonly string[] => [
  process.execPath,
  ...process.execArgv,
  realpathSync(process.argv[1] as string),
];

/** How a person calls the commands of Hob: by npm in a checkout, by their names where they are installed. */
export const commandWords = (): { readonly hob: string; readonly agent: string } =>
  ownCode().some((folder) => basename(folder) === 'packages')
    ? {
        hob: 'npm run -s hob --',
        agent: 'npm run -s agent -- examples/first-session.ts',
      }
    : { hob: 'hob', agent: 'hob-agent FILE' };

/** The folders with the code of this program. Granting any of them would grant the host. */
export function ownCode(): readonly string[] {
  const here = realpathSync(fileURLToPath(new URL('./own-code.ts', import.meta.url)));
  const node = dirname(realpathSync(process.execPath));
  for (let at = dirname(here); dirname(at) !== at; at = dirname(at)) {
    if (basename(at) === 'node_modules') return [at, node];
    if (existsSync(join(at, 'pnpm-workspace.yaml')))
      return [...['packages', 'node_modules', 'scripts', '.toolchain', '.git'].map((name) => join(at, name)), node];
  }
  return [dirname(here), node];
}
