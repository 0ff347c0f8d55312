/**
 * The tools that a request to a model offers.
 *
 * It knows Anthropic Messages, OpenAI Responses, OpenAI chat completions and Gemini, and reads all four in each request:
 * a request cannot choose the reading that overlooks its tools. Keys count in every spelling that a provider may take
 * (`functionDeclarations`, `function_declarations`). A field that makes the provider add tools which are not in the
 * request counts as a tool itself.
 */
import { Unreadable } from './strict-json.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Fields of a request with which a provider adds tools that cannot be seen here. */
const ADDS_TOOLS: ReadonlySet<string> = new Set([
  'mcpservers', // Anthropic: servers that the provider calls
  'cachedcontent', // Gemini: a stored request, with its tools
  'websearchoptions', // chat completions: a search by the provider
  'plugins', // gateways: web search and the like
  'prompt', // Responses: a stored prompt, with its tools
  'container', // Anthropic: skills in a container
]);

/** Fields that hold the turns of a conversation. Codex hands tools over in one of them. */
const TURNS: ReadonlySet<string> = new Set(['input', 'messages', 'contents']);

/** Fields of a turn that hold its parts. */
const PARTS: ReadonlySet<string> = new Set(['content', 'parts']);

/** Gemini wraps a request in another one to count its tokens. */
const WRAPS: ReadonlySet<string> = new Set(['request', 'generatecontentrequest']);

/** Types of an entry that the host itself runs when the model calls it. All others are run by the provider. */
const RUN_BY_HOST: ReadonlySet<string> = new Set(['function', 'custom', 'namespace']);

/**
 * The names of all tools in the body of a request: `read`, `space/read` for a tool in a namespace, `(field)` for a field
 * that adds tools, `web_search_20250305` for a type that the provider runs. Errors: `Unreadable`.
 */
export function offeredTools(body: unknown): readonly string[] {
  return toolsIn(body, (entry) => namesIn(entry, ''));
}

/**
 * Those of `offeredTools` that the model's provider runs itself, so that no program on this machine does: a search, a
 * fetch, code, servers of its own. Errors: `Unreadable`.
 */
export function toolsOfProvider(body: unknown): readonly string[] {
  return toolsIn(body, providersIn);
}

type Find = (entry: unknown) => readonly string[];

function toolsIn(body: unknown, find: Find): readonly string[] {
  const request = fieldsOf(body, 'its body is no object');
  return Object.entries(request).flatMap(([key, value]) => {
    const field = plain(key);
    if (isEmpty(value)) return [];
    if (field === 'tools' || field === 'functions') return list(value).flatMap(find);
    // Text in `prompt` is the old completion API, and an id in `container` holds no tools.
    if (ADDS_TOOLS.has(field)) return typeof value === 'string' && field !== 'cachedcontent' ? [] : [`(${key})`];
    if (TURNS.has(field) && Array.isArray(value)) return value.flatMap((turn) => toolsInTurn(turn, find));
    if (WRAPS.has(field) && typeof value === 'object') return toolsIn(value, find);
    return [];
  });
}

/**
 * Items of type `additional_tools`, results of a search for tools, and whatever else carries such a list. Arguments and
 * results of calls are deeper and are not looked at: they are data, whatever their keys are.
 */
function toolsInTurn(turn: unknown, find: Find): readonly string[] {
  if (typeof turn !== 'object' || turn === null) return [];
  return Object.entries(turn).flatMap(([key, value]) => {
    if (plain(key) === 'tools' && !isEmpty(value)) return list(value).flatMap(find);
    return Array.isArray(value) && PARTS.has(plain(key)) ? value.flatMap((part) => toolsInTurn(part, find)) : [];
  });
}

/** The names of one entry of a list of tools. Every place that a provider may read a name from counts. */
function namesIn(entry: unknown, space: string): readonly string[] {
  const fields = Object.entries(fieldsOf(entry, 'it has a tool that is no object'));
  const keys = new Set(fields.map(([key]) => plain(key)));
  // Gemini: each key of an entry is a kind of tool.
  const isKinds = !keys.has('name') && !keys.has('type') && !keys.has('function');
  const names = fields.flatMap(([key, value]) => {
    if (plain(key) === 'functiondeclarations') return list(value).flatMap((each) => namesIn(withName(each), ''));
    if (isKinds) return [key];
    if (plain(key) === 'name') return [text(value)];
    if (plain(key) === 'function') return namesIn(withName(value), '');
    return plain(key) === 'type' && !RUN_BY_HOST.has(text(value)) ? [text(value)] : [];
  });
  const isSpace = fields.some(([key, value]) => plain(key) === 'type' && value === 'namespace');
  if (!isSpace) {
    // An empty entry of Gemini is no tool. Elsewhere an entry without a name is nothing that we know.
    if (names.length === 0 && !isKinds) throw new Unreadable('it has a tool without a name');
    return names.map((name) => `${space}${name}`);
  }
  const [own, ...more] = names;
  if (own === undefined || more.length > 0) throw new Unreadable('it has a namespace without one name');
  const within = fields.filter(([key]) => plain(key) === 'tools').flatMap(([, value]) => list(value));
  if (within.length === 0) throw new Unreadable('it has a namespace without tools');
  return within.flatMap((each) => namesIn(each, `${space}${own}/`));
}

/** An entry that is a function, or a namespace of functions, is run by the host. Every other kind counts. */
function providersIn(entry: unknown): readonly string[] {
  const fields = Object.entries(fieldsOf(entry, 'it has a tool that is no object'));
  const kinds = fields.filter(([key]) => plain(key) === 'type').map(([, value]) => text(value));
  const isOfClient = fields.some(([key, value]) => key === 'execution' && value === 'client');
  const foreign = kinds.filter((kind) => !RUN_BY_HOST.has(kind) && kind !== 'local_shell' && !(kind === 'tool_search' && isOfClient)); // biome-ignore format: one line
  const keys = new Set(fields.map(([key]) => plain(key)));
  if (keys.has('name') || keys.has('type') || keys.has('function'))
    return [...foreign, ...fields.filter(([key]) => plain(key) === 'tools').flatMap(([, value]) => list(value).flatMap(providersIn))]; // biome-ignore format: one line
  return fields.map(([key]) => key).filter((key) => plain(key) !== 'functiondeclarations');
}

/** The declaration of a function: all its fields but its name describe it. */
function withName(declaration: unknown): Fields {
  const fields = Object.entries(fieldsOf(declaration, 'it has a declaration that is no object'));
  const names = fields.filter(([key]) => plain(key) === 'name');
  if (names.length === 0) throw new Unreadable('it has a tool without a name');
  return Object.fromEntries(names);
}

/** Providers that read JSON into typed messages take other spellings of a key. */
const plain = (key: string): string => key.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === false || (Array.isArray(value) && value.length === 0);

function fieldsOf(value: unknown, wrong: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Unreadable(wrong);
  return value as Fields;
}

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Unreadable('its list of tools is no list');
  return value;
}

function text(value: unknown): string {
  if (typeof value !== 'string' || value === '') throw new Unreadable('it has a tool whose name is no text');
  return value;
}
