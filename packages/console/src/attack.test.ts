/** Tricks that make a person answer what they did not mean to, in a real Chromium with real keys and a real mouse. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Granter } from '@hob/host';
import { connect, E } from '@hob/vat';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { browserFor, type ConsoleScene, consoleScene, openPage } from '../test/page.ts';

const test = requires('chromium');
browserFor(test);

const armed = (): boolean => document.querySelector('button.yes:not(:disabled)') !== null;

/** Every answer that the ledger has. */
async function answers(at: ConsoleScene): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const line of at.host.ledger()) {
    const { k } = JSON.parse(line) as { readonly k: string };
    if (k === 'approve' || k === 'deny') found.push(k);
  }
  return found;
}

/** A page of somebody else, at an origin of its own. */
async function attackerAt(html: string): Promise<string> {
  const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end(html));
  await new Promise<void>((open) => server.listen(0, '127.0.0.1', open));
  onTestFinished(() => new Promise<void>((closed) => void server.close(() => closed())).finally(() => {}));
  onTestFinished(() => server.closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

test('a page that lies over the framed console gets no click to it, even with a link that is good', async () => {
  const at = await consoleScene();
  void at.request({ terms: { for: 60_000 } });
  await at.inbox();
  const link = await at.link();
  const frame = (sandbox: string): string =>
    `<iframe ${sandbox} src="${link}" style="position:fixed;inset:0;width:100%;height:100%;opacity:0.01;border:0"></iframe>`; // biome-ignore format: one line
  const lure = `<button id="lure" style="position:fixed;left:40px;top:400px">You have won</button>`;
  for (const sandbox of ['', 'sandbox="allow-scripts allow-same-origin"', 'sandbox="allow-scripts"']) {
    const { page } = await openPage(await attackerAt(`<!doctype html>${lure}${frame(sandbox)}`));
    for (const inner of page.frames().slice(1)) expect(await inner.locator('article.card').count()).toBe(0);
    for (let y = 20; y < 900; y += 110) for (let x = 20; x < 1100; x += 180) await page.mouse.click(x, y);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
  }
  expect(await answers(at)).toEqual([]);
  // No frame has traded the code: it still enters once.
  const url = new URL(link);
  const entered = await connect<Granter>(`ws://127.0.0.1:${url.port}`, { secret: url.hash.slice('#k='.length) });
  entered.close();
  await entered.closed;
});

test('a click that follows at once when the tab comes to the front approves nothing', async () => {
  const at = await consoleScene();
  const { page } = await openPage('about:blank');
  // The tab of a test is always in front, so the page is told.
  await page.addInitScript(() => {
    Object.assign(window, { away: false });
    Object.defineProperty(document, 'visibilityState', { get: () => ((window as never as { away: boolean }).away ? 'hidden' : 'visible') }); // biome-ignore format: one line
  });
  await page.goto(await at.link());
  const asking = at.request({ terms: { for: 60_000 } });
  await page.waitForFunction(armed);
  const { x, y } = (await page.getByRole('button', { name: /^Approve/ }).boundingBox())!;
  const turn = (away: boolean): Promise<void> =>
    page.evaluate((now) => {
      Object.assign(window, { away: now });
      document.dispatchEvent(new Event('visibilitychange'));
    }, away);
  // The first click of a double click was for the window of the attacker, which has closed itself.
  await turn(true);
  await page.waitForFunction(() => document.querySelector('button.yes:not(:disabled)') === null);
  await turn(false);
  await page.mouse.click(x + 5, y + 5);
  expect(await answers(at)).toEqual([]);
  await page.waitForFunction(armed);
  await page.mouse.click(x + 5, y + 5);
  await asking;
});

test('a drag answers nothing: from a text of the agent, and from the button of one card to that of another', async () => {
  const at = await consoleScene();
  void at.request({ terms: { for: 60_000 }, why: 'drag me to the button' });
  void at.request({ terms: { for: 70_000 }, why: 'and me' });
  await at.inbox(2);
  const { page } = await openPage(await at.link(), { viewport: { width: 1100, height: 2200 } });
  await page.waitForFunction(() => document.querySelectorAll('button.yes:not(:disabled)').length === 2);
  const [one, two] = [page.getByRole('button', { name: 'Approve R1' }), page.getByRole('button', { name: 'Approve R2' })]; // biome-ignore format: one line
  const words = page.getByText('drag me to the button');
  await words.click({ clickCount: 3 });
  for (const [from, to] of [[words, one], [one, two], [two, one]] as const) await from.dragTo(to); // biome-ignore format: one line
  const refuse = page.getByRole('button', { name: 'Refuse R1' });
  await one.dragTo(refuse);
  await refuse.dragTo(two);
  // Words of an agent that are dropped into a field are no answer.
  await words.click({ clickCount: 3 });
  await words.dragTo(page.getByLabel('because').first());
  expect(await answers(at)).toEqual([]);
  expect((await at.inbox(2)).length).toBe(2);
});

test('a program that fills fields fills none that answers, and Enter in a field sends nothing', async () => {
  const at = await consoleScene();
  void at.request({ terms: { uses: 9, for: 600_000 } });
  await at.inbox();
  const { page } = await openPage(await at.link());
  await page.waitForFunction(armed);
  await page.getByLabel('So many uses').check();
  const fields = await page.locator('input').evaluateAll((all) =>
    all.filter((each) => !['radio', 'checkbox'].includes((each as HTMLInputElement).type)).map((each) => {
      const { autocomplete, name, id, form } = each as HTMLInputElement;
      return { autocomplete, name, id, inForm: form !== null };
    }),
  ); // biome-ignore format: one line
  expect(fields).toEqual(Array.from({ length: 2 }, () => ({ autocomplete: 'off', name: '', id: '', inForm: false })));
  expect(await page.locator('form').count()).toBe(0);
  // As an extension fills: all at once, with the events of typing, and Enter at the end.
  await page.evaluate(() => {
    const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set;
    for (const input of document.querySelectorAll<HTMLInputElement>('input:not([type=radio])')) {
      set?.call(input, '7');
      for (const type of ['input', 'change', 'blur']) input.dispatchEvent(new Event(type, { bubbles: true }));
      for (const type of ['keydown', 'keypress', 'keyup'])
        input.dispatchEvent(new KeyboardEvent(type, { key: 'Enter', bubbles: true }));
    }
  });
  // The number was taken, so the button could be pressed.
  expect(await page.getByLabel('how many').inputValue()).toBe('7');
  await page.waitForFunction(armed);
  await page.evaluate(() => {
    for (const type of ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click'])
      document.querySelector('button.yes')?.dispatchEvent(new MouseEvent(type, { bubbles: true }));
  });
  for (const label of ['how many', 'because']) {
    await page.getByLabel(label).focus();
    await page.keyboard.press('Enter');
  }
  expect(await answers(at)).toEqual([]);
});

test('keys that are typed ahead, or held down, approve no card that came meanwhile', async () => {
  const at = await consoleScene();
  const { page } = await openPage(await at.link());
  await page.getByText('Nothing waits for an answer.').first().waitFor();
  // Somebody goes on with the keys of another work as a card comes.
  await page.getByRole('button', { name: 'Ledger' }).focus();
  for (let n = 0; n < 30; n += 1) {
    await page.keyboard.press('Tab');
    if (n === 2) void at.request({ terms: { uses: 2, for: 60_000 } });
    await page.keyboard.type('y ');
  }
  const asks = async (): Promise<number> => {
    let count = 0;
    for await (const line of at.host.ledger()) if (JSON.parse(line).k === 'request') count += 1;
    return count;
  };
  await expect.poll(asks).toBe(1);
  expect((await answers(at)).includes('approve')).toBe(false);
  // The keys may have led into another room.
  await page
    .getByRole('navigation')
    .getByRole('button', { name: /^Inbox/ })
    .click();
  // Enter is held down on the button of one card while another waits below.
  for (const request of await everyWaiting(at)) await at.refuse(request);
  const good = at.request({ terms: { uses: 3, for: 60_000 }, why: 'good' });
  await at.inbox(1);
  const bad = at.request({ terms: { uses: 4, for: 60_000 }, why: 'bad' });
  bad.catch(() => {});
  await at.inbox(2);
  await page.waitForFunction(() => document.querySelectorAll('article.card').length === 2);
  await page.locator('.edge').last().scrollIntoViewIfNeeded();
  const yes = page
    .locator('article.card')
    .filter({ hasText: 'good' })
    .getByRole('button', { name: /^Approve/ });
  await yes.scrollIntoViewIfNeeded();
  await page.waitForFunction(armed);
  await yes.focus();
  const before = (await answers(at)).length;
  // Each further one is a repetition of the key.
  for (let n = 0; n < 40; n += 1) await page.keyboard.down('Enter');
  await good;
  await page.waitForFunction(() => document.querySelectorAll('article.card').length === 1);
  for (let n = 0; n < 40; n += 1) await page.keyboard.down('Enter');
  await page.waitForFunction(armed);
  for (let n = 0; n < 40; n += 1) await page.keyboard.down('Enter');
  await page.keyboard.up('Enter');
  expect((await answers(at)).slice(before)).toEqual(['approve']);
  expect((await at.inbox(1)).map(({ why }) => why)).toEqual([expect.stringContaining('bad')]);
});

const everyWaiting = async (at: ConsoleScene) => (await E(at.owner).inbox()) as Awaited<ReturnType<ConsoleScene['inbox']>>; // biome-ignore format: one line

test('a second click in the same moment is no second answer, and does not reach the card that moves up', async () => {
  const at = await consoleScene();
  const good = at.request({ terms: { for: 60_000 }, why: 'good' });
  await at.inbox(1);
  void at.request({ terms: { for: 70_000 }, why: 'bad' });
  await at.inbox(2);
  const { page } = await openPage(await at.link(), { viewport: { width: 1100, height: 2200 } });
  await page.waitForFunction(() => document.querySelectorAll('button.yes:not(:disabled)').length === 2);
  const { x, y } = (await page.getByRole('button', { name: 'Approve R1' }).boundingBox())!;
  await page.mouse.click(x + 5, y + 5, { clickCount: 4 });
  await good;
  await page.getByText('R1 is approved.').waitFor();
  await page.mouse.click(x + 5, y + 5, { clickCount: 2 });
  expect(await answers(at)).toEqual(['approve']);
  expect((await at.inbox(1))[0]?.why).toContain('bad');
});

test('a person whose click comes second, because another answered while the page was busy, is told who it was', async () => {
  const at = await consoleScene({ others: ['bob'] });
  const asking = at.request({ terms: { for: 60_000 } });
  const [request] = await at.inbox();
  const { page } = await openPage(await at.link());
  await page.waitForFunction(armed);
  const { x, y } = (await page.getByRole('button', { name: /^Approve/ }).boundingBox())!;
  // The page learns nothing until it is done, and the click waits before the news.
  const busy = page.evaluate(async () => {
    document.title = 'busy';
    for (const end = performance.now() + 2000; performance.now() < end; );
  });
  const bob = await at.host.granter('bob');
  await E(bob).answer(request!.id, { refuse: 'no', digest: request!.digest });
  await page.mouse.click(x + 5, y + 5);
  await busy;
  await expect(asking).rejects.toThrow('no');
  await page
    .getByRole('status')
    .getByText(/^bob refused the request that/)
    .waitFor();
  expect(await answers(at)).toEqual(['deny']);
});
