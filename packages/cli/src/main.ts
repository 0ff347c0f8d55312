#!/usr/bin/env node
/**
 * The command `hob`.
 *
 * Node keeps the compiled form of the modules, so that the next call starts faster. It lies among the code of this
 * program, which no session may hold a folder of (`ownCode`). Where that cannot be written, nothing is kept.
 *
 * Parts of Node are read from the process: an `import` of one reads each of its exports, which takes 1 to 3 ms.
 */
import { clientVerb } from './client-verbs.ts';
import { dataVerb } from './data-verbs.ts';
import { load } from './entries.ts';
import { wordOf } from './word-lines.ts';

// An older Node can read this file, and breaks with a stack in what it loads. npm only warns of it.
if (Number.parseInt(process.versions.node, 10) < 24) {
  process.stderr.write(`hob: this is Node ${process.versions.node}: install Node 24 or later, and run hob with it\n`);
  process.exit(1);
}
const cache = process.getBuiltinModule('node:url').fileURLToPath(new URL('../node_modules/.compile-cache', import.meta.url)); // biome-ignore format: one line
// A reader that has gone, such as `head`, is no mistake, and nothing can be said to it.
process.stdout.on('error', () => process.exit(1));
const code = await run(process.argv.slice(2), process.getBuiltinModule('node:path').join(cache, '..', '..'));
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
    // `hob start claude --help` asks the agent. `hob ledger verify` asks the host if one runs.
    if (code !== undefined) return code;
  }
  // The modules of all verbs are not bundled. Node keeps the compiled form of each.
  // What is in its folder is run, so no other user may write there, whatever the umask is.
  const umask = process.umask(0o022);
  process.umask(umask | 0o022);
  process.getBuiltinModule('node:module').enableCompileCache(cache);
  process.umask(umask);
  const { runLine, verbsFor } = await import('./table.ts');
  return await runLine(args, await verbsFor(args));
}
