/** The console in a real Chromium: what a granter sees and does there, and what nobody else can. */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { FsCap } from '@hob/caps-fs';
import type { Grant } from '@hob/host';
import { E, type Far } from '@hob/vat';
import { expect } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { browserFor, consoleScene, noteUnarmed, openPage } from '../test/page.ts';

const test = requires('chromium');
browserFor(test);

const code = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'ok',
    (error: { code?: string }) => error.code ?? String(error),
  );

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8');

test('a request is shown, approved as it was shown, used, narrowed and revoked, all on the page', async () => {
  const at = await consoleScene();
  const { page, errors } = await openPage(await at.link());
  await page.getByText('Nothing waits for an answer.').first().waitFor();
  const asking = at.request({ terms: { uses: 5, for: 600_000 }, why: 'to correct a typo' });
  const card = page.locator('article.card');
  await card.getByText('to correct a typo').waitFor();
  expect(await card.getByText('A yes also permits').isVisible()).toBe(true);
  await card.getByLabel('So many uses').check();
  await card.getByLabel('how many').fill('3');
  await card.getByRole('button', { name: /^Approve/ }).click();
  const notes = await asking;
  await E(notes).write('a.txt', 'one');
  expect(at.file('a.txt')).toBe('one');
  await page.getByText('Nothing waits for an answer.').first().waitFor();
  await page.getByRole('button', { name: 'Grants' }).click();
  const row = page.locator('table.rows tbody tr');
  await row.getByText('2 uses').waitFor();
  await row.getByRole('button', { name: /^Narrow/ }).click();
  await row.getByLabel('uses').fill('1');
  await row.getByRole('button', { name: /^Narrow/ }).click();
  await row.getByText('1 use', { exact: true }).waitFor();
  await row.getByRole('button', { name: /^Revoke/ }).click();
  await row.getByRole('button', { name: 'Revoke it' }).click();
  await page.getByText('Nobody holds anything.').waitFor();
  expect(await code(E(notes).readText('a.txt'))).toBe('revoked');
  const lines: Record<string, unknown>[] = [];
  for await (const line of at.host.ledger()) lines.push(JSON.parse(line));
  expect(lines.filter(({ k }) => k === 'revoke')).toMatchObject([{ by: 'owner', surface: 'console' }]);
  expect(errors).toEqual([]);
});

