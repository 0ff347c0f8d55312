/**
 * The console in a real Chromium: its first paint beside that of an empty page, the time from a request of an agent until
 * a person can see it, and the time from a click on “Revoke it” until the agent is refused.
 *
 * The host and the agent are processes of their own. Times of two processes are compared by the clock of the machine.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Granter } from '@hob/host';
import { connect, E } from '@hob/vat';
import { chromium, type Page } from 'playwright-core';
import { CHROMIUM } from '../test/packed/chromium.ts';
import type { Opened, Order } from './console-host.ts';
import { type Case, percentile, type Suite } from './measure.ts';

const program = `/usr/bin/${CHROMIUM}`;
if (!existsSync(program)) throw new Error('the console is measured in Chromium: install it first (npm run doctor)');

const folder = mkdtempSync(join(tmpdir(), 'hob-bench-console-'));
const children = new Set<ChildProcess>();

function start(...args: readonly string[]): ChildProcess {
  const child = fork(new URL('./console-host.ts', import.meta.url), args);
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

/** Its next line, after the order. */
async function told<T>(child: ChildProcess, order?: Order): Promise<T> {
  if (child.exitCode !== null) throw new Error('a process of the bench ended');
  const ended = new AbortController();
  const gone = once(child, 'exit', { signal: ended.signal }).then(() => {
    throw new Error('a process of the bench ended');
  });
  gone.catch(() => {});
  const said = once(child, 'message', { signal: ended.signal });
  if (order !== undefined) child.send(order);
  const [line] = await Promise.race([said, gone]);
  ended.abort();
  return line as T;
}

const host = start('host', join(folder, 'state'));
const { url, owner, session, agent: secret } = await told<Opened>(host);
const agent = start('agent', url, secret);
await told(agent);
const { bootstrap: granter, ...connection } = await connect<Granter>(url, { secret: owner });
const browser = await chromium.launch({
  executablePath: program,
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  env: { ...process.env, HOME: folder, TMPDIR: folder } as Record<string, string>,
});

/** ms from the beginning of the navigation to the first paint with a content, in a context with nothing cached. */
async function firstPaint(address: string): Promise<number> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(address);
  const ms = await page.evaluate(
    () =>
      new Promise<number>((found) => {
        new PerformanceObserver((list) => {
          const [paint] = list.getEntriesByName('first-contentful-paint');
          if (paint !== undefined) found(paint.startTime);
        }).observe({ type: 'paint', buffered: true });
      }),
  );
  await context.close();
  return ms;
}

let open: Promise<Page> | undefined;
/** The page on which the requests are shown. */
const console = (): Promise<Page> => {
  open ??= (async () => {
    const page = await (await browser.newContext()).newPage();
    await page.goto(await told<string>(host, 'link'));
    await page.getByText('Nothing waits for an answer.').first().waitFor();
    return page;
  })();
  return open;
};

/** Runs in the page. The time after the frame in which an element has the text. */
const paintedAt = ([selector, text]: readonly [string, string]): Promise<number> =>
  new Promise((found) => {
    const look = (): boolean =>
      [...document.querySelectorAll(selector)].some((element) => element.textContent.includes(text));
    const watch = new MutationObserver(() => {
      if (!look()) return;
      watch.disconnect();
      // A message that is posted in a frame arrives after it was drawn.
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => found(performance.timeOrigin + performance.now());
        port2.postMessage(undefined);
      });
    });
    watch.observe(document.body, { subtree: true, childList: true, characterData: true });
    (window as unknown as { watched?: true }).watched = true;
  });

let made = 0;

async function shownAfter(n: number): Promise<number> {
  const page = await console();
  const times: number[] = [];
  for (let i = 0; i < n; i += 1) {
    made += 1;
    await page.evaluate(() => Object.assign(window, { watched: undefined }));
    const painted = page.evaluate(paintedAt, ['article.card', `request ${made}`] as const);
    await page.waitForFunction(() => 'watched' in window && window.watched === true);
    const asked = await told<number>(agent, { ask: made });
    times.push((await painted) - asked);
    for (const { id, digest } of (await E(granter).inbox()) as readonly {
      readonly id: string;
      readonly digest: string;
    }[])
      await E(granter).answer(id, { refuse: 'no', digest });
    await page.getByText('Nothing waits for an answer.').first().waitFor();
  }
  return percentile(times, 95);
}

async function refusedAfter(n: number): Promise<number> {
  const page = await console();
  await page.getByRole('button', { name: 'Grants' }).click();
  const times: number[] = [];
  for (let i = 0; i < n; i += 1) {
    made += 1;
    const name = `bell-${made}`;
    await E(granter).grant(session, name, 'bell', { for: 3_600_000 });
    await told(agent, { callUntilRefused: name });
    await page
      .locator('tr.grant')
      .filter({ hasText: name })
      .getByRole('button', { name: /^Revoke/ })
      .click();
    const clicked = page.evaluate(
      () =>
        new Promise<number>((at) => {
          addEventListener('pointerup', () => at(performance.timeOrigin + performance.now()), { capture: true, once: true }); // biome-ignore format: one line
          (window as unknown as { watched?: true }).watched = true;
        }),
    );
    await page.waitForFunction(() => 'watched' in window && window.watched === true);
    const refused = told<number>(agent);
    await page.getByRole('button', { name: 'Revoke it' }).click();
    times.push((await refused) - (await clicked));
    await page.getByText('Nobody holds anything.').waitFor();
  }
  await page.getByRole('button', { name: /^Inbox/ }).click();
  return percentile(times, 95);
}

const cases: readonly Case[] = [
  {
    name: 'first paint of the page on loopback vs that of an empty page',
    n: 1,
    rounds: 11,
    unit: 'ms',
    ours: async () => firstPaint(await told<string>(host, 'link')),
    peer: () => firstPaint(`${url.replace('ws://127.0.0.1', 'http://localhost')}/empty`),
    goal: { text: '< 300 ms', met: ({ ours }) => ours < 300 },
  },
  {
    name: 'from asked to drawn on the page, p95 of 20',
    n: 20,
    rounds: 5,
    unit: 'ms',
    ours: shownAfter,
    goal: { text: '<= 50 ms', met: ({ ours }) => ours <= 50 },
  },
  {
    name: 'from the click on revoke to the refused call of the agent, p95 of 20',
    n: 20,
    rounds: 5,
    unit: 'ms',
    slow: true,
    ours: refusedAfter,
    goal: { text: '<= 50 ms', met: ({ ours }) => ours <= 50 },
  },
];

export const suite: Suite = {
  name: 'console',
  cases,
  async close() {
    await browser.close();
    connection.close();
    await connection.closed;
    for (const child of children) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  },
};
