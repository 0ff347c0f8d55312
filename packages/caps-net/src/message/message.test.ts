/** Messages against real servers on loopback. The attacker is a session, or a server that misbehaves. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFsCap } from '@hob/caps-fs';
import { definitions, type GatedCall, gated, type Judge } from '@hob/revocable';
import { driver, driverOf, E, openStore, openVats } from '@hob/vat';
import fc from 'fast-check';
import { SMTPServer } from 'smtp-server';
import { expect, onTestFinished, test } from 'vitest';
import { codeOf, leadingTo, web } from '../../test/web.ts';
import { digestOf } from '../drivers/digest.ts';
import { makeSecret } from '../secret/secret.ts';
import { makeMessageCap } from './cap.ts';
import { mailAdapterWith } from './drivers/mail.ts';
import type { MessageAdapter, MessageCap } from './message-cap.ts';
import { outboxAdapter } from './outbox.ts';
import { webhookAdapter } from './webhook.ts';

/** Keeps what it is given. */
const memory = (): MessageAdapter & { readonly sent: string[] } => {
  const sent: string[] = [];
  return {
    ...{ kind: 'memory', recipient: 'ann@example.com', sent },
    render: async (message) => Buffer.from(JSON.stringify(message)),
    deliver: async (bytes, _message, { leaving }) => {
      leaving();
      sent.push(Buffer.from(bytes).toString());
      return 'ok';
    },
  };
};

test('a draft is sent once, as it was made, and by nobody who changed it', async () => {
  const adapter = memory();
  const cap = makeMessageCap(adapter);
  const draft = await cap.draft('hello\r\nyou', { subject: 'Hi', attachments: [{ name: 'a.txt', data: 'abc' }] });
  expect(draft).toMatchObject({ kind: 'memory', recipient: 'ann@example.com', subject: 'Hi', text: 'hello\nyou' });
  expect(draft.attachments).toEqual([{ name: 'a.txt', type: 'application/octet-stream', bytes: 3, digest: digestOf(Buffer.from('abc')), text: 'abc' }]); // biome-ignore format: one line
  const changed = [
    ...[
      { ...draft, recipient: 'eve@example.com' },
      { ...draft, text: 'other' },
      { ...draft, digest: '0'.repeat(64) },
    ],
    ...[
      { ...draft, attachments: [] },
      { ...draft, more: 1 },
      { ...draft, id: 'x' },
      { id: draft.id },
      undefined,
      'x',
      [],
    ],
  ];
  for (const one of changed) expect(await codeOf(() => cap.send(one as never))).toBe('E_DRAFT');
  expect(adapter.sent).toEqual([]);
  const results = await Promise.all([1, 2, 3].map(() => codeOf(() => cap.send({ ...draft }))));
  expect(results.sort()).toEqual(['E_DRAFT', 'E_DRAFT', 'ok']);
  expect(adapter.sent.map((bytes) => digestOf(Buffer.from(bytes)))).toEqual([draft.digest]);
  expect(await codeOf(() => makeMessageCap(adapter).send(draft))).toBe('E_DRAFT');
});

test('a draft has the words of an attachment that is text, and a detector sees that a long one is longer than it reads', async () => {
  const cap = makeMessageCap(memory());
  const wordsOf = async (data: string | Uint8Array): Promise<string | undefined> =>
    (await cap.draft('x', { attachments: [{ name: 'a', data }] })).attachments[0]?.text;
  expect(await wordsOf('Grüße')).toBe('Grüße');
  for (const data of ['', 'a\0b', new Uint8Array([0xff, 0xfe, 0x61]), new Uint8Array([0x61, 0xc3])])
    expect(await wordsOf(data)).toBe(undefined);
  // Cut by characters, and never within one.
  for (const letter of ['a', 'ü', '語', '🙂']) {
    const words = (await wordsOf(letter.repeat(20_000))) ?? '';
    expect([words.length, words]).toEqual([4_000, letter.repeat(4_000 / letter.length)]);
  }
  expect(await wordsOf(`a${'🙂'.repeat(20_000)}`)).toBe(`a${'🙂'.repeat(1_999)}`);
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 6_000 }), async (text) => {
      const words = await wordsOf(text.toWellFormed());
      if (text.includes('\0') || text === '') return void expect(words).toBe(undefined);
      expect(
        text
          .toWellFormed()
          .replace(/^\ufeff/, '')
          .startsWith(words ?? '?'),
      ).toBe(true);
    }),
  );
});

