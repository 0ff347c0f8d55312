/** The paths of a front door. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkHostName, splitPath } from './front-door.ts';

test('the first part of a path is the name of a host, and the rest is the path that this host sees', () => {
  expect(splitPath('/a')).toEqual({ name: 'a', rest: '/' });
  expect(splitPath('/a/')).toEqual({ name: 'a', rest: '/' });
  expect(splitPath('/a?x=/b')).toEqual({ name: 'a', rest: '/?x=/b' });
  expect(splitPath('/a_1/object/x?y')).toEqual({ name: 'a_1', rest: '/object/x?y' });
  expect(splitPath('/a/../b')).toEqual({ name: 'a', rest: '/../b' });
  expect(splitPath('/a//b')).toEqual({ name: 'a', rest: '//b' });
});

test.each([
  ...['', '/', '//b', '/./b', '/../b', '/%61', '/a%2fb', '/a%2e%2e/b', '/A', '/1', '/_a', '/a-b', '/a.b', '/a;b/c'],
  ...['*', 'a', 'http://127.0.0.1/a', '/a\\b', '/a#b', `/${'a'.repeat(41)}`, '/ä', '/\ta', ' /a', '/a\n'],
])('%j names no host', (path) => {
  expect(splitPath(path)).toBeUndefined();
});

test('one path is one host, and no other path of a name is this one', () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,39}$/);
  const part = fc.constantFrom('/', '.', '..', '%2e', '%2f', '?', '#', '\\', 'a', 'b', '_', '0', '@', ':', '\r\n', 'Ä');
  const tail = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(name, tail, (host, rest) => {
      const found = splitPath(`/${host}${rest}`);
      // A name goes on as long as its letters do.
      const [whole = ''] = /^[a-z0-9_]*/.exec(`${host}${rest}`) ?? [];
      const after = `${host}${rest}`.slice(whole.length);
      const named = whole.length <= 40 && /^(?:$|[/?])/.test(after);
      if (!named) return found === undefined;
      return found?.name === whole && found.rest === (after.startsWith('/') ? after : `/${after}`);
    }),
  );
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), fc.boolean(), (text, slash) => {
      const path = slash ? `/${text}` : text;
      const found = splitPath(path);
      if (found === undefined) return true;
      const { name: host, rest } = found;
      const again = splitPath(`/${host}${rest}`);
      // Nothing of the path is lost, and nothing is added but the slash of an empty path.
      const same = [`/${host}${rest}`, `/${host}${rest.slice(1)}`].includes(path);
      return same && checkHostName(host) === again?.name && rest === again.rest;
    }),
  );
});

test.each(['', 'A', '1a', '_a', 'a-b', 'a/b', '..', 'a'.repeat(41), 'a\n', 7, undefined, ['a']])(
  '%j cannot be the name of a host',
  (name) => {
    expect(() => checkHostName(name)).toThrowError(/the name of a host/);
  },
);
