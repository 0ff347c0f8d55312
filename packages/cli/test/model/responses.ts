/** OpenAI Responses, for a scripted model. */
import { type Api, callsOf, type Event, type Item, items, textIn } from './wire.ts';

export const responses: Api = {
  offered: ({ tools, input }) => [
    ...items(tools).flatMap((tool) => namesOf(tool, '')),
    ...items(input)
      .filter(({ type }) => type === 'additional_tools')
      .flatMap((item) => items(item['tools']).flatMap((tool) => namesOf(tool, ''))),
  ],
  /** A run of items of the model is one turn. */
  turn: ({ input }) => {
    const mine = items(input).map(isOfModel);
    return mine.filter((one, at) => one && mine[at - 1] !== true).length;
  },
  results: ({ input }) =>
    items(input)
      .filter(({ type }) => String(type).endsWith('_output'))
      .map(({ output }) => textIn(output)),
  answer(say, turn, body) {
    const message = {
      type: 'message',
      id: `msg_${turn}`,
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: say.text, annotations: [] }],
    };
    const output: readonly Item[] = [
      ...(say.text === undefined ? [] : [message]),
      ...callsOf(say, turn, this.offered(body)).map(({ id, name, args, item }) => itemOf(id, name, args, item)),
    ];
    const usage = {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 15,
    };
    const whole = { id: `resp_${turn}`, object: 'response', created_at: 1, model: body['model'], status: 'completed', output, usage }; // biome-ignore format: one line
    const events: Item[] = [{ type: 'response.created', response: { ...whole, status: 'in_progress', output: [] } }];
    for (const [at, item] of output.entries())
      events.push(
        { type: 'response.output_item.added', output_index: at, item: { ...item, status: 'in_progress' } },
        { type: 'response.output_item.done', output_index: at, item },
      );
    events.push({ type: 'response.completed', response: whole });
    return {
      whole,
      events: events.map((data, at): Event => ({ type: String(data['type']), data: { ...data, sequence_number: at } })),
    };
  },
};

function itemOf(id: string, name: string, args: object, item: Item | undefined): Item {
  if (item !== undefined) return { id: `it_${id}`, call_id: id, status: 'completed', ...item };
  const [space, inner] = name.includes('/') ? name.split('/', 2) : [undefined, name];
  return {
    ...{
      type: 'function_call',
      id: `fc_${id}`,
      call_id: id,
      name: inner,
      arguments: JSON.stringify(args),
      status: 'completed',
    },
    ...(space === undefined ? {} : { namespace: space }),
  };
}

const isOfModel = ({ role, type = 'message' }: Item): boolean =>
  role === 'assistant' || !(type === 'message' || type === 'additional_tools' || String(type).endsWith('_output'));

function namesOf(tool: Item, space: string): readonly string[] {
  if (tool['type'] === 'namespace') return items(tool['tools']).flatMap((each) => namesOf(each, `${space}${tool['name']}/`)); // biome-ignore format: one line
  return [`${space}${tool['name'] ?? tool['type']}`];
}
