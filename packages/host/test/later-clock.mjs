/** Loaded before a program: its clocks are `HOB_TEST_LATER` ms ahead, as if it had been started that much later. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const later = Number(process.env.HOB_TEST_LATER ?? 0);
const [now, tick, read] = [Date.now, performance.now.bind(performance), fs.readFileSync];
Date.now = () => now() + later;
performance.now = () => tick() + later;
fs.readFileSync = (file, ...rest) =>
  file === '/proc/uptime' ? `${Number.parseFloat(read(file, 'utf8')) + later / 1000} 0` : read(file, ...rest);
syncBuiltinESMExports();
