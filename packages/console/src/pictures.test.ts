/**
 * The pictures of the page in `docs/img`, for people who review it. With HOB_PICTURES=1 it takes them anew:
 *
 *     HOB_PICTURES=1 npm test -- packages/console/src/pictures.test.ts
 *
 * Without, it takes the same ones and keeps none. They are compared by nobody: ids and times differ.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { FsCap } from '@hob/caps-fs';
import type { SessionFace } from '@hob/host';
import { connect, E, type Far } from '@hob/vat';
import type { Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { browserFor, type ConsoleScene, consoleScene, openPage } from '../test/page.ts';

const test = requires('chromium');
browserFor(test);

const FOLDER = new URL('../../../docs/img/', import.meta.url);
/** A page of the documentation has several. */
const MOST_BYTES = 200_000;
const TAKEN = ['answers', 'group', 'inbox', 'ledger', 'phone', 'picture', 'stale', 'suggestions'];

const widthOf = (png: Buffer): number => {
  expect(png.subarray(1, 4).toString('latin1')).toBe('PNG');
  return png.readUInt32BE(16);
};

async function take(page: Page, name: string): Promise<void> {
  expect(TAKEN).toContain(name);
  const png = await page.screenshot({ animations: 'disabled', caret: 'hide' });
  expect(png.length, name).toBeLessThan(MOST_BYTES);
  expect(widthOf(png)).toBe(page.viewportSize()?.width);
  if (process.env['HOB_PICTURES'] === '1') writeFileSync(new URL(`console-${name}.png`, FOLDER), png);
}

const room = (page: Page, name: string): Promise<void> =>
  page.getByRole('navigation').getByRole('button', { name }).click();

/** Two sessions beside the one of the scene, each with a directory whose changes wait. */
async function agents(at: ConsoleScene): Promise<readonly Far<FsCap>[]> {
  return await Promise.all(
    ['reviewer', 'writer'].map(async (name) => {
      const session = await at.host.openSession({ name, granters: ['owner'] });
      await E(at.owner).grant(session.id, 'notes', 'notes', { for: 3_600_000, gated: ['write'] });
      const agent = await connect<SessionFace>(at.at.replace('http://localhost', 'ws://127.0.0.1'), {
        secret: session.secret,
      });
      onTestFinished(async () => {
        agent.close();
        await agent.closed;
      });
      return E(agent.bootstrap).cap('notes') as unknown as Far<FsCap>;
    }),
  );
}

const PLAN = '# Plan\n\nconst days = 3;\nconst people = 4; // without Ada\n';

test('the rooms of the page can be shown: each picture is there, small and of this page', async () => {
  const at = await consoleScene({
    suggest: async () => ({
      diff: '--- hob.yaml\n+++ hob.yaml\n@@ -4,5 +4,6 @@\n   caps:\n     read: { fs: project, can: [read, list] }\n+    # granted 6 times: E12 E19 E25 E31 E40 E44\n+    edit: { fs: project/src, can: [read, write], uses: 1, for: 15m }\n   ask:\n-    edit: { fs: project/src, can: [read, write] }\n', // biome-ignore format: one line
      notes: ['deploy: a person answers each time, as it says'],
    }),
  });
  at.write('plan.md', PLAN);
  const [reviewer, writer] = await agents(at);
  const write = (cap: Far<FsCap> | undefined, people: number): void =>
    void E(cap as Far<FsCap>)
      .write('plan.md', PLAN.replace('people = 4; // without', `people = ${people}; // with`))
      .catch(() => {});
  const { page, errors } = await openPage(await at.link(), { viewport: { width: 1000, height: 900 } });
  write(reviewer, 5);
  await page.waitForFunction(() => document.querySelector('button.yes:not(:disabled)') !== null);
  await take(page, 'inbox');

  at.write('plan.md', PLAN.replace('days = 3', 'days = 2'));
  await page.getByRole('button', { name: /^Approve/ }).click();
  await page.locator('.stale').waitFor();
  await take(page, 'stale');
  const [stale] = await at.inbox();
  await at.refuse(stale!);

  write(reviewer, 6);
  write(writer, 6);
  await page.getByText('2 requests ask for the same.').waitFor();
  await take(page, 'group');
  for (const request of await at.inbox(2)) await at.refuse(request);

  void at.request({ terms: { scope: 'permanent' }, why: 'to keep the notes of the week' });
  await page.getByLabel('This session').check();
  await page.getByText('It ends with its session').scrollIntoViewIfNeeded();
  await take(page, 'answers');
  await page.getByRole('button', { name: /^Approve/ }).click();
  await page.getByText(/ is approved\.$/).waitFor();

  await room(page, 'Suggestions');
  await page.locator('pre.proposed').waitFor();
  await take(page, 'suggestions');
  await room(page, 'Ledger');
  await page.getByRole('button', { name: 'Check the chain' }).click();
  await page.getByText(/lines follow the line before them/).waitFor();
  await take(page, 'ledger');
  await room(page, 'Picture');
  await page.getByRole('button', { name: 'cap notes' }).first().click();
  await take(page, 'picture');
  const phone = await openPage(await at.link(), { viewport: { width: 390, height: 800 } });
  await phone.page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  write(writer, 7);
  await phone.page.locator('article.card').waitFor();
  await take(phone.page, 'phone');
  for (const shown of [errors, phone.errors]) expect(shown).toEqual([]);

  const kept = readdirSync(FOLDER).filter((name) => name.startsWith('console-'));
  expect(kept.toSorted()).toEqual(TAKEN.map((name) => `console-${name}.png`));
  for (const name of kept) {
    const png = readFileSync(new URL(name, FOLDER));
    expect(png.length, name).toBeLessThan(MOST_BYTES);
    expect([390, 1000], name).toContain(widthOf(png));
  }
});
