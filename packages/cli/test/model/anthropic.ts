/** Anthropic Messages, for a scripted model. */
import { type Api, callsOf, type Event, items, textIn } from './wire.ts';

export const anthropic: Api = {
  offered: ({ tools }) => items(tools).map(({ name, type }) => String(name ?? type)),
  turn: ({ messages }) => items(messages).filter(({ role }) => role === 'assistant').length,
  results: ({ messages }) =>
    items(messages)
      .flatMap(({ content }) => items(content))
      .filter(({ type }) => type === 'tool_result')
      .map(({ content }) => textIn(content)),
  answer(say, turn, body) {
    const calls = callsOf(say, turn, this.offered(body));
    const blocks = [
      ...(say.text === undefined ? [] : [{ type: 'text', text: say.text }]),
      ...calls.map(({ id, name, args }) => ({ type: 'tool_use', id: `toolu_${id}`, name, input: args })),
    ];
    const reason = calls.length > 0 ? 'tool_use' : 'end_turn';
    const usage = { input_tokens: 10, output_tokens: 5 };
    const whole = { id: `msg_${turn}`, type: 'message', role: 'assistant', model: body['model'], content: blocks, stop_reason: reason, stop_sequence: null, usage }; // biome-ignore format: one line
    const event = (type: string, fields: object): Event => ({ type, data: { type, ...fields } });
    const events = [
      event('message_start', { message: { ...whole, content: [], stop_reason: null } }),
      ...blocks.flatMap((block, index) => {
        const isText = 'text' in block;
        return [
          event('content_block_start', { index, content_block: isText ? { type: 'text', text: '' } : { ...block, input: {} } }), // biome-ignore format: one line
          event('content_block_delta', {
            index,
            delta: isText
              ? { type: 'text_delta', text: block.text }
              : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) },
          }),
          event('content_block_stop', { index }),
        ];
      }),
      event('message_delta', { delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 5 } }),
      event('message_stop', {}),
    ];
    return { whole, events };
  },
};
