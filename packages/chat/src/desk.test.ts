/**
 * Requests in a chat, over a real host. The attackers are people of the chat, the agent whose words are
 * shown, and the network.
 */
import { E } from '@hob/vat';
import { expect, test } from 'vitest';
import { scene } from '../test/scene.ts';
import type { Button, ChatPort } from './index.ts';

interface Message {
  readonly request: string;
  text: string;
  buttons: readonly Button[];
}

/** A chat in memory, which can fail. */
function memory(): ChatPort & {
  readonly messages: Message[];
  failing: number;
  sees(count: number): Promise<void>;
  ends(text: RegExp): Promise<void>;
} {
  // biome-ignore format: one line
  const messages: Message[] = [];
  const until = async (isThere: () => boolean): Promise<void> => {
    while (!isThere()) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  const port = {
    messages,
    failing: 0,
    async send({ request, text, buttons }: Message) {
      if (port.failing-- > 0) throw new Error('https://secret.example/token');
      messages.push({ request, text, buttons });
      return String(messages.length - 1);
    },
    async edit(ref: string, text: string) {
      if (port.failing-- > 0) throw new Error('https://secret.example/token');
      Object.assign(messages[Number(ref)] as Message, { text, buttons: [] });
    },
    sees: (count: number) => until(() => messages.length >= count),
    ends: (text: RegExp) => until(() => messages.some((message) => text.test(message.text))),
  };
  return port;
}

const tokenOf = ({ buttons }: Message | undefined = { request: '', text: '', buttons: [] }, choice = 'once'): string =>
  buttons.find((button) => button.choice === choice)?.token ?? '';

test('a request is shown, a button answers it once, and the message says how it ended; the ledger says chat', async () => {
  const at = await scene();
  const chat = memory();
  const desk = await at.desk(chat);
  const asked = at.ask({ uses: 9, for: 3_600_000 });
  await chat.sees(1);
  const [message] = chat.messages;
  expect(message?.text).toMatch(/^R1: lets session “work-[^”]*” use/);
  expect(message?.buttons.map(({ name }) => name)).toEqual(['Once, within 15 min', '5 uses, within 15 min', 'Refuse']);
  expect(await desk.pressed(tokenOf(message, 'few'), '7')).toBe('R1: approved for 5 uses, here.');
  expect(await asked).toBe('ok');
  expect(chat.messages[0]).toMatchObject({ text: expect.stringMatching(/^R1: .*\n\napproved for 5 uses, here$/), buttons: [] }); // biome-ignore format: one line
  const [grant] = await E(at.owner).list();
  expect(grant?.usesLeft).toBe(5);
  const approvals: unknown[] = [];
  for await (const line of at.host.ledger()) if (line.includes('"k":"approve"')) approvals.push(JSON.parse(line));
  expect(approvals).toMatchObject([{ by: 'owner', surface: 'chat' }]);
  expect(await desk.pressed(tokenOf(message, 'few'), '7')).toBe('It was answered already, or has ended.');
});

test('an answer names its request, is of the one who is bound, and is one that was offered', async () => {
  const at = await scene();
  const chat = memory();
  const desk = await at.desk(chat);
  const first = at.write('one');
  await chat.sees(1);
  const second = at.ask({ uses: 1 });
  await chat.sees(2);
  const [call, grant] = chat.messages;
  expect([call?.buttons.map(({ choice }) => choice), grant?.buttons.map(({ choice }) => choice)]).toEqual([['once', 'refuse'], ['once', 'refuse']]); // biome-ignore format: one line
  const tried: readonly (readonly [request: string, sender: string, choice: string])[] = [
    ['', '7', 'once'],
    ['R1', '7', 'once'],
    ['q999-aaaa', '7', 'once'],
    [call?.request ?? '', '8', 'once'],
    [call?.request ?? '', '', 'once'],
    [call?.request ?? '', '7', 'few'],
    [call?.request ?? '', '7', 'permanent'],
    [call?.request ?? '', '7', '__proto__'],
    [call?.request ?? '', '7', 'constructor'],
  ];
  for (const one of tried)
    expect(await desk.answer(...one)).toMatch(/^(?:You are not|It was answered|That is no answer)/);
  for (const token of ['', 'once', 'x'.repeat(64), tokenOf(call).slice(1)])
    expect(await desk.pressed(token, '7')).toBe('It was answered already, or has ended.');
  expect(await desk.pressed(tokenOf(call), '8')).toBe('You are not the one who answers this.');
  expect((await E(at.owner).inbox()).length).toBe(2);
  // The one that is meant, and not the oldest.
  await desk.answer(grant?.request ?? '', '7', 'refuse');
  expect(await second).toBe('denied');
  expect((await E(at.owner).inbox()).map(({ id }) => id)).toEqual([call?.request]);
  await desk.answer(call?.request ?? '', '7', 'once');
  expect([await first, at.file()]).toEqual(['ok', 'one']);
});

test('two presses at once are one answer; one that was settled elsewhere is edited, and nothing is granted by it', async () => {
  const at = await scene();
  const chat = memory();
  const desk = await at.desk(chat);
  const both = at.ask({ uses: 5 });
  await chat.sees(1);
  const said = await Promise.all([desk.pressed(tokenOf(chat.messages[0]), '7'), desk.pressed(tokenOf(chat.messages[0], 'refuse'), '7')]); // biome-ignore format: one line
  expect(said.filter((one) => /approved|refused/.test(one))).toHaveLength(1);
  await both;
  const elsewhere = at.ask({ uses: 6 });
  await chat.sees(2);
  const [request] = await E(at.owner).inbox();
  const token = tokenOf(chat.messages[1]);
  await E(at.owner).answer(request?.id as string, { refuse: 'no', digest: request?.digest as string });
  expect(await elsewhere).toBe('denied');
  await chat.ends(/\n\nit was answered elsewhere, or has ended$/);
  expect(await desk.pressed(token, '7')).toBe('It was answered already, or has ended.');
});

test('a chat says yes to nothing that needs a passkey, lasts, is for a person alone, or is longer than its message', async () => {
  const at = await scene();
  const chat = memory();
  const desk = await at.desk(chat);
  void at.write('one', 'safe');
  await chat.sees(1);
  void at.ask({ scope: 'permanent' });
  await chat.sees(2);
  void at.write('x\n'.repeat(20_000), 'gated');
  await chat.sees(3);
  void at.write('two', 'alone');
  await chat.sees(4);
  const whys = [/A yes to this needs a passkey\./, /This asks for something that lasts\./, /too long to be shown whole here\./, /for a person at the host alone\./]; // biome-ignore format: one line
  for (const [n, message] of chat.messages.entries()) {
    expect(message.text).toMatch(whys[n] as RegExp);
    expect(message.text.length).toBeLessThan(4_000);
    expect(message.buttons.map(({ choice }) => choice)).toEqual(['refuse']);
    expect(await desk.answer(message.request, '7', 'once')).toBe('That is no answer to it.');
  }
  expect(chat.messages[2]?.text).toMatch(/⟦cut: \d+ more characters⟧|… \d+ characters are left out …/);
});

test('an answer that comes before the id of its message is known is in the message, as an answer of here', async () => {
  const at = await scene();
  const chat = memory();
  const [began, goesOn] = [Promise.withResolvers<Button>(), Promise.withResolvers<void>()];
  const { send } = chat;
  chat.send = async (message) => {
    const ref = await send(message);
    began.resolve(message.buttons[0] as Button);
    await goesOn.promise;
    return ref;
  };
  const desk = await at.desk(chat);
  const asked = at.ask({ uses: 5 });
  const { token } = await began.promise;
  expect(await desk.pressed(token, '7')).toBe('R1: approved once, here.');
  expect(await asked).toBe('ok');
  goesOn.resolve();
  await chat.ends(/\n\napproved once, here$/);
  await desk.look();
  expect([await E(at.rows).of('phone'), chat.messages]).toMatchObject([[], [{ buttons: [] }]]);
});

test('a chat that fails is tried again, keeps no answer back, and its errors stay out of the log', async () => {
  const at = await scene();
  const chat = memory();
  chat.failing = 3;
  await at.desk(chat);
  const asked = at.ask({ uses: 5 });
  await chat.sees(1);
  chat.failing = 2;
  const [request] = await E(at.owner).inbox();
  await E(at.owner).answer(request?.id as string, { grant: { uses: 1 }, digest: request?.digest as string });
  expect(await asked).toBe('ok');
  await chat.ends(/answered elsewhere/);
  expect(chat.messages).toHaveLength(1);
  expect(at.log.join('\n')).not.toMatch(/secret|token/);
  expect(at.log.length).toBeGreaterThanOrEqual(5);
});

test('a chat whose granter has too many programs that wait for changes shows its requests a little later', async () => {
  const at = await scene();
  const since = (await E(at.owner).changed()) as number;
  const others = Array.from({ length: 64 }, () => E(at.owner).changed(since));
  const chat = memory();
  await at.desk(chat);
  // The desk has found no place by now: the next question of this granter finds none either.
  await expect(E(at.owner).changed(since)).rejects.toMatchObject({ code: 'limit' });
  await new Promise((resolve) => setTimeout(resolve, 50));
  const asked = at.ask({ uses: 5 });
  await chat.sees(1);
  await Promise.all(others);
  const [request] = await E(at.owner).inbox();
  await E(at.owner).answer(request?.id as string, { grant: { uses: 1 }, digest: request?.digest as string });
  expect(await asked).toBe('ok');
  await chat.ends(/answered elsewhere/);
  expect(at.log).toEqual([]);
});

test('a message is edited once, also while the desk looks at what has changed', async () => {
  const at = await scene();
  const chat = memory();
  const { edit } = chat;
  let edits = 0;
  const desk = await at.desk(chat);
  chat.edit = async (ref, text) => {
    edits += 1;
    // The inbox has changed before the edit is over.
    if (edits === 1) await desk.look();
    await edit(ref, text);
  };
  const asked = at.ask({ uses: 5 });
  await chat.sees(1);
  expect(await desk.pressed(chat.messages[0]?.buttons[0]?.token ?? '', '7')).toBe('R1: approved once, here.');
  expect(await asked).toBe('ok');
  await desk.look();
  expect(edits).toBe(1);
});
