/** Several people on one host, each with a page of their own in a real Chromium. */
import { E } from '@hob/vat';
import { expect } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { browserFor, consoleScene, openPage } from '../test/page.ts';

const test = requires('chromium');
browserFor(test);

test('what the host proposes is a text to copy: nothing on its room can be pressed but to look again', async () => {
  const hostile = '<img src=x onerror=alert(1)>\u202e';
  const diff = `--- hob.yaml\n+++ hob.yaml\n@@ -1 +1 @@\n-  ask: ${hostile}\n+  caps: ${'x'.repeat(900)} <b>end</b>\n`;
  const asked: string[] = [];
  const at = await consoleScene({
    others: ['bob'],
    suggest: async (granter) => {
      asked.push(granter);
      return granter === 'owner' ? { diff, notes: ['tool: it says always_human'] } : undefined;
    },
  });
  await E(at.owner).grant(at.session.id, 'notes', 'notes', { for: 60_000 });
  const before: unknown = await E(at.owner).list();
  const owner = await openPage(await at.link());
  const bob = await openPage(await at.link('bob'));
  for (const { page } of [owner, bob]) await page.getByRole('button', { name: 'Suggestions' }).click();
  const text = owner.page.locator('pre.proposed');
  // All of it is there, as text, with the odd character by its number.
  await text.waitFor();
  expect(await text.textContent()).toBe(diff.replace('\u202e', '⟨U+202E⟩'));
  expect(await text.locator('img, b').count()).toBe(0);
  await owner.page.getByText('tool: it says always_human').waitFor();
  await bob.page.getByText('This host proposes nothing to you.').waitFor();
  for (const { page } of [owner, bob]) {
    expect(await page.locator('main button, main input, main a').allTextContents()).toEqual(['Look again']);
    await page.getByRole('button', { name: 'Look again' }).click();
  }
  await expect.poll(() => asked.toSorted()).toEqual(['bob', 'bob', 'owner', 'owner']);
  expect(await E(at.owner).list()).toEqual(before);
  for (const { errors } of [owner, bob]) expect(errors).toEqual([]);
});

test('two granters of a session have the same card, and the second is told who answered', async () => {
  const at = await consoleScene({ others: ['bob', 'eve'] });
  const asking = at.request({ terms: { uses: 2, for: 600_000 } });
  await at.inbox();
  const [first, second] = [await openPage(await at.link()), await openPage(await at.link('bob'))];
  const stranger = await openPage(await at.link('eve'));
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
