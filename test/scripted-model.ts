/**
 * A model on loopback that says what a test tells it: the APIs of OpenAI (chat completions and responses) and of
 * Anthropic, for the real SDKs.
 */
import { createServer, type IncomingMessage } from 'node:http';

/** The next answer of the model: calls of tools, or a text, which ends the work. */
export type Say =
  | { readonly calls: readonly { readonly name: string; readonly args: unknown }[] }
  | { readonly text: string };

export interface ScriptedModel {
  /** For `OPENAI_BASE_URL`. */
  readonly openai: string;
  /** For `ANTHROPIC_BASE_URL`. */
  readonly anthropic: string;
  /** The names of the tools that each request offered. */
  readonly offered: readonly (readonly string[])[];
  /** The results of tools that it was sent, in order, as text. */
  readonly results: readonly string[];
  close(): Promise<void>;
}

interface Body {
  readonly tools?: readonly { readonly name?: string; readonly function?: { readonly name: string } }[];
  readonly messages?: readonly Item[];
  readonly input?: readonly Item[] | string;
}
interface Item {
  readonly role?: string;
  readonly type?: string;
  readonly content?: unknown;
  readonly output?: unknown;
}

/** `next` is called once for each request, with the number of the request. */
export async function scriptedModel(next: (turn: number) => Say | Promise<Say>): Promise<ScriptedModel> {
  const offered: (readonly string[])[] = [];
  let results: readonly string[] = [];
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await textOf(request)) as Body;
    const turn = offered.push((body.tools ?? []).map((tool) => tool.function?.name ?? tool.name ?? '')) - 1;
    results = resultsIn(body);
    const said = await next(turn);
    const path = new URL(request.url ?? '', 'http://x').pathname;
    const shape = path.endsWith('/messages') ? anthropicSays : path.endsWith('/responses') ? responsesSays : chatSays;
    response.setHeader('content-type', 'application/json').setHeader('connection', 'close');
    response.end(JSON.stringify(shape(said, turn)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { readonly port: number };
  return {
    openai: `http://127.0.0.1:${port}/v1`,
    anthropic: `http://127.0.0.1:${port}`,
    offered,
    get results() {
      return results;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of request) text += part;
  return text;
}

/** All results of tools in a request, whatever its API. */
function resultsIn({ messages, input }: Body): readonly string[] {
  const items = messages ?? (Array.isArray(input) ? (input as readonly Item[]) : []);
  return items.flatMap((item) => {
    if (item.role === 'tool') return [plain(item.content)];
    if (item.type === 'function_call_output') return [plain(item.output)];
    if (!Array.isArray(item.content)) return [];
    return (item.content as readonly Item[])
      .filter(({ type }) => type === 'tool_result')
      .map((block) => plain(block.content));
  });
}

const plain = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : Array.isArray(content)
      ? content.map((part: { readonly text?: string }) => part.text ?? '').join('')
      : JSON.stringify(content);

const callsOf = (
  said: Say,
  turn: number,
): readonly { readonly id: string; readonly name: string; readonly args: unknown }[] =>
  'calls' in said ? said.calls.map((call, at) => ({ ...call, id: `call_${turn}_${at}` })) : [];
const textIn = (said: Say): string | undefined => ('text' in said ? said.text : undefined);

function chatSays(said: Say, turn: number): object {
  const calls = callsOf(said, turn).map(({ id, name, args }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  const message = {
    role: 'assistant',
    content: textIn(said) ?? null,
    refusal: null,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  const choice = { index: 0, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop', logprobs: null, message };
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  return { id: `chat_${turn}`, object: 'chat.completion', created: 1, model: 'scripted', choices: [choice], usage };
}

function responsesSays(said: Say, turn: number): object {
  const text = textIn(said);
  const calls = callsOf(said, turn).map(({ id, name, args }) => ({
    type: 'function_call',
    id: `fc_${id}`,
    call_id: id,
    name,
    arguments: JSON.stringify(args),
    status: 'completed',
  }));
  const content = [{ type: 'output_text', text, annotations: [] }];
  const message = { type: 'message', id: `msg_${turn}`, role: 'assistant', status: 'completed', content };
  const details = { input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } };
  return {
    id: `resp_${turn}`,
    object: 'response',
    created_at: 1,
    model: 'scripted',
    status: 'completed',
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    tool_choice: 'auto',
    tools: [],
    output: text === undefined ? calls : [message],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2, ...details },
  };
}

function anthropicSays(said: Say, turn: number): object {
  const text = textIn(said);
  const calls = callsOf(said, turn).map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args }));
  return {
    id: `msg_${turn}`,
    type: 'message',
    role: 'assistant',
    model: 'scripted',
    content: text === undefined ? calls : [{ type: 'text', text }],
    stop_reason: text === undefined ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  };
}
