/** A host that serves the console, an agent that asks, and a real Chromium with the page. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FsCap, openFsCap } from '@hob/caps-fs';
import {
  type FrontPlace,
  type Granter,
  type Host,
  type HostOptions,
  type NewSession,
  openFrontDoor,
  openHost,
  type Request,
  type ServeOptions,
  type SessionFace,
} from '@hob/host';
import { connect, E, type Far } from '@hob/vat';
import type { Connected } from '@hob/vat/wire';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import type { requires } from '../../../test/needs.ts';
import { CHROMIUM } from '../../../test/packed/chromium.ts';
import { consoleLink, consolePages } from '../src/index.ts';

export interface ConsoleScene {
  readonly host: Host;
  readonly owner: Far<Granter>;
  readonly session: NewSession;
  readonly agent: Connected<SessionFace>;
  /** The address of the door with the pages: `http://localhost:PORT`. */
  readonly at: string;
  /** A new link for a granter. */
  link(granter?: string): Promise<string>;
  file(name: string): string;
  write(name: string, text: string): void;
  /** A request of the agent, for the directory “notes”. It may break before anybody awaits it. */
  request(ask: Partial<Parameters<SessionFace['request']>[0]>): Promise<Far<FsCap>>;
  /** Many requests of another session, each for something else. */
  askAs(session: NewSession, count: number): Promise<void>;
  /**
   * One request for each text, of a new session: every other text is the reason of a request, and the others are in the
   * path and in the contents of a file that a call would write.
   */
  askHostile(session: string, texts: readonly string[]): Promise<void>;
  /** Waits until so many are asked. */
  inbox(count?: number): Promise<readonly Request[]>;
  refuse(request: Request): Promise<void>;
}

/**
 * The first of `others` is a granter of the session, too. The rest are granters of none. With `name` the host is at a door
 * for several hosts, under this name.
 */
