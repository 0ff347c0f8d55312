/** What a scripted model says in a turn, and what an API has to tell about a request. */

/** A call of a tool. `*read` means the offered tool whose name ends so; any other name is used as it is. */
export interface Call {
  readonly name: string;
  readonly args?: Readonly<Record<string, unknown>>;
  /** A whole output item of the Responses API, in place of a call of a function. */
  readonly item?: Readonly<Record<string, unknown>>;
}

/** One turn of the model. */
export interface Say {
  readonly text?: string;
  readonly calls?: readonly Call[];
}

/** The body of a request. */
export type Body = Readonly<Record<string, unknown>>;

/** One API of models. */
export interface Api {
  /** The names of the tools that a request offers. */
  offered(body: Body): readonly string[];
  /** How many turns the model has had. */
  turn(body: Body): number;
  /** The results of tools so far, as text. */
  results(body: Body): readonly string[];
  /** The whole answer, and its pieces for a stream of events. */
  answer(say: Say, turn: number, body: Body): { readonly whole: object; readonly events: readonly Event[] };
}

/** One event of a stream: its type, if the API has types, and its data. */
export interface Event {
  readonly type?: string;
  readonly data: object | string;
}

export type Item = Readonly<Record<string, unknown>>;

export const items = (value: unknown): readonly Item[] => (Array.isArray(value) ? (value as readonly Item[]) : []);

/** All text in the content of a message, whatever the API. */
export function textIn(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(textIn).join('\n');
  if (typeof value !== 'object' || value === null) return '';
  const { text, content } = value as Item;
  return text === undefined && content === undefined ? JSON.stringify(value) : textIn(text ?? content);
}

/** A call as an API writes it. */
export interface Made {
  readonly id: string;
  readonly name: string;
  readonly args: object;
  readonly item: Item | undefined;
}

/** The calls of a turn, with ids, by the names that the host has for the tools. */
export function callsOf(say: Say, turn: number, offered: readonly string[]): readonly Made[] {
  return (say.calls ?? []).map((call, at) => ({
    id: `call_${turn}_${at}`,
    name: call.name.startsWith('*')
      ? (offered.find((tool) => tool.endsWith(call.name.slice(1))) ?? call.name)
      : call.name,
    args: call.args ?? {},
    item: call.item,
  }));
}
