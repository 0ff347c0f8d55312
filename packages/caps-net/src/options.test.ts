/** An option that nobody reads is refused: a misspelt limit would be no limit, and a misspelt `tls` no TLS. */
import type { FsCap } from '@hob/caps-fs';
import { expect, test } from 'vitest';
import { expectRefused } from '../../../test/misspelt.ts';
import {
  mailAdapter,
  makeHttpCap,
  makeMessageCap,
  makeScheduleCap,
  makeSecret,
  makeSignerCap,
  outboxAdapter,
  webhookAdapter,
} from './index.ts';

test('an option of another name is refused everywhere, and the one that was meant is named', async () => {
  const url = makeSecret(() => 'https://hooks.example/x');
  const mail = { server: 'mail.example:465', from: 'a@b.example', to: 'c@d.example' };
  const adapter = outboxAdapter({ directory: {} as FsCap, recipient: 'a' });
  const message = makeMessageCap(adapter);
  const http = makeHttpCap({ origin: 'https://a.example', prefix: '/' });
  const login = { user: 'u', password: url, passwor: url } as never;
  await expectRefused({
    makeHttpCap: [() => makeHttpCap({ origin: 'https://a.example', prefi: '/x' } as never), 'prefi', 'prefix'],
    fetch: [() => http.fetchText('/', { metho: 'POST' } as never), 'metho', 'method'],
    get: [() => http.getText('/', { header: {} } as never), 'header', 'headers'],
    mailAdapter: [() => mailAdapter({ ...mail, tl: 'none' } as never), 'tl', 'tls'],
    'mailAdapter, login': [() => mailAdapter({ ...mail, login }), 'passwor', 'password'],
    webhookAdapter: [() => webhookAdapter({ url, recipient: 'a', shap: 'slack' } as never), 'shap', 'shape'],
    outboxAdapter: [() => outboxAdapter({ directory: {}, recipien: 'a' } as never), 'recipien', 'recipient'],
    draft: [() => message.draft('x', { subjec: 'a' } as never), 'subjec', 'subject'],
    makeSignerCap: [() => makeSignerCap({ ke: url } as never), 'ke', 'key'],
    makeScheduleCap: [() => makeScheduleCap({} as never, { misse: 'late' } as never), 'misse', 'missed'],
  });
  await http[Symbol.asyncDispose]();
});

test('a choice that there is not is refused, and no other is taken for it', () => {
  const url = makeSecret(() => 'https://hooks.example/x');
  const mail = { server: 'mail.example:465', from: 'a@b.example', to: 'c@d.example' };
  const refused = expect.objectContaining({ code: 'invalid' });
  expect(() => mailAdapter({ ...mail, tls: 'startls' as never })).toThrow(refused);
  expect(() => webhookAdapter({ url, recipient: 'a', shape: 'slak' as never })).toThrow(refused);
  expect(() => webhookAdapter({ url: 'https://hooks.example/x' as never, recipient: 'a' })).toThrow(refused);
});