test('the one who approves sees recipient and text as they arrive, and nothing changes after the yes', async () => {
  const adapter = memory();
  const store = await openStore({ memory: true });
  const vats = await openVats({ store, definitions: [...definitions] });
  onTestFinished(async () => {
    await vats.close();
    await store.close();
  });
  const asked: { call: GatedCall; say: (answer: boolean) => void }[] = [];
  const judge = driver<Judge>(
    { ask: ([call]) => new Promise((say) => void asked.push({ call, say: say as never })) },
    { name: 'judge' },
  );
  const cap = gated(driverOf<MessageCap>(makeMessageCap(adapter), { name: 'mail' }), judge, { methods: ['send'] });
  const draft = { ...(await E(cap).draft('pay 5 to Ann', { subject: 'Order' })) };
  const sending = E(cap).send(draft as never);
  draft.text = 'pay 500 to Eve';
  draft.recipient = 'eve@example.com';
  await expect.poll(() => asked.length).toBe(1);
  const [shown] = (asked[0]?.call.args ?? []) as [typeof draft?];
  expect(shown).toMatchObject({
    recipient: 'ann@example.com',
    subject: 'Order',
    text: 'pay 5 to Ann',
    digest: draft.digest,
  });
  asked[0]?.say(true);
  expect(await sending).toMatchObject({ digest: draft.digest, receipt: 'ok' });
  expect(JSON.parse(adapter.sent[0] ?? '')).toMatchObject({ text: 'pay 5 to Ann' });
  const refused = codeOf(() => E(cap).send(draft as never));
  await expect.poll(() => asked.length).toBe(2);
  asked[1]?.say(true);
  expect(await refused).toBe('E_DRAFT');
});

test('no text makes a header, a second recipient, or a message that reads other than it is', async () => {
  const adapter = memory();
  const cap = makeMessageCap(adapter);
  const lines = ['a\r\nBcc: eve@example.com', 'a\nb', 'a\rb', 'a\0b', 'a\u2028b', 'a\u0085b', 'a\u202egnp.exe', 'a\u2066b', 'a\u200bb', 'a\ufeffb', 'a\u00adb', 'a\u{e0041}b', 'a\u3164b', '\ud800', 'a\u001b[31m', 'x'.repeat(201)]; // biome-ignore format: one line
  for (const line of lines) {
    expect([line, await codeOf(() => cap.draft('x', { subject: line }))]).not.toEqual([line, 'ok']);
    expect([line, await codeOf(() => cap.draft('x', { attachments: [{ name: line, data: '' }] }))]).not.toEqual([line, 'ok']); // biome-ignore format: one line
    expect(() => makeMessageCap({ ...adapter, recipient: line })).toThrow();
  }
  for (const text of ['a\0b', 'a\rb', 'a\u001b[2J', 'a\u202eb', 'a\u2029b', 'x'.repeat(200_001), 7])
    expect([text, await codeOf(() => cap.draft(text as string))]).not.toEqual([text, 'ok']);
  for (const name of ['../x', 'a/b', 'a\\b', '..', '', 'a"b', 'a:b'])
    expect([name, await codeOf(() => cap.draft('x', { attachments: [{ name, data: '' }] }))]).toEqual([name, 'E_MESSAGE']); // biome-ignore format: one line
  expect(await codeOf(() => cap.draft('x', { attachments: [{ name: 'a', type: 'text/html\r\nX: y', data: '' }] }))).toBe('E_MESSAGE'); // biome-ignore format: one line
  for (const to of ['a@b\r\nRCPT TO:<eve@x>', 'a@b,c@d', 'Ann <a@b>', '<a@b>', '"a b"@c', 'a@bücher.example', 'a@B', 'a b@c', 'a@', '@b', 'a@b@c', 'a@[127.0.0.1]', 'ä@b', 'a@b.', 'a@b>', 'a\0@b']) // biome-ignore format: one line
    expect([to, await codeOf(() => mailAdapterWith({ server: 'mail.example:465', from: 'bot@example.com', to }, leadingTo()))]).toEqual([to, 'E_MESSAGE']); // biome-ignore format: one line
  expect(adapter.sent).toEqual([]);
});

