/** One suite, in the process that `run.ts` forked for it. Each row goes back as a message. */
import './lockdown.ts';
import { measure } from './measure.ts';
import { suites } from './suites.ts';

const [name = '', only = '', quick = ''] = process.argv.slice(2);
process.on('disconnect', () => process.exit(1));

const load = suites[name];
if (load === undefined) throw new Error(`no such suite: ${name}`);
const { suite } = await load();
for (const spec of suite.cases) {
  if (!spec.name.includes(only) || (quick !== '' && spec.slow === true)) continue;
  const row = await measure(suite.name, spec);
  // Without a parent (under a profiler) the row is for people.
  if (process.send === undefined) process.stdout.write(`${JSON.stringify(row)}\n`);
  else process.send(row);
}
await suite.close?.();
process.removeAllListeners('disconnect');
if (process.connected) process.disconnect();
