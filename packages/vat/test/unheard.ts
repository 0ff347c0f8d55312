/**
 * The program of `breaks.test.ts`: runs the cases and prints what broke in each with nobody to hear. In a process
 * of its own, because a test runner listens for such breaks itself.
 */
import { E, openVats, promise, type Vat } from '../src/index.ts';

let unheard: unknown[] = [];
process.on('unhandledRejection', (reason) => unheard.push((reason as Error).message));

const cases: Readonly<Record<string, (vat: Vat) => unknown>> = {
  /** The program breaks it before the turn that handles it has run. */
  'handled in a turn, resolved to another': (vat) => {
    const [outer, inner] = [promise<number>(), promise<number>()];
    outer.resolver.resolve(inner.promise);
    const handled = vat.turn(() => void E.when(outer.promise, undefined, () => 0));
    inner.resolver.break(new Error('handled'));
    return handled;
  },
  'handled in a turn, resolved to another that broke before': (vat) => {
    const [outer, inner] = [promise<number>(), promise<number>()];
    inner.resolver.break(new Error('handled'));
    outer.resolver.resolve(inner.promise);
    return vat.turn(() => void E.when(outer.promise, undefined, () => 0));
  },
  'sent to, through another': (vat) => {
    const [outer, inner] = [promise<object>(), promise<object>()];
    outer.resolver.resolve(inner.promise);
    inner.resolver.break(new Error('handled'));
    return vat.turn(() => (E.sendOnly(outer.promise) as unknown as { m(): void }).m());
  },
  'ignored outside a turn': () => {
    const { promise: broken, resolver } = promise<number>();
    void E.when(broken, (x) => x);
    void E.when(1, () => {
      throw new Error('of the handler');
    });
    resolver.break(new Error('ignored'));
  },
  'ignored in a turn': (vat) =>
    vat.turn(() => {
      const { promise: broken, resolver } = promise<number>();
      void E.when(broken, (x) => x);
      resolver.break(new Error('ignored'));
    }),
  'the program holds it and does not handle it': () => {
    const { promise: broken, resolver } = promise<number>();
    void broken;
    resolver.break(new Error('unheard'));
  },
};

const vats = await openVats();
const found: Record<string, unknown> = {};
for (const [name, run] of Object.entries(cases)) {
  // The next turn then runs in a microtask, however slow the machine is: before the process looks for breaks that
  // nobody heard.
  for (let rounds = 0; rounds < 3; rounds += 1) await new Promise((done) => setImmediate(done));
  unheard = [];
  await run(vats.vat('a'));
  // A round of the event loop, in which the process would have ended.
  await new Promise((done) => setImmediate(done));
  found[name] = unheard;
}
await vats.close();
process.stdout.write(JSON.stringify(found));
