/** The page with more than fits on it, in a real Chromium: many requests, many grants, a long ledger. */
import { E } from '@hob/vat';
import { expect } from 'vitest';
import { volume } from '../../../test/depth.ts';
import { requires } from '../../../test/needs.ts';
import { browserFor, consoleScene, openPage } from '../test/page.ts';

const test = requires('chromium');
browserFor(test);

test('50 requests that come at once are counted, a few cards are drawn, and each of them can be answered', async () => {
  const at = await consoleScene();
  const { page, errors } = await openPage(await at.link());
  await page.getByText('Nothing waits for an answer.').first().waitFor();
  const others = await Promise.all(
    Array.from({ length: 5 }, (_, n) => at.host.openSession({ name: `other-${n}`, granters: ['owner'] })),
  );
  for (const session of others) await at.askAs(session, 10);
  await page.getByRole('button', { name: 'Inbox (50)' }).waitFor();
  expect(await page.locator('article.card').count()).toBe(20);
  await page.getByText('30 more requests wait behind these.').waitFor();
  for (const request of await at.inbox(50)) await at.refuse(request);
  await page.getByText('Nothing waits for an answer.').first().waitFor();
  expect(errors).toEqual([]);
});

const grants = volume(150, 500);

test(`of ${grants} grants the rows on the screen are drawn, and the last one is revoked after scrolling to it`, async () => {
  const at = await consoleScene();
  await at.host.offer('bell', { ring: async () => 'ding' });
  for (let n = 0; n < grants; n += 1) await E(at.owner).grant(at.session.id, `bell-${n}`, 'bell', { for: 3_600_000 });
  const { page, errors } = await openPage(await at.link());
  await page.getByRole('button', { name: 'Grants' }).click();
  const table = page.getByRole('region', { name: 'table of grants' });
  await page.locator(`table[aria-rowcount="${grants + 1}"]`).waitFor();
  expect(await page.locator('tr.grant').count()).toBe(40);
  await table.evaluate((element) => element.scrollTo(0, element.scrollHeight));
  await page.getByRole('button', { name: `Revoke G${grants}`, exact: true }).click();
  expect(await page.locator('tr.grant').count()).toBe(40);
  await page.getByRole('button', { name: 'Revoke it' }).click();
  await page.locator(`table[aria-rowcount="${grants}"]`).waitFor();
  expect(errors).toEqual([]);
});

// The number of calls, in thousands. The ledger also has a line for the grant, and a few for the host.
const thousands = volume(2, 10);

test(`of ${thousands},000 lines of the ledger those on the screen are drawn, and all of them are checked and filtered`, async () => {
  const at = await consoleScene();
  await at.host.offer('bell', { ring: async () => 'ding' });
  await E(at.owner).grant(at.session.id, 'bell', 'bell', { for: 3_600_000 });
  const bell = (await E(at.agent.bootstrap).cap('bell')) as never as { ring(): Promise<string> };
  for (let n = 0; n < thousands * 10; n += 1) await Promise.all(Array.from({ length: 100 }, () => E(bell).ring()));
  const { page, errors } = await openPage(await at.link());
  await page.getByRole('button', { name: 'Ledger' }).click();
  await page.getByText(new RegExp(`^${thousands}0\\d\\d of ${thousands}0\\d\\d lines$`)).waitFor();
  expect(await page.locator('.lines li').count()).toBe(40);
  await page.locator('.lines').evaluate((element) => element.scrollTo(0, element.scrollHeight));
  await page.waitForFunction(
    (last) => document.querySelector('.lines li:last-child')?.textContent?.startsWith(last),
    `E${thousands}0`,
  );
  await page.getByRole('button', { name: 'Check the chain' }).click();
  await page.getByText(new RegExp(`${thousands}0\\d\\d lines follow the line before them`)).waitFor();
  // A checkpoint follows after each 1,000 lines, and the page has all of them.
  await page.getByText(/(\d+) checkpoints are signed by the key of this ledger; \1 of them/).waitFor();
  await page.getByLabel('Grant', { exact: true }).fill('G1');
  await page.getByLabel('Outcome').selectOption('ended');
  await page.getByText(new RegExp(`^0 of ${thousands}0\\d\\d lines$`)).waitFor();
  expect(errors).toEqual([]);
});
