/** Several people on one host, each with a page of their own in a real Chromium. */
import { E } from '@hob/vat';
import { expect } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { consoleScene, openBrowser, openPage } from '../test/page.ts';

const test = requires('chromium');

test('two granters of a session have the same card, and the second is told who answered', async () => {
  const at = await consoleScene({ others: ['bob', 'eve'] });
  const asking = at.request({ terms: { uses: 2, for: 600_000 } });
  await at.inbox();
  const browser = await openBrowser();
  const [first, second] = [
    await openPage(await at.link(), { browser }),
    await openPage(await at.link('bob'), { browser }),
  ];
  const stranger = await openPage(await at.link('eve'), { browser });
  for (const { page } of [first, second]) await page.locator('article.card').waitFor();
  await first.page.getByLabel('because').fill('not today');
  await first.page.getByRole('button', { name: /^Refuse R/ }).click();
  await expect(asking).rejects.toThrow('not today');
  await second.page
    .getByText(/owner refused the request that/)
    .first()
    .waitFor();
  await second.page.getByText('Nothing waits for an answer.').first().waitFor();
  expect(await first.page.getByText(/owner refused the request that/).count()).toBe(0);
  // An answer that no page gave is told on both.
  const again = at.request({ terms: { uses: 1, for: 600_000 } });
  const [request] = await at.inbox();
  for (const { page } of [first, second]) await page.locator('article.card').waitFor();
  const bob = await at.host.granter('bob');
  await E(bob).answer(request?.id ?? '', { grant: {}, digest: request?.digest ?? '' });
  await again;
  for (const { page } of [first, second])
    await page
      .getByText(/bob approved the request that/)
      .first()
      .waitFor();
  // A granter of another session saw neither.
  expect(await stranger.page.locator('article.card').count()).toBe(0);
  expect(await stranger.page.getByText(/(owner|bob) (refused|approved)/).count()).toBe(0);
  const eve = await at.host.granter('eve');
  expect(await E(eve).inbox()).toEqual([]);
  for (const { errors } of [first, second, stranger]) expect(errors).toEqual([]);
});
