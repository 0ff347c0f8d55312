/**
 * The SDKs of agent loops that the examples of `@hob/tools` are tried against, in `examples/tools/node_modules`.
 *
 * Plain JavaScript for Node 18.
 */
import { join } from 'node:path';
import { npmFolder } from './npm-folder.mjs';
import { ROOT } from './setup.mjs';

export const { missing: sdksMissing, setUp: setUpSdks } = npmFolder({
  what: 'the SDKs of agent loops',
  from: join(ROOT, 'examples', 'tools'),
  lock: 'sdks-lock',
  size: '200 MB',
  how: 'npm run test:deep installs them into examples/tools',
});
