/**
 * One host for `crash.test.ts`. It uses up one grant after the other, and revokes about half of them before that. It
 * prints each call, each answer and each effect, with the time of a clock that all processes of the machine share. It
 * ends when its store is gone or another host has it.
 */
import { writeSync } from 'node:fs';
import { type Definition, define, driver, E, type Far, ledgerLine, openVats } from '@hob/vat';
import { postgresStore } from '../src/index.ts';

const [url = '', schema = '', leaseMs = '', uses = '', first = ''] = process.argv.slice(2);
const say = (...words: readonly (string | number)[]): void => void writeSync(1, `${words.join(' ')}\n`);
const now = (): string => String(process.hrtime.bigint() / 1000n);
const pause = (): Promise<void> => new Promise((then) => setTimeout(then, 50));

interface Outside {
  done(grant: string, left: number): void;
}
/** Each call writes a line, as with a real grant. So each answer waits for a commit, also that of a refusal. */
interface Grant {
  use(): number | 'exhausted' | 'revoked';
  left(): number;
  revoke(): 'done';
}
const Grant: Definition<Grant, [name: string, left: number, revoked: boolean, outside: Far<Outside>]> = define(
  'Grant',
  (bcom, name, left, revoked, outside) => ({
    use() {
      ledgerLine('call', { grant: name });
      if (revoked) return 'revoked';
      if (left === 0) return 'exhausted';
      E.sendOnly(outside).done(name, left);
      return bcom(Grant(name, left - 1, revoked, outside), left) as never;
    },
    left() {
      ledgerLine('call', { grant: name });
      return left;
    },
    revoke() {
      ledgerLine('revoke', { grant: name });
      return bcom(Grant(name, left, true, outside), 'done') as never;
    },
  }),
);

const store = await postgresStore({ url, schema, leaseMs: Number(leaseMs) }).catch((error: { code: string }) => {
  say('refused', error.code);
  process.exit(3);
});
const outside = driver<Outside>({ done: ([grant, left]) => say('effect', grant, left, now()) }, { name: 'outside' });
const vats = await openVats({ store, definitions: [Grant] }).catch(() => process.exit(4));

/** Ends the process if its vats have halted: another host has the store, or the store cannot be reached. */
const endIfHalted = (error: unknown): void => {
  if ((error as { code?: string }).code === 'vat-halted') process.exit(5);
};

async function open(number: number): Promise<Far<Grant>> {
  for (;;) {
    const name = String(number);
    const made = vats.vat('a').root<Grant>(`grant-${name}`, () => Grant(name, Number(uses), false, outside));
    const grant = await made.catch(endIfHalted);
    if (grant !== undefined) return grant;
    await pause();
  }
}

let calls = 0;
/** Makes one call. Returns its answer; `undefined` if it is unknown whether the call was carried out. */
async function call(grant: Far<Grant>, number: number, kind: keyof Grant): Promise<string | number | undefined> {
  const id = (calls += 1);
  say('call', id, number, kind, now());
  try {
    const answer = await E(grant)[kind]();
    say('back', id, answer, now());
    return answer;
  } catch (error) {
    endIfHalted(error);
    await pause();
    return undefined;
  }
}

/** Uses the grant until it has ended. Grants of odd numbers are revoked, after the use with the number `last`. */
async function caller(grant: Far<Grant>, number: number): Promise<void> {
  const last = number % 2 === 0 ? 0 : (number * 7) % Number(uses); // no use has the number 0
  for (let answer: string | number | undefined; answer !== 'exhausted' && answer !== 'revoked'; ) {
    answer = await call(grant, number, 'use');
    if (answer === last) await call(grant, number, 'revoke');
  }
  await call(grant, number, 'left');
}

for (let number = Number(first); ; number += 1) {
  const grant = await open(number);
  // How many uses the previous host left.
  const found = await call(grant, number, 'left');
  if (number === Number(first) && found !== undefined) say('open');
  await Promise.all(Array.from({ length: 4 }, () => caller(grant, number)));
}
