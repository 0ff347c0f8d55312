/** Message caps of a manifest in a real host, to real servers on loopback. The agent is the attacker. */
import { readdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import type { Draft, MessageCap } from '@hob/caps-net';
import type { SessionFace } from '@hob/host';
import { E, type Far } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { code, planOf, planScene } from '../../test/plan.ts';
import { web } from '../../test/web.ts';

const message = (agent: Far<SessionFace>, name: string): Far<MessageCap> =>
  E(agent).cap<MessageCap>(name) as unknown as Far<MessageCap>;

/** A server of Slack's shape that keeps the bodies, and a host that knows its URL as a secret. */
async function slack(session: string, more = '') {
  const at = await planScene();
  const bodies: string[] = [];
  const server = await web((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part) => {
      body += part;
    });
    request.on('end', () => {
      bodies.push(body);
      response.end('ok');
    });
  });
  const text = `version: 1
roots: { project: project }
channels: { slack: { slack: { "#eng": ENG_HOOK }, addresses: [127.0.0.1] }${more} }
session:
${session}`;
  const url = `http://127.0.0.1:${server.port}/services/INTIMATE-hook`;
  const sessions = await at.sessionsOf(planOf(text), { secret: (name) => (name === 'ENG_HOOK' ? url : undefined) });
  const opened = await sessions.open('work');
  const agent = (await at.enter(opened.session.secret)).bootstrap;
  return { at, agent, bodies, server, sessions, opened };
}

test.for([
  ['of ask', '  ask: { tell: { message: "slack:#eng" } }\n'],
  ['in the mode cautious', '  caps: { tell: { message: "slack:#eng" } }\n'],
  ['with always_human', '  mode: autonomous\n  caps: { tell: { message: "slack:#eng", always_human: true } }\n'],
])('a message %s waits, is shown as it will arrive, and what was shown is what arrives, once', async ([, session]) => {
  const { at, agent, bodies, server } = await slack(session as string);
  const tell = message(agent, 'tell');
  const text = `${'a line of many words. '.repeat(60)}\n<!channel> pay Eve`;
  const draft = (await E(tell).draft(text, { subject: 'Order' })) as Draft;
  expect(draft).toMatchObject({ recipient: '#eng', text });
  const sending = E(tell).send(draft) as unknown as Promise<object>;
  const [asked] = await at.inbox();
  const rows = Object.fromEntries(asked?.table ?? []);
  expect(rows).toMatchObject({ what: '“slack:#eng”', to: '“#eng”, by “webhook (slack)”', subject: '“Order”' });
  expect(rows['text']).toContain('pay Eve');
  expect(JSON.stringify(asked)).not.toContain('INTIMATE');
  expect(server.seen).toEqual([]);
  await at.grantAll();
  expect(await sending).toMatchObject({ digest: draft.digest });
  expect(JSON.parse(bodies[0] as string)).toMatchObject({ text: `Order\n${text.replace('<!channel>', '&lt;!channel&gt;')}` }); // biome-ignore format: one line
  // The same draft again, and one that was changed after the yes: asked, granted, and not sent.
  const other = (await E(tell).draft('hello')) as Draft;
  for (const forged of [draft, { ...other, text: 'pay Eve' }, { ...other, recipient: '#all' }]) {
    const again = code(E(tell).send(forged) as never);
    await at.grantAll();
    expect(await again).toBe('E_DRAFT');
  }
  expect(server.seen).toEqual(['POST /services/INTIMATE-hook']);
});

test('uses count messages, and a draft that was sent is sent by no other session', async () => {
  const { at, agent, server, sessions } = await slack('  mode: autonomous\n  caps: { tell: { message: "slack:#eng", uses: 1 } }\n'); // biome-ignore format: one line
  const draft = (await E(message(agent, 'tell')).draft('one')) as Draft;
  expect(await E(message(agent, 'tell')).send(draft)).toMatchObject({ receipt: '200' });
  expect(await code(E(message(agent, 'tell')).draft('two') as never)).toBe('exhausted');
  const other = (await at.enter((await sessions.open('other')).session.secret)).bootstrap;
  expect(await code(E(message(other, 'tell')).send(draft) as never)).toBe('E_DRAFT');
  expect(server.seen.length).toBe(1);
});

test('what one session drafted no other one sends, and none pushes it out', async () => {
  const { at, agent, server, sessions } = await slack('  mode: autonomous\n  caps: { tell: { message: "slack:#eng" } }\n'); // biome-ignore format: one line
  const other = (await at.enter((await sessions.open('other')).session.secret)).bootstrap;
  const draft = (await E(message(agent, 'tell')).draft('mine')) as Draft;
  expect(await code(E(message(other, 'tell')).send(draft) as never)).toBe('E_DRAFT');
  for (let n = 0; n < 70; n += 1) await E(message(other, 'tell')).draft(`flood ${n}`);
  expect(server.seen).toEqual([]);
  expect(await E(message(agent, 'tell')).send(draft)).toMatchObject({ digest: draft.digest });
  expect(server.seen.length).toBe(1);
});

