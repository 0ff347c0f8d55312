/**
 * The result of a tool, as data of a stranger.
 *
 * Promise: it is marked as untrusted and says whose it is. Nothing in it is followed: a link stays a text, an embedded
 * resource is the text or the bytes that came. Characters that do not show are written by their numbers, in values
 * and in names of fields, as the powerbox does it. What is no result of the protocol, or does not fit the sealed
 * schema, is an error.
 */
import { safeLines } from '@hob/host';
import { fitsSchema } from './drivers/schema.ts';
import { serverError } from './errors.ts';
import type { Fields } from './seal.ts';

/** A part of the content of a result. `data` and `blob` are base64. A `uri` is a text that nobody followed. */
export type ToolContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio'; readonly mimeType: string; readonly data: string }
  | { readonly type: 'link'; readonly uri: string; readonly name?: string; readonly description?: string }
  | { readonly type: 'resource'; readonly uri: string; readonly text?: string; readonly blob?: string };

/** What a tool returned. */
export interface ToolResult {
  /** Always true: whatever stands in it is text of a program that nobody vouches for. It is no instruction. */
  readonly untrusted: true;
  readonly server: string;
  readonly tool: string;
  /** The tool says that it failed. */
  readonly isError: boolean;
  readonly content: readonly ToolContent[];
  /** Data that fits the output schema of the tool, if it has one. */
  readonly structured?: unknown;
}

/** Errors: `SERVER_TOO_LARGE`, `SERVER_PROTOCOL`, `SERVER_SCHEMA`. */
export function toolResult(
  raw: Fields,
  { server, tool, outputSchema, most }: { readonly server: string; readonly tool: string; readonly outputSchema?: unknown; readonly most: number }, // biome-ignore format: one line
): ToolResult {
  if (Buffer.byteLength(JSON.stringify(raw)) > most)
    throw serverError('SERVER_TOO_LARGE', server, `more than ${most} bytes`);
  const { content = [], structuredContent, isError = false } = raw;
  if (!Array.isArray(content) || typeof isError !== 'boolean') throw serverError('SERVER_PROTOCOL', server);
  const parts = content.map((part: unknown) => contentOf(part) ?? unknownPart(server));
  if (!isError && outputSchema !== undefined) checkSchema(structuredContent, outputSchema, server);
  return {
    ...{ untrusted: true, server, tool, isError, content: parts },
    ...(structuredContent === undefined ? {} : { structured: visible(structuredContent) }),
  };
}

function unknownPart(server: string): never {
  throw serverError('SERVER_PROTOCOL', server, 'a part of its result is no content');
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

function contentOf(part: unknown): ToolContent | undefined {
  if (typeof part !== 'object' || part === null) return undefined;
  const { type, text, data, mimeType, uri, name, description, resource } = part as Fields;
  if (type === 'text' && typeof text === 'string') return { type, text: safeLines(text) };
  if ((type === 'image' || type === 'audio') && isBytes(data) && typeof mimeType === 'string')
    return { type, mimeType: safeLines(mimeType), data };
  if (type === 'resource_link' && typeof uri === 'string')
    return { type: 'link', uri: safeLines(uri), ...texts({ name, description }) };
  if (type !== 'resource' || typeof resource !== 'object' || resource === null) return undefined;
  const inner = resource as Fields;
  if (typeof inner['uri'] !== 'string') return undefined;
  const blob = isBytes(inner['blob']) ? { blob: inner['blob'] } : {};
  return { type: 'resource', uri: safeLines(inner['uri']), ...texts({ text: inner['text'] }), ...blob };
}

const isBytes = (data: unknown): data is string => typeof data === 'string' && BASE64.test(data);

const texts = (fields: Fields): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(fields).flatMap(([key, text]) => (typeof text === 'string' ? [[key, safeLines(text)]] : []))); // biome-ignore format: one line

/** The same data with each text, and each name of a field, made visible. */
export function visible(value: unknown): unknown {
  if (typeof value === 'string') return safeLines(value);
  if (Array.isArray(value)) return value.map(visible);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [safeLines(key), visible(item)]));
}

/** A result that cannot be checked does not fit. */
function checkSchema(value: unknown, schema: unknown, server: string): void {
  const isSchema = typeof schema === 'object' && schema !== null;
  if (value === undefined || !isSchema || fitsSchema(schema, value) !== true)
    throw serverError('SERVER_SCHEMA', server);
}
