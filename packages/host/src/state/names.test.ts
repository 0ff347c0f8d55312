/** Names: none passes for another. */
import { E } from '@hob/vat';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { code, testHost } from '../../test/test-host.ts';
import { checkName, skeletonOf } from './names.ts';

test('a name is short, ASCII and printable; a text that NFKC, case or direction would change is refused', () => {
  const bad = ['', 'A', 'é', 'ﬁle', '１', 'ａ', 'a b', 'a\u200bb', 'a\u202eb', 'а', 'a_b', '-a', 'a'.repeat(64), 'a\n', 'a.b', '../a', '__proto__', 7, null, {}]; // biome-ignore format: one line
  for (const name of bad) expect(() => checkName(name, 'a name'), String(name)).toThrow(/1 to 63/);
  for (const name of ['a', '0', 'deploy-key', 'a'.repeat(63)]) checkName(name, 'a name');
});

test('names that look alike count as the same; numbers stay different', () => {
  for (const [
    a,
    b,
  ] of [['paypal', 'paypa1'], ['modern', 'modem'], ['vvork', 'work'], ['root', 'r00t'], ['base', 'ba5e'], ['list', '1ist'], ['zone', '2one'], ['ill', '111']] as const) // biome-ignore format: one line
    expect(skeletonOf(a), `${a} ${b}`).toBe(skeletonOf(b));
  fc.assert(
    fc.property(fc.nat(), fc.nat(), (a, b) => {
      if (a !== b) expect(skeletonOf(`job-${a}`)).not.toBe(skeletonOf(`job-${b}`));
    }),
  );
});

test('a petname that looks like an existing one is refused, from any granter, also after the existing one has ended', async () => {
  const home = await testHost();
  onTestFinished(() => home.close());
  await home.host.offer('bell', { ring: async () => 'ding' });
  const grant = (petname: string): Promise<{ id: string }> =>
    E(home.granter).grant(home.session.id, petname, 'bell', {}) as unknown as Promise<{ id: string }>;
  const { id } = await grant('paypal');
  await E(home.granter).revoke({ grant: id });
  expect(await code(grant('paypa1'))).toBe('invalid');
  // Nor does one open the other.
  expect(await code(home.session.cap('paypa1'))).toBe('no-such-object');
  expect(await home.session.caps()).toEqual(['paypal']);
  await grant('paypal-2');
  expect(await home.session.caps()).toEqual(['paypal', 'paypal-2']);
});

test('a petname cannot be bound again while a call waits, and the call cannot be redirected', async () => {
  const home = await testHost();
  onTestFinished(() => home.close());
  const waiting = Promise.withResolvers<string>();
  await home.host.offer('slow', { ring: () => waiting.promise });
  await home.host.offer('evil', { ring: async () => 'evil' });
  const { id } = (await E(home.granter).grant(home.session.id, 'bell', 'slow', {})) as { id: string };
  const cap = await home.session.cap<{ ring(): Promise<string> }>('bell');
  const answer = code(E(cap).ring());
  await E(home.granter).revoke({ grant: id });
  expect(await code(E(home.granter).grant(home.session.id, 'bell', 'evil', {}))).toBe('invalid');
  waiting.resolve('ding');
  expect(await answer).toBe('revoked');
  expect(await code(E(await home.session.cap<{ ring(): Promise<string> }>('bell')).ring())).toBe('revoked');
});