export async function consoleScene({
  others = [],
  suggest,
  name: named,
}: {
  readonly others?: readonly string[];
  readonly name?: string;
  readonly suggest?: HostOptions['suggest'];
} = {}): Promise<ConsoleScene> {
  const folder = mkdtempSync(join(tmpdir(), 'hob-console-'));
  const root = join(folder, 'root');
  for (const name of ['state', 'root']) mkdirSync(join(folder, name));
  const host = await openHost({ stateDir: join(folder, 'state'), ...(suggest && { suggest }) });
  const { granter: owner } = await host.addGranter('owner');
  for (const name of others) await host.addGranter(name);
  const session = await host.openSession({ name: 'work', granters: ['owner', ...others.slice(0, 1)] });
  const dir = await openFsCap(root);
  await host.offer('notes', dir, { reads: ['readText', 'read', 'list', 'stat', 'entries'] });
  const front = named === undefined ? undefined : await openFrontDoor();
  const place: ServeOptions | FrontPlace = front === undefined || named === undefined ? {} : { front, name: named };
  const { url } = await host.serve(place, {}, consolePages());
  const agent = await connect<SessionFace>(url, { secret: session.secret });
  onTestFinished(async () => {
    agent.close();
    await agent.closed;
    await host.close();
    await front?.close();
    await dir.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    ...{ host, owner, session, agent },
    at: url.replace('ws://127.0.0.1', 'http://localhost'),
    link: async (granter = 'owner') => consoleLink(url, (await host.entryCode(granter)).code),
    file: (name) => readFileSync(join(root, name), 'utf8'),
    write: (name, text) => writeFileSync(join(root, name), text),
    request(ask) {
      const asked = E(agent.bootstrap).request({ asks: 'notes', terms: {}, why: 'to see', ...ask });
      const cap = asked as unknown as Promise<Far<FsCap>>;
      cap.catch(() => {});
      return cap;
    },
    async askAs({ name, secret }, count) {
      const other = await connect<SessionFace>(url, { secret });
      onTestFinished(async () => {
        other.close();
        await other.closed;
      });
      for (let n = 0; n < count; n += 1)
        E(other.bootstrap)
          .request({ asks: 'notes', terms: { uses: n + 1, for: 60_000 }, why: `${name} ${n}` })
          .catch(() => {});
    },
    async askHostile(name, texts) {
      const { id, secret } = await host.openSession({ name, granters: ['owner'] });
      await E(owner).grant(id, 'gated', 'notes', { for: 3_600_000, gated: ['write'] });
      const other = await connect<SessionFace>(url, { secret });
      onTestFinished(async () => {
        other.close();
        await other.closed;
      });
      const gated = E(other.bootstrap).cap('gated') as unknown as Far<FsCap>;
      for (const [n, text] of texts.entries()) {
        const asking =
          n % 2 === 0
            ? E(other.bootstrap).request({ asks: 'notes', terms: { uses: n + 1, for: 60_000 }, why: text })
            : E(gated).write(
                `${n}-${text.replaceAll(/[/\0]/g, '_').slice(0, 60)}`,
                `${text}\nconst a = "${text}"; // ${text}`,
              );
        asking.catch(() => {});
      }
    },
    async inbox(count = 1) {
      for (;;) {
        const all = (await everyRequest(owner)) as readonly Request[];
        if (all.length === count) return all;
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    refuse: async ({ id, digest }) => void (await E(owner).answer(id, { refuse: 'no', digest })),
  };
}

async function everyRequest(owner: Far<Granter>): Promise<readonly Request[]> {
  const found: Request[] = [];
  for (;;) {
    const page = (await E(owner).inbox(found.at(-1)?.id ?? '')) as readonly Request[];
    if (page.length === 0) return found;
    found.push(...page);
  }
}

/** The browser of the tests of the file that runs. */
let browser: Browser | undefined;

/**
 * Starts one browser for all tests of a file, because a start takes as long as most of these tests. `test` is the
 * result of `requires`.
 */
export function browserFor(test: Pick<ReturnType<typeof requires>, 'beforeAll' | 'afterAll'>): void {
  let folder: string;
  test.beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hob-console-'));
    browser = await chromium.launch({
      executablePath: `/usr/bin/${CHROMIUM}`,
      args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
      env: { ...process.env, HOME: folder, TMPDIR: folder } as Record<string, string>,
    });
  });
  test.afterAll(async () => {
    await browser?.close();
    browser = undefined;
    rmSync(folder, { recursive: true, force: true });
  });
}

/** A page that noted every error and every refusal of its policy. */
export interface Watched {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly errors: readonly string[];
}

/** Opens a page in a context of its own: it shares no cookie, no storage and no permission with another page. */
export async function openPage(
  url: string,
  {
    viewport = { width: 1100, height: 900 },
  }: { readonly viewport?: { readonly width: number; readonly height: number } } = {},
): Promise<Watched> {
  if (browser === undefined) throw new Error('no browser runs: call browserFor(test) at the top of the file');
  const context = await browser.newContext({ viewport });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  // It ends what hangs, as `testTimeout` does. A busy machine gets its time.
  page.setDefaultTimeout(100_000);
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  await page.goto(url);
  return { page, context, errors };
}

/**
 * Notes from now on which approving buttons were shown before they could be pressed. A button that is asked later may have
 * been armed meanwhile. The function that it gives tells whether one with this text was among them.
 */
export async function noteUnarmed(page: Page): Promise<(text: string) => Promise<boolean>> {
  const note = (): void => {
    const texts: string[] = [];
    Object.assign(window, { unarmed: texts });
    const look = (): void => {
      for (const button of document.querySelectorAll('button.yes:disabled')) texts.push(button.textContent ?? '');
    };
    look();
    new MutationObserver(look).observe(document, {
      subtree: true,
      childList: true,
      attributes: true,
      characterData: true,
    });
  };
  await page.addInitScript(note);
  await page.evaluate(note);
  return async (text) => {
    const texts = await page.evaluate(() => (window as unknown as { unarmed: string[] }).unarmed);
    return texts.some((each) => each.startsWith(text));
  };
}
