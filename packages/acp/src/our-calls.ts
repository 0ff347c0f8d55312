/**
 * Updates of an agent about the verbs of Hob: with the kind, the place and the change that an editor shows.
 *
 * An agent reports its calls of a server of MCP in words of its own. What is added is only shown: nothing is
 * decided by it.
 */
import type { Fields } from './peer.ts';

/** The kinds of ACP, by the verbs of Hob’s server (docs/mcp.md) and of the plugin of Hermes. */
const KINDS: Readonly<Record<string, string>> = {
  ...{ read: 'read', write: 'edit', edit: 'edit', list: 'read', search: 'search' },
  ...{ run: 'execute', job: 'execute', code: 'execute', fetch: 'fetch' },
  ...{ entries: 'read', mkdir: 'edit', request: 'other' },
  ...{ caps: 'other', call: 'other', request_cap: 'other', wait_for: 'other' },
};

/** What is known of a call that the agent has told of. */
export interface Known {
  readonly verb: string;
  readonly input: Fields;
}

/** The update, and what is known of its call after it. `editorPath` is the path that the editor opens. */
export function enriched(
  update: Fields,
  known: Known | undefined,
  editorPath: (cap: string, path: string) => string,
): { readonly update: Fields; readonly known: Known | undefined } {
  const verb = verbOf(update['title'], update['rawInput']) ?? known?.verb;
  if (verb === undefined) return { update, known };
  const input = inputOf(update['rawInput']) ?? inputIn(contentOf(update)) ?? known?.input ?? {};
  const { cap, path } = input;
  const named = typeof cap === 'string' && typeof path === 'string' ? { cap, path } : undefined;
  const at = named === undefined ? undefined : editorPath(named.cap, named.path);
  const changed = at === undefined ? undefined : changeOf(verb, input, update);
  return {
    update: {
      ...update,
      kind: KINDS[verb],
      ...(named === undefined ? {} : { title: `${verb} ${named.path} in ${named.cap}`, locations: [{ path: at }] }),
      ...(changed === undefined ? {} : { content: [...contentOf(update), { type: 'diff', path: at, ...changed }] }),
    },
    known: { verb, input },
  };
}

/**
 * Agents write `mcp__hob__read`, `hob_read`, `hob/read`, `hob.read` and `read (hob MCP Server)`. Hermes with its plugin
 * writes `read`, which is ours if it names a cap.
 */
function verbOf(title: unknown, raw: unknown): string | undefined {
  if (typeof title !== 'string') return undefined;
  if (Object.hasOwn(KINDS, title) && typeof (raw as Fields | null | undefined)?.['cap'] === 'string') return title;
  const [, first, second] =
    /^(?:mcp[_.-]+)?hob(?:__|[_/.:-])([a-z_]+)\b|^([a-z_]+) \(hob MCP Server\)/.exec(title) ?? [];
  const name = first ?? second ?? '';
  return Object.hasOwn(KINDS, name) ? name : undefined;
}

/** Some agents put the arguments one level deeper. */
function inputOf(raw: unknown): Fields | undefined {
  if (typeof raw !== 'object' || raw === null) return undefined;
  const { arguments: within, args } = raw as Fields;
  return (
    typeof within === 'object' && within !== null ? within : typeof args === 'object' && args !== null ? args : raw
  ) as Fields;
}

/** Others write the arguments as the text of the call. */
function inputIn(content: readonly unknown[]): Fields | undefined {
  const [first] = content as readonly { readonly content?: { readonly text?: unknown } }[];
  const text = first?.content?.text;
  if (typeof text !== 'string' || !text.startsWith('{"cap":')) return undefined;
  try {
    return JSON.parse(text) as Fields;
  } catch {
    return undefined;
  }
}

const contentOf = ({ content }: Fields): readonly unknown[] => (Array.isArray(content) ? content : []);

/** The change that the call makes, as the agent says it. */
function changeOf(verb: string, input: Fields, { sessionUpdate }: Fields): object | undefined {
  if (sessionUpdate !== 'tool_call') return undefined;
  const { text, old, new: put } = input;
  if (verb === 'write' && typeof text === 'string') return { oldText: null, newText: text };
  if (verb === 'edit' && typeof old === 'string' && typeof put === 'string') return { oldText: old, newText: put };
  return undefined;
}
