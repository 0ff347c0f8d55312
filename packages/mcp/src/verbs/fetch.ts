/** The verb for http caps: `fetch`. */
import type { Answer } from '../text/answer.ts';
import { CAP, given, TEXT, type Verb } from './verb.ts';

/** `HttpText` of `@hob/caps-net`. */
interface Fetched {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly path: string;
  readonly text: string;
  readonly truncated: boolean;
}

export const fetchVerb: Verb = {
  name: 'fetch',
  about: 'Sends a request (GET by default) to a path of an http cap. Its secret is put in for you.',
  args: {
    cap: CAP,
    path: { type: 'string', description: 'relative to the prefix of the cap, with the query' },
    method: TEXT,
    headers: { type: 'object' },
    body: TEXT,
  },
  required: ['cap', 'path'],
  result: { status: { type: 'integer' }, headers: { type: 'object' }, path: TEXT, text: TEXT },
  async run({ args, send }) {
    const [cap, path, method = 'GET'] = [args.text('cap'), args.text('path'), args.maybe('method')];
    const options = given({ headers: args.record('headers') });
    // A grant may ask about changes only: reading is a method of its own.
    const sent =
      method === 'GET' && !args.has('body')
        ? send(cap, 'getText', path, options)
        : send(cap, 'fetchText', path, { ...options, ...given({ method, body: args.maybe('body') }) });
    return fetched((await sent) as Fetched);
  },
};

function fetched({ status, headers, path, text, truncated }: Fetched): Answer {
  const head = [`${status} ${path}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)].join('\n');
  const note = truncated ? 'the answer was longer than this: ask for less of it' : undefined;
  return {
    text: text === '' ? head : `${head}\n\n${text}`,
    data: { status, headers, path, text, ...given({ note }) },
    ...(note === undefined ? {} : { note }),
  };
}
