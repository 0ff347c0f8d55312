/**
 * `npm run native [-- --write]`: builds the native parts for every platform into `.toolchain/native/`, and compares them
 * with their checksums. `--write` takes the new checksums instead, after a change of the sources or of Zig.
 */
import { join } from 'node:path';
import { commandLine } from '../test/command.ts';
import { build, differences, PARTS, writeChecksums } from './native/build.ts';
import { ROOT } from './pack/packages.ts';
import { setUpZig } from './zig.mjs';

const { write } = commandLine('npm run native --')
  .description('Builds the native parts, and compares them with their checksums.')
  .option('--write', 'writes the checksums')
  .parse()
  .opts<{ write?: boolean }>();
const { zig, missing } = await setUpZig();
if (zig === undefined) {
  console.error(`hob: ${missing}`);
  process.exit(1);
}
const into = join(ROOT, '.toolchain', 'native');
for (const part of PARTS) {
  const built = await build(part, { zig, into, cache: join(ROOT, '.toolchain', 'zig-cache') });
  if (write) writeChecksums(part, built);
  for (const [platform, checksum] of Object.entries(built.files))
    console.log(`${checksum}  ${join(into, platform, part.file)}`);
  for (const fault of write ? [] : differences(part, built)) {
    console.error(`hob: ${fault}`);
    process.exitCode = 1;
  }
}