test('an answer for this session and one until a date are audited, and have the end that the person chose', async () => {
  const at = await consoleScene();
  const { page, errors } = await openPage(await at.link(), { viewport: { width: 1100, height: 1400 } });
  const session = at.request({ terms: { scope: 'permanent' } });
  const card = page.locator('article.card');
  await card.getByLabel('This session').check();
  await card.getByText('It ends with its session, and after 90 days at the latest.').waitFor();
  await card.getByRole('button', { name: /^Approve/ }).click();
  const notes = await session;
  const until = at.request({ terms: { scope: 'permanent', uses: 3 } });
  const approve = card.getByRole('button', { name: /^Approve/ });
  await page.waitForFunction(() => document.querySelector('button.yes:not(:disabled)') !== null);
  await card.getByLabel('Until').check();
  const when = card.getByLabel('when');
  // The time as the zone of the browser has it.
  const local = (days: number): Promise<string> =>
    page.evaluate((ahead) => {
      const then = new Date(Date.now() + ahead * 86_400_000);
      return new Date(then.getTime() - then.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
    }, days);
  for (const days of [-1, 91]) {
    await when.fill(await local(days));
    expect(await approve.isDisabled(), `${days} days`).toBe(true);
  }
  const date = await local(20);
  await when.fill(date);
  await card.getByText('It ends in 20 days.').waitFor();
  await approve.click();
  await until;
  const grants = (await E(at.owner).list({ live: true })) as readonly Grant[];
  const end = await page.evaluate((typed) => new Date(typed).getTime(), date);
  expect(grants.find(({ usesLeft }) => usesLeft === 3)?.until).toBe(end);
  // The outcome of each call is a line of its own.
  await E(notes).list('.');
  const kinds: unknown[] = [];
  for await (const line of at.host.ledger()) kinds.push(JSON.parse(line).k);
  expect(kinds.filter((kind) => kind === 'result')).toHaveLength(1);
  await at.session.end();
  expect(await E(at.owner).list({ live: true })).toEqual([]);
  expect(errors).toEqual([]);
});

test('a refusal takes its reason to the agent', async () => {
  const at = await consoleScene();
  const { page } = await openPage(await at.link());
  const asking = at.request({ terms: { for: 60_000 } });
  const card = page.locator('article.card');
  await card.getByLabel('because').fill('not today');
  await card.getByRole('button', { name: /^Refuse/ }).click();
  await expect(asking).rejects.toThrow('not today');
});

test('the whole work is possible with the keyboard alone, and refusing has the focus', async () => {
  const at = await consoleScene();
  const asking = at.request({ terms: { uses: 2, for: 600_000 } });
  await at.inbox();
  const { page } = await openPage(await at.link());
  const approve = page.getByRole('button', { name: /^Approve/ });
  await approve.waitFor();
  expect(await page.evaluate(() => document.activeElement?.textContent)).toMatch(/^Refuse/);
  await page.waitForFunction(() => document.querySelector('button.yes:not(:disabled)') !== null);
  for (let n = 0; n < 12; n += 1) {
    await page.keyboard.press('Tab');
    if (/^Approve/.test(String(await page.evaluate(() => document.activeElement?.textContent)))) break;
  }
  await page.keyboard.press('Enter');
  const notes = await asking;
  await page.getByRole('button', { name: 'Stop everything' }).focus();
  await page.keyboard.press('Enter');
  // The safe answer has the focus; the other one is one step on.
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('No');
  await page.keyboard.press('Tab');
  // The page learns more each second meanwhile, and moves the focus for none of it.
  void at.request({ asks: 'other', why: 'meanwhile' });
  await page.waitForTimeout(1500);
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Revoke everything');
  await page.keyboard.press('Enter');
  await page.getByText('Every grant is revoked.').waitFor();
  expect(await code(E(notes).readText('a.txt'))).toBe('revoked');
});

test('keys that were typed before, a script of the page and a drag approve nothing', async () => {
  const at = await consoleScene();
  const { page } = await openPage(await at.link());
  await page.getByText('Nothing waits for an answer.').first().waitFor();
  const unarmed = await noteUnarmed(page);
  const asking = at.request({ terms: { for: 60_000 } });
  const approve = page.getByRole('button', { name: /^Approve/ });
  await approve.waitFor();
  expect(await unarmed('Approve')).toBe(true);
  await page.evaluate(() => (document.querySelector('button.yes') as HTMLButtonElement).click());
  await page.waitForFunction(() => document.querySelector('button.yes:not(:disabled)') !== null);
  // A click that no person made, and a press that began elsewhere.
  await page.evaluate(() => (document.querySelector('button.yes') as HTMLButtonElement).click());
  const box = await approve.boundingBox();
  await page.mouse.move(5, 300);
  await page.mouse.down();
  await page.mouse.move(box!.x + 5, box!.y + 5);
  await page.mouse.up();
  expect((await at.inbox()).length).toBe(1);
  await approve.click();
  await asking;
});

test('a card that moves or changes has to be read again', async () => {
  const at = await consoleScene();
  void at.request({ terms: { for: 60_000 }, why: 'first' });
  void at.request({ terms: { for: 70_000 }, why: 'second' });
  await at.inbox(2);
  const { page } = await openPage(await at.link(), { viewport: { width: 1100, height: 2200 } });
  await page.waitForFunction(() => document.querySelectorAll('button.yes:not(:disabled)').length === 2);
  const [one] = await at.inbox(2);
  await at.refuse(one!);
  // The second card moves to the place of the first.
  await page.waitForFunction(() => document.querySelectorAll('article.card').length === 1);
  expect(await page.evaluate(() => document.querySelectorAll('button.yes:not(:disabled)').length)).toBe(0);
  await page.waitForFunction(() => document.querySelectorAll('button.yes:not(:disabled)').length === 1);
});

test('a link opens one page once, and its code leaves the address at once', async () => {
  const at = await consoleScene();
  const link = await at.link();
  const { page } = await openPage(link);
  await page.getByText('Nothing waits for an answer.').first().waitFor();
  expect(page.url()).toBe(`${at.at}/console`);
  const second = await openPage(link);
  await second.page
    .getByRole('alert')
    .waitFor()
    .catch(async (error) => {
      throw new Error(`${error}; errors: ${second.errors.join('; ')}; page: ${await second.page.locator('body').textContent()}`); // biome-ignore format: one line
    });
  expect(await second.page.locator('main').getAttribute('inert')).not.toBe(null);
  const third = await openPage(`${at.at}/console`);
  await third.page.getByText('This address has no code').waitFor();
  expect(await page.evaluate(() => [document.cookie, localStorage.length, sessionStorage.length])).toEqual(['', 0, 0]);
});

test('a page of another origin can neither read the console, frame it, nor act', async () => {
  const at = await consoleScene();
  const { page } = await openPage(await at.link());
  await page.getByText('Nothing waits for an answer.').first().waitFor();
  // Another port is another origin.
  const evil = await consoleScene();
  const { page: attacker } = await openPage(`${evil.at}/nothing`);
  const seen = await attacker.evaluate(async (target) => {
    const tried: Record<string, unknown> = {};
    tried['fetch'] = await fetch(`${target}/console`).then(
      () => 'read',
      () => 'no',
    );
    tried['no-cors'] = await fetch(`${target}/console`, { mode: 'no-cors' }).then(
      (r) => r.type,
      () => 'no',
    );
    tried['post'] = await fetch(`${target}/console`, { method: 'POST', body: 'x' }).then(
      () => 'sent',
      () => 'no',
    );
    tried['socket'] = await new Promise((done) => {
      const socket = new WebSocket(target.replace('http', 'ws'), ['hob.1', 'hob.secret.hob1_guess']);
      socket.onopen = () => done('open');
      socket.onerror = () => done('no');
    });
    tried['frame'] = await new Promise((done) => {
      const frame = document.createElement('iframe');
      frame.src = `${target}/console`;
      frame.onload = () => {
        try {
          done(
            frame.contentDocument?.body === undefined ? 'no' : String(frame.contentDocument?.querySelector('#console')),
          );
        } catch {
          done('no');
        }
      };
      document.body.append(frame);
    });
    tried['window'] = (() => {
      const opened = window.open(`${target}/console`);
      try {
        return opened === null ? 'no' : String(opened.document.querySelector('#console'));
      } catch {
        return 'no';
      }
    })();
    return tried;
  }, at.at);
  expect(seen['fetch']).toBe('no');
  expect(['no', 'opaque']).toContain(seen['no-cors']);
  expect(seen['socket']).toBe('no');
  for (const way of ['post', 'frame', 'window']) expect(['no', 'null', 'undefined'], way).toContain(seen[way]);
});

/** Runs in the page. */
const violationsOf = ({ violations }: { violations: { id: string; nodes: { html: string }[] }[] }): string[] =>
  violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`);

/** Texts that try to become markup, to hide, or to change the order of what is shown: 200 of them. */
const MARKUP = ['<img src=x onerror=alert(1)>', '<script>alert(1)</script>', '"><svg onload=alert(1)>', "';alert(1)//", '{{7*7}}', '${7*7}', '<b>bold</b>', '&lt;b&gt;', '<!--', ']]>', '<style>*{display:none}</style>', '<base href=//evil>', '<form action=//evil>', '<iframe src=//evil>', 'javascript:alert(1)', '<a href="javascript:alert(1)">x</a>']; // biome-ignore format: one line
const UNSEEN = [0x202a, 0x202b, 0x202c, 0x202e, 0x202d, 0x2066, 0x2067, 0x2068, 0x2069, 0x200e, 0x200f, 0x061c, 0x200b, 0x200c, 0x200d, 0x2060, 0x2061, 0x2064, 0x206a, 0x206f, 0xfeff, 0x00ad, 0x034f, 0x115f, 0x1160, 0x17b4, 0x180e, 0x3164, 0xffa0, 0x2028, 0x2029, 0x0000, 0x0007, 0x0008, 0x001b, 0x007f, 0x0085, 0x009b, 0xe000, 0xe0041, 0xfe0f]; // biome-ignore format: one line
const HOSTILE = [
  ...MARKUP,
  ...UNSEEN.map((point) => `ab${String.fromCodePoint(point)}cd`),
  ...UNSEEN.map((point) => `${String.fromCodePoint(point).repeat(3)}${MARKUP[point % MARKUP.length]}`),
  ...MARKUP.flatMap((text) => [`\u202e${text}\u202c`, `${text.slice(0, 3)}\u200b${text.slice(3)}`, `${'x'.repeat(700)}${text}`, `שלום ${text}`, text.toUpperCase()]), // biome-ignore format: one line
  ...['pаypal.com', 'ｆｕｌｌ', '𝐛𝐨𝐥𝐝', 'שלום a/b', 'x'.repeat(5000), 'e\u0301'.repeat(50), 'раураl', 'gοοgle', 'a\u0338/b', '\ud83d\udc68\u200d\ud83d\udc69', '١٢٣', '%3Cscript%3E', '\\u003cscript>', 'a\tb', '‮⁦x⁩', '\u0600abc', 'Z\u0335\u0322\u030e', '\r\nApprove R1', '~~~', '[yes](javascript:1)', '\u001b[2J', '\u001b]8;;http://evil\u0007x'], // biome-ignore format: one line
];

test('hostile texts in every field become no markup, hide nothing and reorder nothing', async () => {
  const at = await consoleScene();
  const { page, errors } = await openPage(await at.link());
  expect(HOSTILE.length).toBeGreaterThanOrEqual(200);
  for (let from = 0; from < HOSTILE.length; from += 10) {
    const texts = HOSTILE.slice(from, from + 10);
    await at.askHostile(`hostile-${from}`, texts);
    const asked = await at.inbox(texts.length);
    const cards = page.locator('article.card');
    await page.waitForFunction((count) => document.querySelectorAll('article.card').length === count, texts.length);
    const found = await cards.evaluateAll((elements) =>
      elements.map((element) => ({
        foreign: [...element.querySelectorAll('*')].map(({ localName }) => localName).filter((name) => ['img', 'script', 'svg', 'style', 'iframe', 'base', 'form', 'a', 'b'].includes(name)), // biome-ignore format: one line
        hidden: /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}]/u.exec(
          (element.textContent ?? '').replaceAll('\n', '').replaceAll('\t', ''),
        )?.[0],
        inOrder: [...element.querySelectorAll('bdi.exact')].every((each) => getComputedStyle(each).unicodeBidi === 'isolate-override'), // biome-ignore format: one line
      })),
    );
    for (const each of found)
      expect(each, JSON.stringify(texts)).toEqual({ foreign: [], hidden: undefined, inOrder: true });
    for (const request of asked) await at.refuse(request);
    await page.getByText('Nothing waits for an answer.').first().waitFor();
  }
  expect(errors).toEqual([]);
});

test('axe finds no violation in any room, in light and dark, on a phone and with text of twice the size', async () => {
  const at = await consoleScene();
  await at.host.offer('more', { read: async () => 'x' });
  await E(at.owner).grant(at.session.id, 'more', 'more', { for: 60_000, uses: 5 });
  void at.request({ terms: { uses: 1 } });
  await at.refuse((await at.inbox())[0]!);
  at.write('a.txt', 'one\ntwo\n');
  await E(at.owner).grant(at.session.id, 'gated', 'notes', { for: 60_000, gated: ['write'] });
  const writing = E(E(at.agent.bootstrap).cap('gated') as unknown as Far<FsCap>).write(
    'a.txt',
    'one\nconst three = "3"; // 3\n',
  );
  writing.catch(() => {});
  await at.inbox();
  for (const { width, dark, zoom } of [
    { width: 1100, dark: false, zoom: 1 },
    { width: 390, dark: true, zoom: 2 },
  ]) {
    const { page } = await openPage(await at.link(), { viewport: { width, height: 800 } });
    await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light', reducedMotion: 'reduce' });
    await page.evaluate((size) => {
      document.documentElement.style.fontSize = `${size * 16}px`;
    }, zoom);
    for (const room of ['Inbox', 'Grants', 'Sessions', 'Picture', 'Refused', 'Suggestions', 'Passkeys', 'Ledger']) {
      await page.getByRole('navigation').getByRole('button', { name: room }).click();
      await page.locator('main h2').waitFor();
      if (room === 'Inbox') await page.getByRole('button', { name: 'Side by side' }).click();
      // The rules run in a world of their own: the policy of the page lets no other script in.
      const found = await page.evaluate(`${AXE};axe.run(document).then(${String(violationsOf)})`);
      expect(found, `${room} at ${width}`).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), `${room} at ${width} fits`).toBe(true); // biome-ignore format: one line
    }
  }
});

test('a host that was closed under an open page is said to be gone, and nothing can be pressed', async () => {
  const at = await consoleScene();
  const { page } = await openPage(await at.link());
  await page.getByText('Nothing waits for an answer.').first().waitFor();
  await at.host.close();
  await page.getByRole('alert').getByText('hob console').waitFor();
  expect(await page.locator('main').getAttribute('inert')).not.toBe(null);
});

test('the page of a host at a door for several hosts loads its parts there, and enters this host', async () => {
  const at = await consoleScene({ name: 'acme' });
  expect(at.at).toMatch(/^http:\/\/localhost:\d+\/acme$/);
  const { page, errors } = await openPage(await at.link());
  await page.getByText('Nothing waits for an answer.').first().waitFor();
  const asking = at.request({ terms: { uses: 5, for: 600_000 } });
  await page
    .locator('article.card')
    .getByRole('button', { name: /^Approve/ })
    .click();
  await asking;
  expect(errors).toEqual([]);
});
