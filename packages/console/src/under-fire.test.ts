/** Pages beside each other, hosts that are killed, clocks that are set back, and tricks that move the click of a person. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { FsCap } from '@hob/caps-fs';
import { E, type Far } from '@hob/vat';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { browserFor, consoleScene, noteUnarmed, openPage } from '../test/page.ts';

const test = requires('chromium');
browserFor(test);

const armed = (): boolean => document.querySelector('button.yes:not(:disabled)') !== null;

test('of two pages with the same request the first answer wins, and the other page is told', async () => {
  const at = await consoleScene();
  const one = (await openPage(await at.link())).page;
  const two = (await openPage(await at.link())).page;
  const asking = at.request({ terms: { for: 60_000 } });
  await one.waitForFunction(armed);
  await two.waitForFunction(armed);
  // The card of one may be gone before its click arrives.
  const click = (page: typeof one, name: RegExp): Promise<void> =>
    page
      .getByRole('button', { name })
      .click({ timeout: 5000 })
      .catch(() => {});
  await Promise.all([click(one, /^Approve/), click(two, /^Refuse R/)]);
  const outcome = await asking.then(
    () => 'approved',
    () => 'refused',
  );
  for (const page of [one, two]) await page.getByText('Nothing waits for an answer.').first().waitFor();
  const [winner, loser] = outcome === 'approved' ? [one, two] : [two, one];
  const told = async (page: typeof one, text: string): Promise<void> => {
    const notice = page.locator('.notice');
    await notice
      .filter({ hasText: text })
      .waitFor()
      .catch(async () => {
        throw new Error(`the notice is ${JSON.stringify(await notice.textContent())}, and not ${text}`);
      });
  };
  await told(winner, `is ${outcome}.`);
  await told(loser, `owner ${outcome} the request that`);
  const answers: string[] = [];
  for await (const line of at.host.ledger()) answers.push(...(/"k":"(approve|deny)"/.exec(line)?.[1] ?? '').split(' ').filter(Boolean)); // biome-ignore format: one line
  expect(answers).toHaveLength(1);
});

test('a file that changes under a card makes it STALE: old and new stand beside each other, and no second click approves it', async () => {
  const at = await consoleScene();
  at.write('a.txt', 'one\ntwo\n');
  await E(at.owner).grant(at.session.id, 'gated', 'notes', { for: 60_000, gated: ['write'] });
  const gated = E(at.agent.bootstrap).cap('gated') as unknown as Far<FsCap>;
  const writing = E(gated)
    .write('a.txt', 'one\nthree\n')
    .then(
      () => 'written',
      () => 'refused',
    );
  const { page, errors } = await openPage(await at.link());
  await page.waitForFunction(armed);
  at.write('a.txt', 'one\nsecret of another\n');
  await page.getByRole('button', { name: /^Approve R1/ }).dblclick();
  const stale = page.locator('.stale');
  await stale.getByText(/STALE:.*replaces R1, which has changed since it was shown/).waitFor();
  await page
    .getByRole('status')
    .getByText(/^STALE: the request has changed/)
    .waitFor();
  const rows = await stale.locator('tbody tr').evaluateAll((all) => all.map((row) => [...row.children].map((cell) => `${cell.className}:${cell.textContent}`))); // biome-ignore format: one line
  expect(rows).toContainEqual([':line of the change', 'out:-two', 'none:not there']);
  expect(rows).toContainEqual([':line of the change', 'none:not there', 'in:-secret of another']);
  expect(rows.flat().join()).not.toContain('three');
  expect(at.file('a.txt')).toBe('one\nsecret of another\n');
  // The card is longer than the screen now: its end has to be looked at, too.
  await page.locator('.edge').last().scrollIntoViewIfNeeded();
  await page.waitForFunction(armed);
  await page.getByRole('button', { name: /^Approve R2/ }).click();
  expect(await writing).toBe('written');
  expect(at.file('a.txt')).toBe('one\nthree\n');
  expect(errors).toEqual([]);
});

test('a page that did not show what a request replaces says so', async () => {
  const at = await consoleScene();
  at.write('a.txt', 'one\n');
  await E(at.owner).grant(at.session.id, 'gated', 'notes', { for: 60_000, gated: ['write'] });
  const gated = E(at.agent.bootstrap).cap('gated') as unknown as Far<FsCap>;
  E(gated)
    .write('a.txt', 'two\n')
    .catch(() => {});
  const [request] = await at.inbox();
  at.write('a.txt', 'other\n');
  await expect(E(at.owner).answer(request!.id, { grant: {}, digest: request!.digest })).rejects.toMatchObject({ code: 'STALE' }); // biome-ignore format: one line
  const { page } = await openPage(await at.link());
  await page.getByText(/STALE:.*This page did not show R1/).waitFor();
  expect(await page.locator('.stale table').count()).toBe(0);
});

test('a host that is killed under an open page takes the page with it, and the next host shows the same grants', async () => {
  const state = mkdtempSync(join(tmpdir(), 'hob-console-'));
  onTestFinished(() => rmSync(state, { recursive: true, force: true }));
  const start = async (...args: readonly string[]) => {
    const program = fileURLToPath(new URL('../test/host-process.ts', import.meta.url));
    const child = spawn(process.execPath, [program, state, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'exit');
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await ended;
    });
    const [link] = (await once(createInterface(child.stdout), 'line')) as [string];
    return { child, link, ended };
  };
  const first = await start('first');
  const { page } = await openPage(first.link);
  await page.getByRole('button', { name: 'Grants' }).click();
  await page.getByRole('button', { name: 'Revoke G1', exact: true }).waitFor();
  first.child.kill('SIGKILL');
  await first.ended;
  await page.getByRole('alert').getByText('hob console').waitFor();
  expect(await page.locator('main').getAttribute('inert')).not.toBe(null);
  const second = await start();
  const next = (await openPage(second.link)).page;
  await next.getByRole('button', { name: 'Grants' }).click();
  await next.getByRole('button', { name: 'Revoke G1', exact: true }).click();
  await next.getByRole('button', { name: 'Revoke it' }).click();
  await next.getByText('Nobody holds anything.').waitFor();
});

test('a clock of the browser that is set back arms no card, and takes no time from one', async () => {
  const at = await consoleScene();
  const { page } = await openPage('about:blank');
  await page.addInitScript(() => {
    const real = Date.now;
    Date.now = () => real() - 86_400_000;
  });
  await page.goto(await at.link());
  const unarmed = await noteUnarmed(page);
  const asking = at.request({ terms: { for: 60_000 } });
  const approve = page.getByRole('button', { name: /^Approve/ });
  await approve.waitFor();
  expect(await unarmed('Approve')).toBe(true);
  await page.getByText(/less than a second ago|\d s ago/).waitFor();
  await page.waitForFunction(armed);
  await approve.click();
  await asking;
});

test('what was refused can be granted once, and the picture and the timeline show it until it is revoked', async () => {
  const at = await consoleScene();
  const { page, errors } = await openPage(await at.link());
  const asking = at.request({ terms: { for: 60_000 } });
  await page.getByRole('button', { name: /^Refuse R1/ }).click();
  await expect(asking).rejects.toThrow();
  await page.getByRole('navigation').getByRole('button', { name: 'Refused' }).click();
  await page.getByRole('button', { name: 'Grant R1 once now' }).click();
  await page.getByRole('button', { name: 'Grant R1 once', exact: true }).click();
  await page.getByText('R1 is granted once.').waitFor();
  const notes = (await E(at.agent.bootstrap).cap('notes')) as never as { list(path: string): Promise<unknown> };
  await E(notes).list('.');
  const again = await E(notes)
    .list('.')
    .then(
      () => 'ok',
      () => 'refused',
    );
  expect(again).toBe('refused');
  await page.getByRole('button', { name: 'Sessions' }).click();
  await page.getByText(/notes\.list was called/).waitFor();
  expect(errors).toEqual([]);
});

test('the picture is followed with the keyboard, says in words what a node leads to, and fades what was revoked', async () => {
  const at = await consoleScene();
  await E(at.owner).grant(at.session.id, 'desk', 'notes', { for: 60_000 });
  const { page } = await openPage(await at.link());
  await page.getByRole('button', { name: 'Picture' }).click();
  const desk = page.getByRole('button', { name: 'cap desk' });
  await desk.focus();
  await page.keyboard.press('Enter');
  await page.getByText(/The cap G1 desk leads to “notes”/).waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByText(/The root “notes” leads no further/).waitFor();
  await E(at.owner).revoke('all');
  await page.getByRole('button', { name: 'ended cap desk' }).waitFor();
});

test('a notification says how many requests wait, while the tab is not seen, and has no button', async () => {
  const at = await consoleScene();
  const { page, context } = await openPage('about:blank');
  await context.grantPermissions(['notifications'], { origin: at.at });
  await page.addInitScript(() => {
    const said: unknown[] = [];
    const Real = Notification;
    Object.assign(window, { said });
    // The tab of a test is always in front.
    Object.defineProperty(document, 'visibilityState', { get: () => (window as never as { away?: boolean }).away === true ? 'hidden' : 'visible' }); // biome-ignore format: one line
    window.Notification = class extends Real {
      constructor(title: string, options?: NotificationOptions) {
        super(title, options);
        said.push([title, options]);
      }
    };
  });
  await page.goto(await at.link());
  await page.getByText('Nothing waits for an answer.').first().waitFor();
  await page.evaluate(() => Object.assign(window, { away: true }));
  void at.request({ terms: { for: 60_000 }, why: 'a secret reason' });
  await page.waitForFunction(() => (window as never as { said: unknown[] }).said.length > 0);
  const said = await page.evaluate(() => (window as never as { said: unknown[] }).said);
  expect(said).toEqual([['Hob', { body: '1 request waits for an answer.', tag: 'hob-requests' }]]);
});