interface Mail {
  readonly port: number;
  readonly got: { readonly from: string; readonly to: string[]; readonly raw: string }[];
}
async function mailServer(options: ConstructorParameters<typeof SMTPServer>[0] = {}): Promise<Mail> {
  const got: Mail['got'] = [];
  const server = new SMTPServer({
    ...{ authOptional: true, disabledCommands: ['STARTTLS'], logger: false },
    onData: (stream, session, done) => {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        got.push({ from: mailFrom === false ? '' : mailFrom.address, to: rcptTo.map(({ address }) => address), raw: Buffer.concat(parts).toString() }); // biome-ignore format: one line
        done();
      });
    },
    ...options,
  });
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())));
  return { port: (server.server.address() as { port: number }).port, got };
}
const mailTo = (port: number, more: object = {}): MessageCap =>
  makeMessageCap(
    mailAdapterWith(
      { server: `mail.example:${port}`, tls: 'none', from: 'bot@example.com', to: 'ann@example.com', addresses: ['127.0.0.1'], ...more },
      leadingTo('127.0.0.1'),
    ),
  ); // biome-ignore format: one line

test('a mail server gets exactly the bytes of the draft, for one mailbox', async () => {
  const { port, got } = await mailServer();
  const cap = mailTo(port);
  const text = '.\r\nfrom\n.\nFrom Eve\n\n--boundary\nümläut 😀\n';
  const draft = await cap.draft(text, { subject: 'Grüße =?utf-8?Q?x?=', attachments: [{ name: 'bé.bin', data: new Uint8Array([0, 255, 13, 10, 46]) }] }); // biome-ignore format: one line
  const { receipt } = await cap.send(draft);
  expect(receipt).toMatch(/^250/);
  const [mail] = got;
  expect([got.length, mail?.from, mail?.to]).toEqual([1, 'bot@example.com', ['ann@example.com']]);
  expect(digestOf(Buffer.from(mail?.raw ?? ''))).toBe(draft.digest);
  expect(mail?.raw.match(/^(?:To|Cc|Bcc|From): .*$/gim)).toEqual(['From: bot@example.com', 'To: ann@example.com']);
  const body = /base64\r\n\r\n([A-Za-z0-9+/=\r\n]*)/.exec(mail?.raw ?? '')?.[1] ?? '';
  expect(Buffer.from(body, 'base64').toString().replaceAll('\r\n', '\n')).toBe(draft.text);
});

test('a login is used and never told; a refusal is told and nothing is sent again', async () => {
  let tries = 0;
  const { port, got } = await mailServer({
    allowInsecureAuth: true,
    authOptional: false,
    onAuth: ({ username, password }, _session, done) => {
      tries += 1;
      if (username === 'bot' && password === 'mail-password-1') return done(null, { user: 'bot' });
      done(new Error(`no: ${password}`));
    },
  });
  let value = 'wrong-password-2';
  const login = { user: 'bot', password: makeSecret(() => value) };
  const cap = mailTo(port, { login });
  const first = await cap.draft('x');
  const refused = await cap.send(first).catch((error: Error & { code: string }) => error);
  expect([(refused as { code?: string }).code, String((refused as Error).message).includes('password-2')]).toEqual(['E_REFUSED', false]); // biome-ignore format: one line
  expect(await codeOf(() => cap.send(first))).toBe('E_DRAFT');
  expect([tries, got.length]).toEqual([1, 0]);
  value = 'mail-password-1';
  await cap.send(await cap.draft('x'));
  expect(got).toHaveLength(1);
  const none = await mailServer({ onRcptTo: (_address, _session, done) => done(new Error('no such user')) });
  const nobody = mailTo(none.port);
  expect(await codeOf(async () => nobody.send(await nobody.draft('x')))).toBe('E_REFUSED');
});

