/** A host that dies: it starts a hostile job, reports that, and waits to be killed. */
import { makeShellCap } from '../src/index.ts';

const [text = ''] = process.argv.slice(2);
const shell = await makeShellCap({ mounts: {} });
const job = await shell.spawn(text);
await job.stdout.next();
process.stdout.write('ready\n');
setInterval(() => {}, 1000);
