/** Passkeys in a real Chromium, with its virtual authenticator. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FsCap, openFsCap } from '@hob/caps-fs';
import { E, type Far } from '@hob/vat';
import type { Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { browserFor, consoleScene, openPage } from '../test/page.ts';

const test = requires('chromium');
browserFor(test);

interface Authenticator {
  /** Whether the person passes its check. */
  verified(isVerified: boolean): Promise<void>;
  /** Whether the person touches it. */
  touched(isTouched: boolean): Promise<void>;
}

/** Adds authenticators to the browser of a page. */
async function authenticators(page: Page): Promise<(transport: 'internal' | 'usb') => Promise<Authenticator>> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  return async (transport) => {
    const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
      options: { protocol: 'ctap2', transport, hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true }, // biome-ignore format: one line
    });
    return {
      verified: async (isUserVerified) => void (await session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified })), // biome-ignore format: one line
      touched: async (enabled) => void (await session.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled })), // biome-ignore format: one line
    };
  };
}

const notice = (page: Page, text: string | RegExp): Promise<void> => page.locator('.notice', { hasText: text }).waitFor(); // biome-ignore format: one line

/** Waits with each signature of the page for this. A virtual authenticator that is not touched when asked never answers. */
async function beforeSigning(page: Page, touch: () => Promise<void>): Promise<void> {
  await page.exposeFunction('touch', touch);
  await page.evaluate(() => {
    const { credentials } = navigator;
    const sign = credentials.get.bind(credentials);
    credentials.get = async (options) => {
      await (window as unknown as { touch(): Promise<void> }).touch();
      return sign(options);
    };
  });
}

async function approve(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Inbox' }).click();
  await page.getByRole('button', { name: /^Approve/ }).click();
}

test('the page asks for a passkey where the offer needs one; the first is added as it is, each change needs one', async () => {
  const at = await consoleScene();
  const folder = mkdtempSync(join(tmpdir(), 'hob-passkey-'));
  const dir = await openFsCap(folder);
  onTestFinished(async () => {
    await dir.close();
    rmSync(folder, { recursive: true });
  });
  writeFileSync(join(folder, 'a.txt'), 'old');
  await at.host.offer('safe', dir, { needs: 'passkey' });
  await E(at.owner).grant(at.session.id, 'safe', 'safe', { gated: ['write'] });
  const safe = E(at.agent.bootstrap).cap('safe') as unknown as Far<FsCap>;
  const { page, errors } = await openPage(await at.link(), { viewport: { width: 1100, height: 1600 } });
  const add = await authenticators(page);
  const device = await add('internal');
  const writing = E(safe).write('a.txt', 'new');
  writing.catch(() => {});
  await page.getByText('A yes needs one of your passkeys').waitFor();
  await approve(page);
  await notice(page, 'you have none: add one in the room Passkeys');

  await page.getByRole('button', { name: 'Passkeys' }).click();
  await page.getByLabel('name').fill('laptop');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await notice(page, 'The passkey is added.');
  await page.getByText('laptop, added').waitFor();

  // Somebody who is not the person: the browser signs nothing, and the request still waits.
  await device.verified(false);
  await approve(page);
  await notice(page, /not allowed|timed out|NotAllowed/i);
  expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('old');
  await device.verified(true);
  await approve(page);
  await notice(page, 'is approved.');
  await writing;
  expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('new');

  // A second authenticator is added with the first one, and removes it.
  await page.getByRole('button', { name: 'Passkeys' }).click();
  const other = await add('usb');
  await device.touched(false);
  await beforeSigning(page, async () => {
    await other.touched(false);
    await device.touched(true);
  });
  await page.getByLabel('name').fill('key');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByText('key, added').waitFor();
  await page.getByRole('button', { name: 'Remove laptop' }).click();
  await page.getByRole('button', { name: 'Remove it' }).click();
  await notice(page, 'The passkey is removed.');
  const passkeys = (await E(E(at.owner).passkeys()).list()) as readonly { readonly name: string }[];
  expect(passkeys.map(({ name }) => name)).toEqual(['key']);
  expect(errors).toEqual([]);
}, 200_000);
