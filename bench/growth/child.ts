/**
 * Measures one field in a process of its own: `child.ts FIELD SIZE,SIZE…`. Prints a line of JSON for each point.
 *
 * Each field has a heap of its own. A larger heap makes operations slower, and that belongs to the cost of this field.
 */
import '../lockdown.ts';
import type { Measure } from './fields.ts';

const [name = '', sizes = ''] = process.argv.slice(2);
const measures: Readonly<Record<string, () => Promise<Measure>>> = {
  sessions: async () => (await import('./sessions.ts')).measureSessions,
  grants: async () => (await import('./grants.ts')).measureGrants,
  ledger: async () => (await import('./ledger.ts')).measureLedger,
  actors: async () => (await import('./actors.ts')).measureActors,
  references: async () => (await import('./references.ts')).measureReferences,
  directory: async () => (await import('./directory.ts')).measureDirectory,
  jobs: async () => (await import('./jobs.ts')).measureJobs,
  running: async () => (await import('./jobs.ts')).measureRunning,
};
// `exit` removes the files of the field: see `folderOf`.
process.once('SIGTERM', () => process.exit(1));
const load = measures[name];
if (load === undefined) throw new Error(`no such field: ${name}`);
const measure = await load();
await measure(sizes.split(',').map(Number), (operation, n, cost) => {
  process.stdout.write(`${JSON.stringify({ operation, n, cost })}\n`);
});
