import { expect, onTestFinished, test } from 'vitest';
import { E, openVats, systemClock, type Vats } from '../index.ts';
import { testClock } from '../testing.ts';
import { makeTimer } from './timer.ts';

async function open(): Promise<Vats> {
  const vats = await openVats();
  onTestFinished(() => vats.close());
  return vats;
}

/** Drivers are called in jobs of their own. */
const settled = (): Promise<void> => new Promise((done) => setImmediate(done));

test('a wait is answered with its value when its time has come by the clock, not before', async () => {
  await open();
  const clock = testClock();
  const timer = makeTimer(clock);
  const answers: unknown[] = [];
  const waits = [30, 10, 20].map((ms) =>
    E(timer)
      .after(ms, `${ms}`)
      .then((value) => answers.push(value)),
  );
  await settled();
  expect([answers, clock.pending()]).toEqual([[], 3]);
  clock.advance(15);
  await settled();
  expect(answers).toEqual(['10']);
  clock.advance(15);
  await Promise.all(waits);
  expect([answers, clock.pending()]).toEqual([['10', '20', '30'], 0]);
});

test('it comes as an ordinary message: in a turn of its own, after what waits already', async () => {
  const vats = await open();
  const vat = vats.vat('a');
  const clock = testClock();
  const timer = makeTimer(clock);
  const order: string[] = [];
  const waited = vat.turn(() => E.when(E(timer).after(5), () => order.push('timer')));
  await settled();
  const before = vat.turn(() => order.push('before'));
  clock.advance(5);
  await Promise.all([waited, before]);
  expect(order).toEqual(['before', 'timer']);
});

test('a malformed waiting time is refused', async () => {
  await open();
  const timer = makeTimer(testClock());
  for (const ms of [-1, Number.NaN, Number.POSITIVE_INFINITY, '5', undefined]) {
    await expect(E(timer).after(ms as number)).rejects.toMatchObject({ code: 'invalid' });
  }
});

test('closing the vats breaks waits and leaves no timer', async () => {
  const vats = await open();
  const clock = testClock();
  const timer = makeTimer(clock);
  const waiting = vats.vat('a').turn(() => E(timer).after(1000));
  const broken = expect(waiting).rejects.toMatchObject({ code: 'unavailable' });
  await settled();
  await vats.close();
  await broken;
  expect(clock.pending()).toBe(0);
});

test('the clock of the machine works as well', async () => {
  await open();
  expect(await E(makeTimer(systemClock())).after(5, 'done')).toBe('done');
});
