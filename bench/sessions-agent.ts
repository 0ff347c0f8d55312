/**
 * The agents of `sessions.ts`, in a process of their own. The parent sends `{url, secrets, what}`:
 *
 *   work    each agent calls one after the other for `ms`, and the durations go back
 *   flood   asks for everything that a session can ask for, as fast as its connection takes it, until the
 *           parent sends `enough`; the number of answers goes back
 *   burn    keeps a processor as busy as the flood does, and asks nothing
 */
import './lockdown.ts';
import type { SessionFace } from '@hob/host';
import { connect, E } from '@hob/vat';
import type { Connected } from '@hob/vat/wire';

export interface Task {
  readonly url: string;
  readonly secrets: readonly string[];
  readonly what: 'work' | 'flood' | 'burn';
  readonly ms?: number;
}

interface Bell {
  ring(): string;
  echo(text: string): string;
}
type Entered = Connected<SessionFace>;
const bellOf = (connection: Entered): Bell => E(connection.bootstrap).cap('bell') as unknown as Bell;

let over = false;
process.on('disconnect', () => process.exit());
process.on('message', async (said: Task | 'enough') => {
  if (said === 'enough') {
    over = true;
    return;
  }
  const { url, secrets, what, ms = 0 } = said;
  const open: Entered[] = [];
  for (let i = 0; i < secrets.length; i += 50)
    open.push(...(await Promise.all(secrets.slice(i, i + 50).map((secret) => connect<SessionFace>(url, { secret })))));
  if (what === 'work') process.send?.(await work(open, ms));
  if (what === 'flood') process.send?.(await flood(open[0] as Entered));
  if (what === 'burn') process.send?.(await burn());
  for (const each of open) each.close();
});

async function work(open: readonly Entered[], ms: number): Promise<readonly number[]> {
  const took: number[] = [];
  const until = performance.now() + ms;
  await Promise.all(
    open.map(async (each, n) => {
      const bell = bellOf(each);
      // Not all at the same moment.
      await new Promise((resolve) => setTimeout(resolve, n * 7));
      while (performance.now() < until) {
        const began = performance.now();
        await E(bell).ring();
        took.push(performance.now() - began);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }),
  );
  return took;
}

const breath = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** As much as it can have on its way at once, of everything there is. */
async function flood({ bootstrap }: Entered): Promise<Readonly<Record<string, number>>> {
  const codes: Record<string, number> = {};
  let away = 0;
  let n = 0;
  const count = (code: string): void => {
    away -= 1;
    codes[code] = (codes[code] ?? 0) + 1;
  };
  const ask = (answer: unknown): void => {
    away += 1;
    (answer as Promise<unknown>).then(
      () => count('ok'),
      (error: { code?: string }) => count(error.code ?? 'error'),
    );
  };
  const bell = E(bootstrap).cap('bell') as unknown as Bell;
  const all: readonly (() => unknown)[] = [
    () => E(bootstrap).cap(`no-such-${n}`),
    () => E(bootstrap).spawnChild({ name: `c${n}`, caps: { bell: 'bell' } }),
    () => E(bootstrap).resolve(`/object/${'a'.repeat(52)}`),
    () => E(bootstrap).rotate(),
    () => E(bootstrap).caps(),
    () => E(bell).ring(),
    () => (E(bell) as unknown as Record<string, () => Promise<unknown>>)[`no-method-${n}`]?.(),
    () => E(bell).echo('x'.repeat(10_000)),
    // A promise of its own that it never keeps: a listener that the other end keeps.
    () => E(bell).echo(new Promise<string>(() => {}) as never),
  ];
  while (!over) {
    for (let i = 0; i < 200 && away < 20_000; i += 1) {
      n += 1;
      ask(all[n % all.length]?.());
    }
    await breath();
  }
  return codes;
}

async function burn(): Promise<number> {
  let sum = 0;
  while (!over) {
    for (let i = 0; i < 200_000; i += 1) sum += Math.sqrt(i);
    await breath();
  }
  return sum;
}
