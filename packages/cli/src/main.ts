#!/usr/bin/env node
/**
 * The command `hob`.
 *
 * The compiled forms of bundles and modules are kept, so that the next call starts faster. They lie among the code of
 * this program, and no session may hold a folder of that (`ownCode`). If nothing can be written there, none is kept.
 *
 * Parts of Node are read from the process, because an `import` reads all exports of one, which takes 1 to 3 ms.
 */
import { clientVerb } from './client-verbs.ts';
import { dataVerb } from './data-verbs.ts';
import { load } from './entries.ts';
import { withHelp, wordOf } from './word-lines.ts';

// An older Node can run this file, and fails with a stack in the modules that it loads. npm only warns of the version.
if (Number.parseInt(process.versions.node, 10) < 24) {
  process.stderr.write(`hob: this is Node ${process.versions.node}: install Node 24 or later, and run hob with it\n`);
  process.exit(1);
}
const cache = process.getBuiltinModule('node:url').fileURLToPath(new URL('../node_modules/.compile-cache', import.meta.url)); // biome-ignore format: one line
// A reader that has gone, such as `head`, is no mistake, and nothing can be said to it.
process.stdout.on('error', () => process.exit(1));
const code = await run(withHelp(process.argv.slice(2)), process.getBuiltinModule('node:path').join(cache, '..', '..'));
// A slow reader of a pipe gets all of it.
await new Promise((done) => process.stdout.write('', done));
// Sockets and threads of a verb are closed by now, or are not worth waiting for.
process.exit(code);

/** Loads what the command line needs, runs it, and returns its exit code. `home` is the folder of this package. */
async function run(args: readonly string[], home: string): Promise<number> {
  const entries = [
    ['words', wordOf(args)],
    ['data', dataVerb(args)],
    ['client', clientVerb(args)],
  ] as const;
  for (const [name, kind] of entries) {
    if (kind === undefined) continue;
    const code = await (await load(name, { kind, home }))?.run(args);
    // Undefined, for example, for `hob start claude --help`, and for `hob ledger verify` while a host runs.
    if (code !== undefined) return code;
  }
  // No bundle ran the line, so it runs from the modules. Node keeps their compiled forms in a folder, and runs what it
  // finds there. So no other user may write there, whatever the umask is.
  const umask = process.umask(0o022);
  process.umask(umask | 0o022);
  process.getBuiltinModule('node:module').enableCompileCache(cache);
  process.umask(umask);
  const { runLine, verbsFor } = await import('./table.ts');
  return await runLine(args, await verbsFor(args));
}
