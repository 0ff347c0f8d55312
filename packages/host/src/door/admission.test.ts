/** The requests that may come in, header by header. */
import { expect, test } from 'vitest';
import { admit, type UpgradeHeaders } from './admission.ts';
import { placeOf } from './where.ts';

const names = placeOf({ port: 4000 }).names(4000);
const known = 'hob1_abcdefghij';
const knock = async (fields: Partial<UpgradeHeaders>): Promise<string> => {
  const verdict = await admit(
    { host: '127.0.0.1:4000', origin: undefined, authorization: undefined, protocols: [], ...fields },
    names,
    async (secret) => (secret === known ? 'somebody' : undefined),
  );
  return verdict.ok ? `${verdict.who} ${verdict.dialect}` : String(verdict.status);
};
const bearer = `Bearer ${known}`;

test.each<[string, Partial<UpgradeHeaders>, string]>([
  ['our own dialect', { authorization: bearer, protocols: ['hob.1'] }, 'somebody hob.1'],
  ['the first that is known', { authorization: bearer, protocols: ['x', 'hob.1', 'captp'] }, 'somebody hob.1'],
  ['the secret in its header', { authorization: bearer }, 'somebody captp'],
  ['and the dialect', { authorization: bearer, protocols: ['captp'] }, 'somebody captp'],
  ['as a browser does it', { protocols: ['captp', `hob.secret.${known}`] }, 'somebody captp'],
  ['in the other order', { protocols: [`hob.secret.${known}`, 'captp'] }, 'somebody captp'],
  ['by another of the host’s names', { authorization: bearer, host: 'localhost:4000' }, 'somebody captp'],
  ['by IPv6', { authorization: bearer, host: '[::1]:4000' }, 'somebody captp'],
  ['from the host’s own page', { authorization: bearer, origin: 'http://127.0.0.1:4000' }, 'somebody captp'],
  ['no secret', {}, '401'],
  ['a wrong one', { authorization: 'Bearer hob1_wrong' }, '401'],
  ['an empty one', { authorization: 'Bearer ' }, '401'],
  ['by another scheme', { authorization: `Basic ${known}` }, '401'],
  ['with something behind it', { authorization: `${bearer} x` }, '401'],
  ['with a line break', { authorization: `${bearer}\n` }, '401'],
  ['a wrong one beside a right one: the header counts', { authorization: 'Bearer no', protocols: [`hob.secret.${known}`] }, '401'], // biome-ignore format: one line
  ['an empty one offered', { protocols: ['hob.secret.', 'captp'] }, '401'],
  ['the secret as a dialect', { protocols: [known] }, '401'],
  ['only other dialects', { authorization: bearer, protocols: ['mqtt'] }, '400'],
  ['a web page', { authorization: bearer, origin: 'http://evil.example' }, '403'],
  ['a page from a file, or in a sandbox', { authorization: bearer, origin: 'null' }, '403'],
  ['a page of another port', { authorization: bearer, origin: 'http://127.0.0.1:4001' }, '403'],
  ['a page by TLS', { authorization: bearer, origin: 'https://127.0.0.1:4000' }, '403'],
  [
    'a page whose name begins like ours',
    { authorization: bearer, origin: 'http://127.0.0.1:4000.evil.example' },
    '403',
  ],
  ['an empty origin', { authorization: bearer, origin: '' }, '403'],
  ['a name bound to this machine', { authorization: bearer, host: 'evil.example:4000' }, '403'],
  ['our name at another port', { authorization: bearer, host: '127.0.0.1:80' }, '403'],
  ['our name without a port', { authorization: bearer, host: '127.0.0.1' }, '403'],
  ['no name', { authorization: bearer, host: undefined }, '403'],
  ['our address spelt otherwise', { authorization: bearer, host: '2130706433:4000' }, '403'],
  ['all addresses', { authorization: bearer, host: '0.0.0.0:4000' }, '403'],
])('%s', async (_name, fields, expected) => expect(await knock(fields)).toBe(expected));

test('a web page learns nothing about a secret: it is refused before the secret is looked up', async () => {
  let asked = 0;
  const find = async (): Promise<undefined> => void (asked += 1);
  // Nor is one used up by who comes with no dialect that is spoken here.
  for (const fields of [{ origin: 'http://evil.example' }, { host: 'evil.example' }, { protocols: ['mqtt'] }])
    await admit({ host: '127.0.0.1:4000', origin: undefined, authorization: bearer, protocols: [], ...fields }, names, find); // biome-ignore format: one line
  expect(asked).toBe(0);
});

test('no refusal repeats a part of the request', async () => {
  for (const fields of [
    { authorization: bearer, host: 'marker' },
    { authorization: 'Bearer marker' },
    { authorization: bearer, protocols: ['marker'] },
  ]) {
    const verdict = await admit({ host: '127.0.0.1:4000', origin: undefined, protocols: [], ...fields }, names, async (secret) => secret === known || undefined); // biome-ignore format: one line
    expect(verdict.ok ? '' : verdict.reason).not.toMatch(/marker|^$/);
  }
});

test('a secret that cannot be looked up gets 503, and a missing one still gets 401', async () => {
  const broken = async (): Promise<string | undefined> => {
    throw new Error('disk I/O error');
  };
  const tried = async (fields: Partial<UpgradeHeaders>): Promise<unknown> =>
    admit({ host: '127.0.0.1:4000', origin: undefined, authorization: undefined, protocols: [], ...fields }, names, broken); // biome-ignore format: one line
  expect(await tried({ authorization: bearer })).toMatchObject({
    status: 503,
    reason: expect.not.stringMatching(/I\/O/),
  });
  expect(await tried({})).toMatchObject({ status: 401 });
  expect(await tried({ authorization: bearer, origin: 'http://evil.example' })).toMatchObject({ status: 403 });
});
