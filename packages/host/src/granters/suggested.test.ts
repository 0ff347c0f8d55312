/** A program proposes a change of its settings to a granter. */
import { E, type Far } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { code, type TestHost, testHost } from '../../test/test-host.ts';
import type { Granter, SuggestedChange } from '../index.ts';

const change: SuggestedChange = { diff: '--- a\n+++ a\n', notes: ['edit: a person answers each time'] };

async function opened(suggest?: (granter: string) => Promise<SuggestedChange | undefined>): Promise<TestHost> {
  const home = await testHost(suggest === undefined ? {} : { suggest });
  onTestFinished(() => home.close());
  return home;
}

test('each granter gets what the program proposes to it by its own name, and nobody else can ask', async () => {
  const asked: string[] = [];
  const home = await opened(async (granter) => {
    asked.push(granter);
    return granter === 'owner' ? change : undefined;
  });
  const { granter: bob } = await home.host.addGranter('bob');
  expect(await E(home.granter).suggestions()).toEqual(change);
  // A name that the caller gives is not its own.
  const forged = E(bob) as unknown as { suggestions(name: string): Promise<unknown> };
  expect(await forged.suggestions('owner')).toBe(undefined);
  expect(asked).toEqual(['owner', 'bob']);
  const judge = (await E(home.granter).judge()) as unknown as Far<Granter>;
  expect(await code(E(judge).suggestions())).toBe('no-such-method');
  const agent = (await home.enter(home.session.secret)).bootstrap as unknown as Far<Granter>;
  expect(await code(E(agent).suggestions())).toBe('no-such-method');
  expect(asked).toHaveLength(2);
});

test('a host whose program proposes nothing says so, and one whose program fails ends nothing', async () => {
  expect(await E((await opened()).granter).suggestions()).toBe(undefined);
  const failing = await opened(() => Promise.reject(new Error('a secret path')));
  const error = await E(failing.granter)
    .suggestions()
    .then(
      () => ({ code: 'ok', message: '' }),
      (thrown: { code?: string; message: string }) => thrown,
    );
  expect([error.code, error.message]).toEqual(['unavailable', expect.not.stringContaining('a secret path')]);
  expect(await E(failing.granter).list()).toEqual([]);
});
