/** A private chat of Telegram, over its bot API on loopback. */
import { expect, onTestFinished, test } from 'vitest';
import { type BotApi, botApi, TOKEN } from '../../../test/bot-api.ts';
import { type Scene, scene } from '../test/scene.ts';
import { telegram } from './index.ts';

const ANN = 77;

async function chat(): Promise<{ readonly at: Scene; readonly api: BotApi }> {
  const at = await scene();
  const api = await botApi();
  const end = new AbortController();
  const port = telegram({ token: TOKEN, user: ANN, api: api.url });
  const desk = await at.desk(port, String(ANN));
  const failing = (code: string): void => void at.log.push(`hears no presses: ${code}`);
  const listening = port.listen({ pressed: (token, sender) => desk.pressed(token, sender), failing, end: end.signal });
  onTestFinished(async () => {
    end.abort();
    await api.close();
    await listening;
  });
  return { at, api };
}

test('a press of the person answers the request of its message, and the message is edited', async () => {
  const { at, api } = await chat();
  const asked = at.ask({ uses: 5, for: 60_000 });
  const [message] = await api.sees(1);
  expect(Object.keys(message?.buttons ?? {})).toEqual(['Once, within 1 min', '5 uses, within 1 min', 'Refuse']);
  for (const data of Object.values(message?.buttons ?? {})) expect(Buffer.byteLength(data)).toBeLessThanOrEqual(64);
  api.press(message?.buttons['Once, within 1 min'] ?? '', ANN);
  expect(await asked).toBe('ok');
  await api.until(() => /approved once, here$/.test(message?.text ?? '') && api.toasts.length === 1);
  expect([message?.buttons, api.toasts]).toEqual([{}, ['R1: approved once, here.']]);
});

test('presses of others, forged and old ones, from a group, and words of anybody answer nothing', async () => {
  const { at, api } = await chat();
  const asked = at.ask({ uses: 5 });
  const [message] = await api.sees(1);
  const data = message?.buttons['Refuse'] ?? '';
  api.press(data, 78);
  api.press(data, 78, { chat: ANN });
  api.press(data, ANN, { chat: -100_200 });
  api.press('R1', ANN);
  api.press(`${data.slice(0, -1)}x`, ANN);
  api.write('yes', ANN);
  api.write('/approve R1', ANN);
  await api.until(() => api.toasts.length === 5);
  expect(api.toasts).toEqual(['This is not yours.', 'You are not the one who answers this.', 'This is not yours.', 'It was answered already, or has ended.', 'It was answered already, or has ended.']); // biome-ignore format: one line
  api.press(data, ANN);
  expect(await asked).toBe('denied');
  api.press(data, ANN);
  await api.until(() => api.toasts.length === 7);
  expect(api.toasts.at(-1)).toBe('It was answered already, or has ended.');
});

test('the words of an agent are plain text, whatever they are', async () => {
  const { at, api } = await chat();
  const why = '*bold* [link](tg://user?id=1) <b>x</b> \u202eevil\u202c @admin /start';
  void at.ask({ uses: 5 }, why);
  const [message] = await api.sees(1);
  expect(message?.raw).not.toHaveProperty('parse_mode');
  expect(message?.raw).not.toHaveProperty('entities');
  expect(message?.raw).toMatchObject({ chat_id: ANN, link_preview_options: { is_disabled: true } });
  expect(message?.text).toContain('the agent says');
  expect(message?.text).not.toMatch(/[\u202a-\u202e]/);
});

test('an API that is slow, away or confused loses no request and no press, and its token is in no line', async () => {
  const { at, api } = await chat();
  api.fail('sendMessage', '429', '500', 'garbage', 'hang up');
  api.fail('getUpdates', 'hang up');
  const asked = at.ask({ uses: 5 });
  const [message] = await api.sees(1);
  api.fail('editMessageText', '500', 'hang up');
  api.press(message?.buttons['Refuse'] ?? '', ANN);
  expect(await asked).toBe('denied');
  await api.until(() => /\n\nit was answered elsewhere, or has ended$|refused, here$/.test(message?.text ?? ''));
  expect(api.messages).toHaveLength(1);
  expect(at.log.join('\n')).not.toContain('the-token');
  expect(at.log.filter((line) => line.startsWith('hears no presses'))).toEqual(['hears no presses: unavailable']);
  expect(at.log.length).toBeGreaterThanOrEqual(5);
});
