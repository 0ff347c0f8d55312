/** A host of another version, as a process: opens the store, says so, and keeps it. Arguments: url, schema, steps as JSON. */
import { writeSync } from 'node:fs';
import { storeOfSteps } from './versions.ts';

const [url = '', schema = '', steps = '[]'] = process.argv.slice(2);
const said = await storeOfSteps({ url, schema }, JSON.parse(steps)).then(
  () => 'open',
  (error: { readonly code: string }) => error.code,
);
writeSync(1, `${said}\n`);
setInterval(() => {}, 60_000);
