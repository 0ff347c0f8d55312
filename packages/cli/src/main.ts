#!/usr/bin/env node
/**
 * The command `hob`.
 *
 * Node keeps the compiled form of the modules, so that the next call starts faster. It lies among the code of this
 * program, which no session may hold a folder of (`ownCode`). Where that cannot be written, nothing is kept.
 */
import * as modules from 'node:module';
import { fileURLToPath } from 'node:url';
import { clientVerb } from './client-verbs.ts';
import { dataVerb } from './data-verbs.ts';

// An older Node can read this file, and breaks with a stack in what it loads. npm only warns of it.
if (Number.parseInt(process.versions.node, 10) < 24) {
  process.stderr.write(`hob: this is Node ${process.versions.node}: install Node 24 or later, and run hob with it\n`);
  process.exit(1);
}
modules.enableCompileCache(fileURLToPath(new URL('../node_modules/.compile-cache', import.meta.url)));
// A reader that has gone, such as `head`, is no mistake, and nothing can be said to it.
process.stdout.on('error', () => process.exit(1));
const args = process.argv.slice(2);
const { runLine, verbsFor } =
  dataVerb(args) !== undefined
    ? await import('./data.ts')
    : clientVerb(args) !== undefined
      ? await import('./client.ts')
      : await import('./table.ts');
const code = await runLine(args, await verbsFor(args));
// A slow reader of a pipe gets all of it.
await new Promise((done) => process.stdout.write('', done));
// Sockets and threads of a verb are closed by now, or are not worth waiting for.
process.exit(code);
