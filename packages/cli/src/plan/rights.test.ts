/** The rights of a manifest and the operations of a directory cap name the same things. */
import { changingMethods, readingMethods } from '@hob/caps-fs';
import { effectOfFs, rightsNaming } from '@hob/manifest';
import { expect, test } from 'vitest';
import { operationsOf, readingOperations, waitingMethods } from './rights.ts';

const narrowing = ['subdir', 'readOnly', 'only', 'except', 'withQuota'];

test('all rights give every method of a directory cap but close, and no others', () => {
  const all = operationsOf(['read', 'list', 'search', 'write', 'remove']);
  expect([...all].sort()).toEqual([...new Set([...readingMethods, ...changingMethods, ...narrowing])].sort());
});

test('a method that changes something is never taken for one that only reads', () => {
  expect([...readingMethods, ...changingMethods].filter((method) => effectOfFs(method) !== 'read').sort()).toEqual(
    [...changingMethods].sort(),
  );
  expect(readingOperations.filter((method) => changingMethods.includes(method))).toEqual([]);
  for (const method of changingMethods)
    expect(rightsNaming(method).some((right) => right === 'write' || right === 'remove')).toBe(true);
});

test('where changes wait for a person every method that changes something waits, edit too, and reading goes on', () => {
  const decisions = { read: 'runs', list: 'runs', search: 'runs', write: 'asks', remove: 'asks' } as const;
  const { gated = [], drafts } = waitingMethods('fs', ['read', 'list', 'search', 'write', 'remove'], decisions);
  expect([...gated].sort()).toEqual([...changingMethods].sort());
  expect(drafts).toBe(undefined);
  expect(waitingMethods('fs', ['read', 'list'], decisions)).toEqual({});
});

test('where writes become drafts all do that can be shown before, and a stream and a removal wait for a person', () => {
  const decisions = { read: 'runs', list: 'runs', search: 'runs', write: 'drafts', remove: 'asks' } as const;
  const { gated = [], drafts = [] } = waitingMethods('fs', ['read', 'list', 'search', 'write', 'remove'], decisions);
  expect([...gated].sort()).toEqual(['openWrite', 'remove']);
  expect([...gated, ...drafts].sort()).toEqual([...changingMethods].sort());
});
