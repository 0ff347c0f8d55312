/** Loaded before a program: its clocks run as many times as fast as `HOB_TEST_CLOCK` says, as `FACTOR:START`. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const [factor, start] = (process.env.HOB_TEST_CLOCK ?? '1:0').split(':').map(Number);
const [now, tick, timer, read] = [Date.now, performance.now.bind(performance), setTimeout, fs.readFileSync];
const within = AbortSignal.timeout.bind(AbortSignal);
Date.now = () => Math.round(start + (now() - start) * factor);
performance.now = () => tick() * factor;
// Short ones are of the program itself, and none of the clock.
globalThis.setTimeout = (then, ms, ...rest) => timer(then, ms >= 10_000 ? ms / factor : ms, ...rest);
AbortSignal.timeout = (ms) => within(ms / factor);
fs.readFileSync = (file, ...rest) =>
  file === '/proc/uptime' ? `${Number.parseFloat(read(file, 'utf8')) * factor} 0` : read(file, ...rest);
syncBuiltinESMExports();

/**
 * Kills this process at a step of the first run that it starts, once in its home: `before-spawn`, `after-spawn`, or
 * `after-exit`, when the program has ended and nobody has been told.
 */
const step = process.env.HOB_TEST_KILL;
const marker = `${process.env.TMPDIR}/killed`;
const die = () => {
  fs.writeFileSync(marker, '');
  process.kill(process.pid, 'SIGKILL');
};
const { default: children } = await import('node:child_process');
const spawn = children.spawn;
children.spawn = (program, args, options) => {
  const isRun = step !== undefined && args.some((arg) => String(arg).endsWith('/run.mjs')) && !fs.existsSync(marker);
  if (isRun && step === 'before-spawn') die();
  const child = spawn(program, args, options);
  if (isRun && step === 'after-spawn') die();
  if (isRun && step === 'after-exit') child.prependListener('exit', die);
  return child;
};
syncBuiltinESMExports();
