/**
 * Models behind HTTP, in the two forms that most servers speak.
 *
 * Promise: the key goes to the address that was named, by https or to this machine, and to no redirect. An answer is
 * read up to 64 KiB. Whatever a server sends, the result is one text or a `ModelFailure`: a call of a tool, several
 * parts, or an answer that was cut off are none. Nothing of the key, the address or the answer is in a failure.
 */
import { CapError } from '@hob/vat';
import { takeOptions } from '@hob/vat/forwarder';
import { type JudgeModel, ModelFailure, type Question } from '../model.ts';

/** The way to a model. */
export interface HttpModelOptions {
  /** The address of the API, such as `https://api.example.com/v1` (OpenAI's form) or `https://api.example.com`. */
  readonly url: string;
  /** The name of the model. */
  readonly model: string;
  /** Returns the key, called for each question. Without it no key is sent. */
  readonly key?: () => string | undefined;
}

const mostBytes = 64 * 1024;
const mostTokens = 600;

type Part = Readonly<Record<string, unknown>>;

/** The differences between the forms. */
interface Form {
  readonly path: string;
  headers(key: string): Readonly<Record<string, string>>;
  body(model: string, question: Question): object;
  /** The one text of an answer, or undefined. */
  text(answer: Part): unknown;
}

const record = (value: unknown): Part | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Part) : undefined;
const only = (value: unknown): Part | undefined =>
  Array.isArray(value) && value.length === 1 ? record(value[0]) : undefined;

const openAi: Form = {
  path: '/chat/completions',
  headers: (key) => ({ authorization: `Bearer ${key}` }),
  body: (model, { system, user }) => ({
    model,
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: user },
    ],
  }),
  text(answer) {
    const choice = only(answer['choices']);
    const message = record(choice?.['message']);
    const calls = message?.['tool_calls'] ?? message?.['function_call'] ?? [];
    if (choice?.['finish_reason'] !== 'stop' || !Array.isArray(calls) || calls.length > 0) return undefined;
    return message?.['content'];
  },
};

const anthropic: Form = {
  path: '/v1/messages',
  headers: (key) => ({ 'x-api-key': key }),
  body: (model, { system, user }) => ({
    model,
    max_tokens: mostTokens,
    system,
    messages: [{ role: 'user', content: user }],
  }),
  text(answer) {
    const block = only(answer['content']);
    return answer['stop_reason'] === 'end_turn' && block?.['type'] === 'text' ? block['text'] : undefined;
  },
};

/** A model behind the chat completions of OpenAI, which most servers of models offer. Errors: `invalid`. */
export const openAiModel = (options: HttpModelOptions): JudgeModel => httpModel('openAiModel', openAi, options);

/** A model behind the messages of Anthropic. Errors: `invalid`. */
export const anthropicModel = (options: HttpModelOptions): JudgeModel =>
  httpModel('anthropicModel', anthropic, options);

function httpModel(name: string, form: Form, given: HttpModelOptions): JudgeModel {
  const { url, model, key } = takeOptions(given, name, { url: true, model: true, key: true });
  const address = addressOf(url, form.path);
  if (typeof model !== 'string' || model === '' || model.length > 200)
    throw new CapError('invalid', 'the name of a model is a text of at most 200 characters');
  return Object.freeze({
    async ask(question: Question, signal: AbortSignal): Promise<string> {
      const secret = key?.();
      if (key !== undefined && secret === undefined) throw new ModelFailure('its key is not there');
      const headers = {
        'content-type': 'application/json',
        'user-agent': 'hob',
        ...(form === anthropic ? { 'anthropic-version': '2023-06-01' } : {}),
        ...(secret === undefined ? {} : form.headers(secret)),
      };
      const text = form.text(await posted(address, headers, form.body(model, question), signal));
      if (typeof text !== 'string') throw new ModelFailure('its answer is not one text');
      return text;
    },
  });
}

/** Errors: `invalid`. */
function addressOf(text: string, path: string): URL {
  const url = typeof text === 'string' && text.length <= 2000 ? URL.parse(text) : null;
  const isOwn = url !== null && /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(url.hostname);
  const isPlain = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (url === null || !isPlain || !(url.protocol === 'https:' || (url.protocol === 'http:' && isOwn)))
    throw new CapError('invalid', 'the url of a model is https, or http on this machine, without a name, a query or a fragment'); // biome-ignore format: one line
  return new URL(`${url.href.replace(/\/+$/, '')}${path}`);
}

async function posted(
  url: URL,
  headers: Readonly<Record<string, string>>,
  body: object,
  signal: AbortSignal,
): Promise<Part> {
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), redirect: 'manual', signal }).catch(() => undefined); // biome-ignore format: one line
  if (answer === undefined) throw new ModelFailure('no connection');
  try {
    if (answer.status !== 200) throw new ModelFailure(`HTTP ${answer.status}`);
    const parsed = record(JSON.parse(await textOf(answer)));
    if (parsed !== undefined) return parsed;
  } catch (error) {
    if (error instanceof ModelFailure) throw error;
  } finally {
    await answer.body?.cancel().catch(() => {});
  }
  throw new ModelFailure('its answer is no JSON record');
}

async function textOf(answer: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  const reader = answer.body?.getReader();
  try {
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
      size += part.value.length;
      if (size > mostBytes) throw new ModelFailure('its answer is too large');
      parts.push(part.value);
    }
  } finally {
    reader?.releaseLock();
  }
  return Buffer.concat(parts).toString('utf8');
}
