import { expect, test } from 'vitest';
import { testClock } from './test-clock.ts';

test('timers fire in the order of their times, each seeing its own time, also those set by another timer', () => {
  const clock = testClock({ wall: 1000, boottime: 0 });
  const fired: string[] = [];
  const say = (name: string) => () => void fired.push(`${name}@${clock.boottime()}/${clock.wall()}`);
  clock.after(30, say('c'));
  clock.after(10, () => {
    say('a')();
    clock.after(5, say('b'));
    clock.after(500, say('late'));
  });
  clock.after(30, say('d'));
  clock.after(20, say('cancelled'))();
  clock.advance(100);
  expect(fired).toEqual(['a@10/1010', 'b@15/1015', 'c@30/1030', 'd@30/1030']);
  expect([clock.boottime(), clock.wall(), clock.tick(), clock.pending()]).toEqual([100, 1100, 100, 1]);
});

test('a wall clock that is set moves nothing else', () => {
  const clock = testClock({ wall: 1000, boottime: 7 });
  clock.after(1, () => expect.fail('time did not pass'));
  clock.stepWall(-400);
  expect([clock.wall(), clock.boottime(), clock.tick()]).toEqual([600, 7, 0]);
  expect(() => clock.advance(-1)).toThrow(RangeError);
});

test('after a reboot the boot time starts again under a new boot id and no timer is left', () => {
  const clock = testClock({ wall: 1000, boottime: 50 });
  const before = clock.bootId;
  clock.after(1, () => expect.fail('it died with its process'));
  clock.reboot(60_000);
  expect(clock.bootId).not.toBe(before);
  expect([clock.boottime(), clock.wall(), clock.pending()]).toEqual([0, 61_000, 0]);
  clock.advance(10);
});
