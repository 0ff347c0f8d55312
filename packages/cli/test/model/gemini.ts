/** Gemini, for a scripted model. */
import { type Api, callsOf, type Item, items } from './wire.ts';

export const gemini: Api = {
  offered: ({ tools }) =>
    items(tools).flatMap((entry) =>
      Object.entries(entry).flatMap(([key, value]) =>
        key === 'functionDeclarations' ? items(value).map(({ name }) => String(name)) : [key],
      ),
    ),
  turn: ({ contents }) => items(contents).filter(({ role }) => role === 'model').length,
  results: ({ contents }) =>
    items(contents)
      .flatMap(({ parts }) => items(parts))
      .flatMap(({ functionResponse }) => (functionResponse === undefined ? [] : [JSON.stringify((functionResponse as Item)['response'])])), // biome-ignore format: one line
  answer(say, turn, body) {
    const parts = [
      ...(say.text === undefined ? [] : [{ text: say.text }]),
      ...callsOf(say, turn, this.offered(body)).map(({ id, name, args }) => ({ functionCall: { id, name, args } })),
    ];
    const whole = {
      candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
      modelVersion: 'scripted',
    };
    return { whole, events: [{ data: whole }] };
  },
};
