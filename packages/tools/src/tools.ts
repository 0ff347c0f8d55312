/**
 * The tools of a session in the shapes of agent loops.
 *
 * The shapes of the OpenAI and Anthropic APIs are plain data, and a result goes back as a message. For a loop that
 * calls functions, the function that makes its tools is handed in, so this package needs none of these SDKs.
 */
import type { ObjectSchema, Result, ToolsOptions } from './toolbox.ts';
import { Toolbox } from './toolbox.ts';
import type { Kind } from './verbs.ts';

/** A tool of OpenAI's chat completions. */
export interface OpenAITool {
  type: 'function';
  function: { name: string; description: string; parameters: ObjectSchema };
}
/** One of `tool_calls` of a message. Another type of call than `function` is answered with a refusal. */
export interface OpenAICall {
  readonly id: string;
  readonly function?: { readonly name: string; readonly arguments: string };
}
/** The message that answers it. */
export interface OpenAIResult {
  role: 'tool';
  tool_call_id: string;
  content: string;
}

/** A tool of OpenAI's responses. */
export interface ResponsesTool {
  type: 'function';
  name: string;
  description: string;
  parameters: ObjectSchema;
  strict: false;
}
/** An item of `output` of the type `function_call`. */
export interface ResponsesCall {
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
}
/** The item that answers it. */
export interface ResponsesResult {
  type: 'function_call_output';
  call_id: string;
  output: string;
}

/** A tool of Anthropic's messages. */
export interface AnthropicTool {
  name: string;
  description: string;
  input_schema: ObjectSchema;
}
/** A block of the type `tool_use`. */
export interface AnthropicCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}
/** The block that answers it. */
export interface AnthropicResult {
  type: 'tool_result';
  tool_use_id: string;
  content: string;
  is_error?: true;
}

/** A tool of the Vercel AI SDK. `S` is what its `jsonSchema` makes. */
export interface AiSdkTool<S> {
  description: string;
  inputSchema: S;
  execute(input: unknown, options?: { readonly abortSignal?: AbortSignal | undefined }): Promise<string>;
}

/** The record from which the OpenAI Agents SDK makes a tool. */
export interface AgentsTool {
  name: string;
  description: string;
  parameters: { type: 'object'; properties: Record<string, never>; required: string[]; additionalProperties: true };
  strict: false;
  execute(input: unknown, context?: unknown, details?: { readonly signal?: AbortSignal | undefined }): Promise<string>;
}

/** The record, besides its function, from which LangChain and LangGraph make a tool. */
export interface LangGraphTool {
  name: string;
  description: string;
  schema: ObjectSchema;
}
/** The function of such a tool. */
export type LangGraphFunction = (
  input: unknown,
  config?: { readonly signal?: AbortSignal | undefined },
) => Promise<string>;

/** The tools of one session, in every shape. Made by `of`. */
export class Tools extends Toolbox {
  /** `tools` of `client.chat.completions.create`. */
  openai(): OpenAITool[] {
    return this.describe().map(({ name, description, parameters }) => ({
      type: 'function',
      function: { name, description, parameters },
    }));
  }

  /** The message for one of `tool_calls`. Never rejects. */
  async openaiResult(call: OpenAICall): Promise<OpenAIResult> {
    const { text } = await this.call(call.function?.name, call.function?.arguments ?? '{}');
    return { role: 'tool', tool_call_id: call.id, content: text };
  }

  /** `tools` of `client.responses.create`. */
  responses(): ResponsesTool[] {
    return this.describe().map((tool) => ({ type: 'function', ...tool, strict: false }));
  }

  /** The item for one `function_call`. Never rejects. */
  async responsesResult(call: ResponsesCall): Promise<ResponsesResult> {
    const { text } = await this.call(call.name, call.arguments);
    return { type: 'function_call_output', call_id: call.call_id, output: text };
  }

  /** `tools` of `client.messages.create`. */
  anthropic(): AnthropicTool[] {
    return this.describe().map(({ name, description, parameters }) => ({
      name,
      description,
      input_schema: parameters,
    }));
  }

  /** The block for one `tool_use`. Never rejects. */
  async anthropicResult(call: AnthropicCall): Promise<AnthropicResult> {
    const { text, isError } = await this.call(call.name, call.input);
    const block: AnthropicResult = { type: 'tool_result', tool_use_id: call.id, content: text };
    return isError ? { ...block, is_error: true } : block;
  }

  /** `tools` of `generateText` and `streamText`: `made.aiSdk(ai)` after `import * as ai from 'ai'`. */
  aiSdk<S>(sdk: { jsonSchema(schema: never): S }): Record<string, AiSdkTool<S>> {
    return Object.fromEntries(
      this.describe({ loose: true }).map(({ name, description, parameters }) => [
        name,
        {
          description,
          inputSchema: sdk.jsonSchema(parameters as never),
          execute: async (input, options) => textOf(await this.call(name, input, { signal: options?.abortSignal })),
        },
      ]),
    );
  }

  /** `tools` of an `Agent`: `made.openaiAgents(sdk)` after `import * as sdk from '@openai/agents'`. */
  openaiAgents<T>(sdk: { tool(options: AgentsTool): T }): T[] {
    return this.describe({ loose: true }).map(({ name, description, parameters: { properties, required } }) =>
      sdk.tool({
        name,
        description,
        // Checked here, where a refusal says what to do.
        parameters: {
          type: 'object',
          properties: properties as Record<string, never>,
          required,
          additionalProperties: true,
        },
        strict: false,
        execute: async (input, _context, details) => textOf(await this.call(name, input, { signal: details?.signal })),
      }),
    );
  }

  /** `tools` of a LangGraph agent: `made.langgraph(sdk)` after `import * as sdk from '@langchain/core/tools'`. */
  langgraph<T>(sdk: { tool(run: LangGraphFunction, fields: LangGraphTool): T }): T[] {
    return this.describe({ loose: true }).map(({ name, description, parameters }) =>
      sdk.tool(async (input, config) => textOf(await this.call(name, input, { signal: config?.signal })), {
        name,
        description,
        schema: parameters,
      }),
    );
  }
}

const textOf = ({ text }: Result): string => text;

/**
 * The tools for the caps of a session: of the bootstrap object of its connection, or of a session of the host in
 * this process.
 *
 * `kinds` names the verbs of a petname: `{ sh: SHELL, deploy: [verb({ … })] }`. Errors: `invalid`, and those of
 * `caps()`.
 */
export async function of(
  session: object,
  kinds: Readonly<Record<string, Kind>> = {},
  options?: ToolsOptions,
): Promise<Tools> {
  return await new Tools(session, kinds, options).look();
}