test('a mail server that ends before DATA has nothing, and one that ends after it may have it', async () => {
  let cut: 'before' | 'after' = 'before';
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => {});
    socket.write('220 hi\r\n');
    let data = false;
    socket.on('data', (part) => {
      for (const line of part.toString().split('\r\n').slice(0, -1)) {
        if (data) {
          if (line === '.') return void socket.destroy();
        } else if (/^DATA/.test(line)) {
          if (cut === 'before') return void socket.destroy();
          data = true;
          socket.write('354 go on\r\n');
        } else socket.write('250 ok\r\n');
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const cap = mailTo(port);
  expect(await codeOf(async () => cap.send(await cap.draft('x')))).toBe('E_UNREACHABLE');
  cut = 'after';
  expect(await codeOf(async () => cap.send(await cap.draft('x')))).toBe('unknown-outcome');
  expect(connections).toBe(2);
  await new Promise((resolve) => server.close(resolve));
  expect(await codeOf(async () => cap.send(await cap.draft('x')))).toBe('E_UNREACHABLE');
  const inside = makeMessageCap(mailAdapterWith({ server: `mail.example:${port}`, from: 'a@b.example', to: 'c@d.example' }, leadingTo('127.0.0.1'))); // biome-ignore format: one line
  expect(await codeOf(async () => inside.send(await inside.draft('x')))).toBe('E_ADDRESS');
});

test('a webhook gets the text as it was approved, and its URL is told to nobody', async () => {
  const bodies: { url: string; body: string; key: unknown }[] = [];
  let status = 200;
  await using at = await web((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      bodies.push({
        url: request.url ?? '',
        body: Buffer.concat(parts).toString(),
        key: request.headers['idempotency-key'],
      });
      if (status === 0) return void request.socket.destroy();
      response.writeHead(status, status === 307 ? { location: '/elsewhere' } : {}).end('ok');
    });
  });
  let path = '/services/T0/secret-path-1';
  const url = makeSecret(() => `http://127.0.0.1:${at.port}${path}`);
  const slack = makeMessageCap(webhookAdapter({ url, recipient: '#ops', shape: 'slack', addresses: ['127.0.0.1'] }));
  const draft = await slack.draft('<!channel> <http://evil.example|bank> & *bold* @here', { subject: 'S' });
  await slack.send(draft);
  expect(JSON.parse(bodies[0]?.body ?? '')).toMatchObject({ text: 'S\n&lt;!channel&gt; &lt;http://evil.example|bank&gt; &amp; *bold* @here', mrkdwn: false, link_names: false }); // biome-ignore format: one line
  expect(digestOf(Buffer.from(bodies[0]?.body ?? ''))).toBe(draft.digest);
  expect(await codeOf(() => slack.draft('x', { attachments: [{ name: 'a', data: 'b' }] }))).toBe('E_MESSAGE');
  path = '/services/T0/rotated-path-2';
  const plain = makeMessageCap(webhookAdapter({ url, recipient: '#ops', addresses: ['127.0.0.1'] }));
  await plain.send(await plain.draft('t', { attachments: [{ name: 'a', data: 'b' }] }));
  expect([bodies[1]?.url, JSON.parse(bodies[1]?.body ?? '').attachments]).toEqual(['/services/T0/rotated-path-2', [{ name: 'a', type: 'application/octet-stream', base64: 'Yg==' }]]); // biome-ignore format: one line
  for (const [answer, code] of [
    [400, 'E_REFUSED'],
    [429, 'E_REFUSED'],
    [500, 'E_REFUSED'],
    [503, 'E_REFUSED'],
    [307, 'E_REFUSED'],
    [0, 'unknown-outcome'],
  ] as const) {
    // biome-ignore format: one line
    status = answer;
    const error = (await plain.send(await plain.draft('t')).catch((thrown: unknown) => thrown)) as Error & {
      code: string;
    };
    expect([answer, error.code, error.message.includes('path-2')]).toEqual([answer, code, false]);
  }
  expect(bodies).toHaveLength(8);
  expect(new Set(bodies.map(({ key }) => key)).size).toBe(8);
  expect(JSON.stringify([await plain.describe(), draft])).not.toMatch(/services|path-/);
});

test('an outbox gets one whole file for each message', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hob-outbox-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await using directory = await openFsCap(folder);
  const cap = makeMessageCap(outboxAdapter({ directory, recipient: 'the printer' }));
  const draft = await cap.draft('print', { subject: 's' });
  const { receipt } = await cap.send(draft);
  expect(await readdir(folder)).toEqual([receipt]);
  const bytes = await readFile(join(folder, receipt));
  expect([digestOf(bytes), JSON.parse(bytes.toString())]).toMatchObject([draft.digest, { to: 'the printer', text: 'print' }]); // biome-ignore format: one line
  const same = { id: draft.id, subject: '', text: 'another', attachments: [] };
  const again = outboxAdapter({ directory, recipient: 'the printer' });
  const hand = { signal: new AbortController().signal, leaving: () => {} };
  expect(await codeOf(() => again.deliver(Buffer.from('another'), same, hand))).toBe('E_REFUSED');
  expect(await readFile(join(folder, receipt))).toEqual(bytes);
  const reader = makeMessageCap(outboxAdapter({ directory: await directory.readOnly(), recipient: 'nobody' }));
  expect(await codeOf(async () => reader.send(await reader.draft('x')))).toBe('E_REFUSED');
});
