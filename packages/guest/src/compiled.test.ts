/** A program arrives while its process sends its compiled code. */
import { expect, test } from 'vitest';
import { guestsFor } from '../test/guests.ts';
import { hasCodeCache } from './drivers/child-code.ts';

test('the output of an endless loop arrives, also if the host has not read the compiled code yet', async () => {
  expect(hasCodeCache()).toBe(false);
  const guests = await guestsFor({ isolation: 'ses-only', pool: 1 });
  // The process warms up and sends more than its channel holds. Meanwhile this process reads nothing.
  for (const until = performance.now() + 2000; performance.now() < until; );
  const job = guests.start("console.log('begins'); for (;;);", { caps: {}, limits: { wallMs: 2000 } });
  const over = job.result().catch(({ code }: { code: string }) => code);
  let said = '';
  for (let part = await job.console.next(); part !== undefined; part = await job.console.next()) said += part;
  expect(said).toBe('begins\n');
  expect(await over).toMatch(/^E_|limit/);
});
