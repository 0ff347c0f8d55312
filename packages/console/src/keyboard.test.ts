/** A granter's whole day with the keyboard alone, in a real Chromium: nothing here touches a mouse. */
import { E } from '@hob/vat';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { browserFor, consoleScene, openPage } from '../test/page.ts';

const test = requires('chromium');
browserFor(test);

/** The name of the element with the focus, as a person would call it. */
const focused = (): string => {
  const element = document.activeElement as HTMLElement | null;
  if (element === null || element === document.body) return '';
  const label = element.closest('label')?.textContent?.trim();
  return element.getAttribute('aria-label') ?? (element.localName === 'button' ? element.textContent : label) ?? '';
};

/**
 * Presses Tab until an element of that name has the focus. It must be seen that it has. It goes round the page as often
 * as it takes: what the host has just made may come to the page later.
 */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (const until = Date.now() + 30_000; Date.now() < until; ) {
    if (name.test(await page.evaluate(focused))) {
      const outline = await page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineStyle);
      expect(outline, String(name)).not.toBe('none');
      return;
    }
    await page.keyboard.press('Tab');
  }
  throw new Error(`the keyboard does not reach ${name}`);
}

async function press(page: Page, name: RegExp): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press('Enter');
}

const armed = (): boolean => document.querySelector('button.yes:not(:disabled)') !== null;

test('refuse with a reason, approve some uses, narrow, revoke, grant once, look up, check and stop, by keyboard', async () => {
  const at = await consoleScene({ suggest: async () => ({ diff: '--- a\n+++ a\n', notes: [] }) });
  const { page, errors } = await openPage(await at.link());
  await page.getByText('Nothing waits for an answer.').first().waitFor();

  const first = at.request({ terms: { for: 60_000 } });
  await page.waitForFunction(() => /^Refuse/.test(document.activeElement?.textContent ?? ''));
  await page.keyboard.press('Tab');
  await page.keyboard.type('not today');
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');
  await expect(first).rejects.toThrow('not today');

  const second = at.request({ terms: { uses: 5, for: 600_000 } });
  await page.getByRole('button', { name: /^Approve R2/ }).waitFor();
  await page.waitForFunction(armed);
  await tabTo(page, /^As it was asked/);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  expect(await page.evaluate(focused)).toBe('So many uses');
  await tabTo(page, /^how many/);
  await page.keyboard.type('3');
  await press(page, /^Approve R2/);
  const notes = await second;
  const left = async (): Promise<readonly (number | undefined)[]> =>
    ((await E(at.owner).list({ live: true })) as readonly { usesLeft?: number }[]).map(({ usesLeft }) => usesLeft);
  expect(await left()).toEqual([3]);

  await press(page, /^Grants/);
  await press(page, /^Narrow G1/);
  await tabTo(page, /^uses/);
  await page.keyboard.type('1');
  await press(page, /^Narrow G1/);
  await page.getByText('G1 is narrower now.').waitFor();
  expect(await left()).toEqual([1]);
  await press(page, /^Revoke G1/);
  // No has the focus, so one Enter more changes nothing.
  expect(await page.evaluate(focused)).toBe('No');
  await page.keyboard.press('Enter');
  expect(await left()).toEqual([1]);
  await press(page, /^Revoke G1/);
  await press(page, /^Revoke it/);
  await page.getByText('Nobody holds anything.').waitFor();
  const outcome = await E(notes)
    .list('.')
    .then(
      () => 'ok',
      (error: { code?: string }) => error.code,
    );
  expect(outcome).toBe('revoked');

  await press(page, /^Refused/);
  await press(page, /^Grant R1 once now/);
  await press(page, /^Grant R1 once$/);
  await page.getByText('R1 is granted once.').waitFor();
  await press(page, /^Picture/);
  await press(page, /^cap notes-2/);
  await page.getByText(/leads to “notes”/).waitFor();
  await press(page, /^Suggestions/);
  await press(page, /^Look again/);
  await press(page, /^Ledger/);
  await tabTo(page, /^Lines with/);
  await page.keyboard.type('revoke');
  await page.getByText(/^[1-3] of \d+ lines$/).waitFor();
  await press(page, /^Check the chain/);
  await page.getByText(/lines follow the line before them/).waitFor();

  await press(page, /^Sessions/);
  await press(page, /^End S1/);
  await press(page, /^End it/);
  await page.getByText('S1 has ended.').waitFor();
  await press(page, /^Stop everything/);
  await press(page, /^Revoke everything/);
  await page.getByText('Every grant is revoked.').waitFor();
  expect(await left()).toEqual([]);
  expect(errors).toEqual([]);
});
