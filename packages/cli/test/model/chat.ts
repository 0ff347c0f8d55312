/** OpenAI chat completions, for a scripted model. */
import { type Api, callsOf, type Item, items, textIn } from './wire.ts';

export const chat: Api = {
  offered: ({ tools }) => items(tools).map(({ function: inner }) => String((inner as Item | undefined)?.['name'])),
  turn: ({ messages }) => items(messages).filter(({ role }) => role === 'assistant').length,
  results: ({ messages }) =>
    items(messages)
      .filter(({ role }) => role === 'tool')
      .map(({ content }) => textIn(content)),
  answer(say, turn, body) {
    const calls = callsOf(say, turn, this.offered(body)).map(({ id, name, args }, index) => ({
      index,
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(args) },
    }));
    const message = {
      role: 'assistant',
      content: say.text ?? null,
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    };
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    const base = { id: `chat_${turn}`, created: 1, model: body['model'] };
    const end = calls.length > 0 ? 'tool_calls' : 'stop';
    const chunk = { ...base, object: 'chat.completion.chunk' };
    return {
      whole: { ...base, object: 'chat.completion', usage, choices: [{ index: 0, message, finish_reason: end }] },
      events: [
        { data: { ...chunk, choices: [{ index: 0, delta: message, finish_reason: null }] } },
        { data: { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: end }], usage } },
        { data: '[DONE]' },
      ],
    };
  },
};
