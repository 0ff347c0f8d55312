/** One answer for requests that ask for the same, in a real Chromium. */
import type { FsCap } from '@hob/caps-fs';
import type { SessionFace } from '@hob/host';
import { connect, E, type Far } from '@hob/vat';
import type { Connected } from '@hob/vat/wire';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { browserFor, type ConsoleScene, consoleScene, noteUnarmed, openPage } from '../test/page.ts';

const test = requires('chromium');
browserFor(test);

const armed = (): boolean => document.querySelector('button.yes:not(:disabled)') !== null;
const outcome = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'ok',
    (error: { code?: string }) => error.code ?? String(error),
  );

async function agents(at: ConsoleScene, names: readonly string[]): Promise<readonly Connected<SessionFace>[]> {
  return await Promise.all(
    names.map(async (name) => {
      const session = await at.host.openSession({ name, granters: ['owner'] });
      await E(at.owner).grant(session.id, 'gated', 'notes', { for: 3_600_000, gated: ['write', 'append'] });
      const agent = await connect<SessionFace>(at.at.replace('http://localhost', 'ws://127.0.0.1'), {
        secret: session.secret,
      });
      onTestFinished(async () => {
        agent.close();
        await agent.closed;
      });
      return agent;
    }),
  );
}

const ask = ({ bootstrap }: Connected<SessionFace>, uses: number): Promise<string> =>
  outcome(E(bootstrap).request({ asks: 'notes', terms: { uses, for: 60_000 }, why: 'to see' }) as never);

test('three sessions that ask for the same are one card and one answer, and a fourth that asks for more is not', async () => {
  const at = await consoleScene();
  const [one, two, three, other] = await agents(at, ['one', 'two', 'three', 'other']);
  const same = [ask(one!, 2), ask(two!, 2), ask(three!, 2)];
  const more = ask(other!, 3);
  await at.inbox(4);
  const { page, errors } = await openPage(await at.link(), { viewport: { width: 1100, height: 2200 } });
  await page.getByText('3 requests ask for the same.').waitFor();
  expect(await page.locator('article.card').count()).toBe(2);
  const card = page.locator('article.card').filter({ hasText: 'ask for the same' });
  for (const name of ['one', 'two', 'three'])
    await card
      .locator('.same li')
      .filter({ hasText: `asked by ${name}-` })
      .waitFor();
  await card.getByText('lets each of them use').waitFor();
  expect(await card.textContent()).not.toMatch(/lets session/);
  await card.getByLabel('Once').check();
  await card.getByRole('button', { name: 'Approve all 3' }).click();
  expect(await Promise.all(same)).toEqual(['ok', 'ok', 'ok']);
  await page.getByText('all 3 are approved.').waitFor();
  const [left] = await at.inbox(1);
  expect(left?.terms?.uses).toBe(3);
  const grants = (await E(at.owner).list({ live: true })) as readonly { usesLeft?: number; petname: string }[];
  expect(grants.filter(({ petname }) => petname === 'notes').map(({ usesLeft }) => usesLeft)).toEqual([1, 1, 1]);
  // Each was answered by itself, with its own digest.
  const answers: string[] = [];
  for await (const line of at.host.ledger())
    if (JSON.parse(line).k === 'approve') answers.push(JSON.parse(line).digest);
  expect(new Set(answers).size).toBe(3);
  await page.waitForFunction(() => document.querySelectorAll('article.card').length === 1);
  await page.getByRole('button', { name: /^Refuse R/ }).click();
  expect(await more).toBe('denied');
  expect(errors).toEqual([]);
});

test('calls with the same text and other bytes stand apart, and one that joins a group has to be read first', async () => {
  const at = await consoleScene();
  const [one, two, three, evil] = await agents(at, ['one', 'two', 'three', 'evil']);
  const append = (agent: Connected<SessionFace>, bytes: string): Promise<string> =>
    outcome(E(E(agent.bootstrap).cap('gated') as unknown as Far<FsCap>).append('log', Buffer.from(bytes)) as never);
  const good = [append(one!, 'good'), append(two!, 'good')];
  const bad = append(evil!, 'evil');
  await at.inbox(3);
  const { page } = await openPage(await at.link(), { viewport: { width: 1100, height: 2600 } });
  const cards = page.locator('article.card');
  await page.getByText('2 requests ask for the same.').waitFor();
  // Both are shown as 4 bytes.
  expect(await cards.count()).toBe(2);
  await page.waitForFunction(armed);
  const unarmed = await noteUnarmed(page);
  const late = append(three!, 'good');
  await page.getByRole('button', { name: 'Approve all 3' }).waitFor();
  await expect.poll(() => unarmed('Approve all 3')).toBe(true);
  // Answered one by one, if the person wants that.
  await page.getByRole('button', { name: 'Show them one by one' }).click();
  await page.waitForFunction(() => document.querySelectorAll('article.card').length === 4);
  const evilCard = cards.filter({ hasText: 'asked by evil-' });
  await evilCard.getByRole('button', { name: /^Refuse/ }).click();
  expect(await bad).toBe('denied');
  for (const name of ['one', 'two', 'three'])
    await cards
      .filter({ hasText: `asked by ${name}-` })
      .getByRole('button', { name: /^Refuse/ })
      .click();
  expect(await Promise.all([...good, late])).toEqual(['denied', 'denied', 'denied']);
});

test('one yes for two writes to a file makes one of them: the other has seen another file', async () => {
  const at = await consoleScene();
  at.write('a.txt', 'old\n');
  const [one, two] = await agents(at, ['one', 'two']);
  const write = (agent: Connected<SessionFace>): Promise<string> =>
    outcome(E(E(agent.bootstrap).cap('gated') as unknown as Far<FsCap>).write('a.txt', 'new\n') as never);
  const both = Promise.all([write(one!), write(two!)]);
  await at.inbox(2);
  const { page } = await openPage(await at.link(), { viewport: { width: 1100, height: 2200 } });
  await page.getByText('2 requests ask for the same.').waitFor();
  await page.waitForFunction(armed);
  await page.getByRole('button', { name: 'Approve all 2' }).click();
  // The other is asked again, with what the file is now.
  const over = both.then(() => true);
  const turn = (): Promise<boolean> => new Promise((then) => setImmediate(() => then(false)));
  while (!(await Promise.race([over, turn()])))
    for (const each of await E(at.owner).inbox()) if (each.stale !== undefined) await at.refuse(each);
  expect((await both).filter((result) => result === 'ok')).toHaveLength(1);
});

test('of a group whose file has changed nothing is done, and each request is shown again by itself', async () => {
  const at = await consoleScene();
  at.write('a.txt', 'old\n');
  const [one, two] = await agents(at, ['one', 'two']);
  for (const { bootstrap } of [one!, two!])
    void outcome(E(E(bootstrap).cap('gated') as unknown as Far<FsCap>).write('a.txt', 'new\n') as never);
  await at.inbox(2);
  const { page } = await openPage(await at.link(), { viewport: { width: 1100, height: 2600 } });
  await page.getByText('2 requests ask for the same.').waitFor();
  await page.waitForFunction(armed);
  at.write('a.txt', 'other\n');
  await page.getByRole('button', { name: 'Approve all 2' }).click();
  await page
    .getByRole('status')
    .getByText(/^0 of 2 are answered\. STALE/)
    .waitFor();
  await page.waitForFunction(() => document.querySelectorAll('.stale').length === 2);
  expect(at.file('a.txt')).toBe('other\n');
});