test.for([
  ['a subject with a second header', 'x', { subject: 'a\r\nBcc: eve@x.example' }, 'E_MESSAGE'],
  ['a subject with a header by another line break', 'x', { subject: 'a\u2028Bcc: eve@x.example' }, 'E_MESSAGE'],
  ['a subject that turns', 'x', { subject: 'a\u202etxt.exe' }, 'E_MESSAGE'],
  ['a subject with an invisible sign', 'x', { subject: 'pay\u200beve' }, 'E_MESSAGE'],
  ['a subject with a lone surrogate', 'x', { subject: '\ud800' }, 'invalid'],
  ['a text that turns', 'safe \u202e evil', {}, 'E_MESSAGE'],
  ['a text with a control character', 'a\u0008b', {}, 'E_MESSAGE'],
  ['a recipient of its own', 'x', { to: 'eve@x.example' }, 'invalid'],
  ['a copy', 'x', { bcc: ['eve@x.example'] }, 'invalid'],
  ['an attachment with a path', 'x', { attachments: [{ name: '../a', data: '' }] }, 'E_MESSAGE'],
  ['an attachment with a header', 'x', { attachments: [{ name: 'a\r\nX: y', data: '' }] }, 'E_MESSAGE'],
  ['a type with a header', 'x', { attachments: [{ name: 'a', type: 'a/b\r\nX: y', data: '' }] }, 'E_MESSAGE'],
] as const)('%s is refused before anything is asked or sent', async ([, text, options, refused]) => {
  const { at, agent, server } = await slack('  caps: { tell: { message: "slack:#eng" } }\n');
  expect(await code(E(message(agent, 'tell')).draft(text, options as never) as never)).toMatch(
    new RegExp(`^(?:${refused}|ENCODING|lone-surrogate)$`),
  );
  expect(await at.inbox(0)).toEqual([]);
  expect(server.seen).toEqual([]);
});

test('an outbox has a file for each message; the session reaches nothing else of its folder', async () => {
  const { at, agent } = await slack('  mode: autonomous\n  caps: { note: { message: "out:the printer" } }\n', ', out: { outbox: project/src }'); // biome-ignore format: one line
  const draft = (await E(message(agent, 'note')).draft('Page one.')) as Draft;
  await E(message(agent, 'note')).send(draft);
  const folder = join(at.folder, 'project/src');
  const [file] = readdirSync(folder).filter((name) => name.endsWith('.json'));
  expect(JSON.parse(readFileSync(join(folder, file as string), 'utf8'))).toMatchObject({ to: 'the printer', text: 'Page one.' }); // biome-ignore format: one line
  expect(await E(agent).caps()).toEqual(['note']);
});

test('a mail goes to the mailbox of the manifest through its server, and to nobody else', async () => {
  const commands: string[] = [];
  const mail: string[] = [];
  const server = createServer((socket) => {
    let rest = '';
    let isBody = false;
    socket.write('220 here\r\n');
    socket.on('error', () => {});
    socket.setEncoding('latin1').on('data', (part) => {
      rest += part;
      for (let end = rest.indexOf('\r\n'); end >= 0; end = rest.indexOf('\r\n')) {
        const line = rest.slice(0, end);
        rest = rest.slice(end + 2);
        (isBody ? mail : commands).push(line);
        if (isBody && line !== '.') continue;
        const answer = isBody
          ? '250 kept'
          : /^DATA/.test(line)
            ? '354 go on'
            : /^QUIT/.test(line)
              ? '221 bye'
              : '250 ok';
        isBody = /^DATA/.test(line);
        socket.write(`${answer}\r\n`);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const { agent } = await slack(
    '  mode: autonomous\n  caps: { ann: { message: "mail:ann@example.org" } }\n',
    `, mail: { smtp: "127.0.0.1:${port}", from: hob@example.org, tls: none, addresses: [127.0.0.1] }`,
  );
  const draft = (await E(message(agent, 'ann')).draft('Hello.\n.\nRCPT TO:<eve@x.example>', { subject: 'Grüße' })) as Draft; // biome-ignore format: one line
  expect(await E(message(agent, 'ann')).send(draft)).toMatchObject({ receipt: expect.stringContaining('kept') });
  expect(commands.filter((line) => /^(?:MAIL|RCPT)/.test(line))).toEqual(['MAIL FROM:<hob@example.org>', 'RCPT TO:<ann@example.org>']); // biome-ignore format: one line
  expect(mail.filter((line) => /^(?:To|Bcc|Cc):/i.test(line))).toEqual(['To: ann@example.org']);
});

test('a rotated URL is used for the next message, a missing one is told at the start, and what cannot be made is refused by name', async () => {
  const at = await planScene();
  const text = (channels: string, cap: string): string =>
    `version: 1\nroots: { project: project }\nchannels: ${channels}\nsession: { caps: { tell: { message: "${cap}" } } }\n`;
  const sessions = await at.sessions(text('{ slack: { slack: { a: HOOK } } }', 'slack:a'));
  expect(sessions.notes).toEqual([expect.stringMatching(/^hob: tell: the secret HOOK is not stored/)]);
  const refused: Readonly<Record<string, RegExp>> = {
    '{ m: { smtp: "h.example:465", from: "a..b@h.example" } } m:ann@h.example': /^tell: .*a mailbox is written as/,
    '{ m: { smtp: "H.example:465", from: a@h.example } } m:ann@h.example': /^tell: /,
    '{ m: { outbox: project/none } } m:x': /^project\/none: there is no such folder/,
  };
  for (const [line, why] of Object.entries(refused)) {
    const end = line.lastIndexOf(' ');
    await expect(at.sessions(text(line.slice(0, end), line.slice(end + 1))), line).rejects.toThrow(why);
  }
  expect(await at.host.sessions()).toEqual([]);
});
