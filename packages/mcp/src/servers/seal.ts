/**
 * The seal of a tool: a hash over everything that a model or a person is told about it.
 *
 * Promise: two definitions have one seal exactly if they are equal as data. The order of keys does not count. A person
 * sees the difference of two definitions line by line, of the long texts too.
 */
import { formatPatch, OMIT_HEADERS, structuredPatch } from 'diff/lib/patch/create.js';
import { canonicalJson } from './canonical.ts';
import { sha256 } from './drivers/hash.ts';

/** A record of JSON. */
export type Fields = Readonly<Record<string, unknown>>;

/** The sealed parts of a tool, as its server sent them. Parts that it did not send are absent. */
export interface ToolDefinition {
  readonly name: string;
  readonly title?: unknown;
  readonly description?: unknown;
  readonly inputSchema?: unknown;
  readonly outputSchema?: unknown;
  readonly annotations?: unknown;
  /** Those of the server, for all of its tools. */
  readonly instructions?: string;
}

const PARTS = ['title', 'description', 'inputSchema', 'outputSchema', 'annotations'] as const;

/** The definition of a tool that a server lists. */
export function definitionOf(name: string, tool: Fields, instructions: string | undefined): ToolDefinition {
  const parts = PARTS.filter((part) => tool[part] !== undefined).map((part) => [part, tool[part]] as const);
  return { name, ...Object.fromEntries(parts), ...(instructions === undefined ? {} : { instructions }) };
}

/** SHA-256 over the canonical JSON of a definition, as hexadecimal digits. */
export const sealOf = (definition: ToolDefinition): string => sha256(canonicalJson(definition));

/** The most changed lines that are compared. More is shown as all of the one and all of the other. */
const MOST_CHANGES = 2000;

/** The difference of two definitions as a patch. Its texts are the server's: show them escaped. */
export function differenceOf(before: ToolDefinition, after: ToolDefinition): string {
  const [a, b] = [readable(before), readable(after)];
  const patch = structuredPatch('', '', a, b, '', '', { context: 2, maxEditLength: MOST_CHANGES });
  if (patch !== undefined) return formatPatch(patch, OMIT_HEADERS);
  return [...a.split('\n').map((line) => `-${line}`), ...b.split('\n').map((line) => `+${line}`)].join('\n');
}

const readable = (definition: ToolDefinition): string => `${written(definition, '')}\n`;

/**
 * Writes JSON on several lines, with the keys in order. Each line of a longer text is written after `|`, and no JSON
 * begins with `|`. So different values are never written alike, such as a text and a list of its lines.
 */
function written(value: unknown, indent: string): string {
  const deeper = `${indent}  `;
  if (typeof value === 'string' && value.includes('\n'))
    return `text${value.split('\n').map((line) => `\n${deeper}| ${JSON.stringify(line)}`).join('')}`; // biome-ignore format: one line
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const items = Array.isArray(value)
    ? value.map((item) => written(item, deeper))
    : Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, item]) => `${JSON.stringify(key)}: ${written(item, deeper)}`);
  return items.length === 0 ? `${open}${close}` : `${open}\n${items.map((item) => deeper + item).join(',\n')}\n${indent}${close}`; // biome-ignore format: one line
}
