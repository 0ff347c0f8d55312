/**
 * `npm run api [-- --into DIR]`: the API reference of all packages, in `docs/api/`. It exits 1 if an exported name has no
 * doc comment, or typedoc warns of anything else.
 */
import { join, relative, resolve } from 'node:path';
import { commandLine } from '../../test/command.ts';
import { ROOT } from '../pack/packages.ts';
import { facesOfAll, makeReference } from './reference.ts';

const { into } = commandLine('npm run api --')
  .description('Generates the reference of the API.')
  .option('--into <dir>', 'where it goes')
  .parse()
  .opts<{ into?: string }>();
const target = resolve(process.env['INIT_CWD'] ?? '.', into ?? join(ROOT, 'docs', 'api'));
const faces = facesOfAll();
const faults = await makeReference(faces, target);
if (faults.length > 0) {
  console.error(faults.join('\n'));
  process.exitCode = 1;
} else console.log(`${faces.length} entry points: ${relative(process.cwd(), join(target, 'index.html'))}`);
