/** The link to the console, for each kind of address. */
import { expect, test } from 'vitest';
import { consoleLink } from './link.ts';

test('a link leads to the page of the host: as localhost on loopback, over TLS elsewhere, and with the name of the host behind a front door', () => {
  for (const [url, link] of [
    ['ws://127.0.0.1:7710', 'http://localhost:7710/console#k=c-0de'],
    ['ws://127.0.0.1:7710/acme', 'http://localhost:7710/acme/console#k=c-0de'],
    ['wss://alpha.example.org:7710/acme', 'https://alpha.example.org:7710/acme/console#k=c-0de'],
    ['wss://alpha.example.org', 'https://alpha.example.org/console#k=c-0de'],
  ] as const)
    expect(consoleLink(url, 'c-0de')).toBe(link);
});

test('no link is made to an address on a network without TLS, or to a Unix socket', () => {
  for (const url of [
    'ws://10.0.0.1:7710',
    'ws://alpha.example.org:7710',
    'ws+unix:/run/hob.sock:/',
    'http://127.0.0.1:1',
  ])
    expect(() => consoleLink(url, 'c')).toThrow(/serve the host with a port/);
});
