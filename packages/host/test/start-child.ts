/**
 * Opens the workspace of a state as `npm start` does, and kills itself (SIGKILL) at one step of it.
 * `start-child.ts STATE ROOT (before|during|after|never) N [--fresh]`: the step is the N-th call of the host.
 * Prints what came of it.
 */
import '../src/programs/lockdown.ts';
import { type Host, openHost } from '../src/index.ts';
import { openWorkspace } from '../src/programs/workspace.ts';

const [state = '', root = '', when = 'never', step = '0', fresh] = process.argv.slice(2);
const die = (): void => void process.kill(process.pid, 'SIGKILL');
let calls = 0;

const real = await openHost({ stateDir: state });
const host = new Proxy(real, {
  get(_target, name) {
    const value = Reflect.get(real, name, real) as unknown;
    if (typeof value !== 'function') return value;
    return async (...args: readonly unknown[]): Promise<unknown> => {
      calls += 1;
      const mine = calls === Number(step) ? when : 'never';
      if (mine === 'before') die();
      const called = Reflect.apply(value, real, args) as Promise<unknown>;
      // The call is on its way: its turn has run, and is on the disk or not.
      if (mine === 'during') setImmediate(die);
      try {
        return await called;
      } finally {
        // The call may be back before the event loop came round.
        if (mine !== 'never') die();
      }
    };
  },
}) as Host;
const { started } = await openWorkspace(host, {
  root,
  lacking: false,
  flags: { uses: 5, minutes: 60, readOnly: false, gate: false, code: true, shell: false },
  given: new Set(),
  fresh: fresh === '--fresh',
  newSecrets: false,
});
const said = { how: started.how, calls, session: started.how === 'ended' ? started.id : started.session.id };
process.stdout.write(`${JSON.stringify(said)}\n`);
await real.close();
process.exit(0);
