/** The verbs about the caps themselves: `caps`, `call`, `request_cap`, `wait_for`. */
import type { Answer } from '../text/answer.ts';
import { toJson } from '../text/json.ts';
import type { Held } from './session.ts';
import { CAP, COUNT, given, TEXT, type Verb } from './verb.ts';

/** The method that a verb for one kind of cap needs. A cap with other methods is used with `call`. */
const NEEDS: Readonly<Record<string, string>> = {
  read: 'readText',
  write: 'write',
  edit: 'edit',
  list: 'entries',
  search: 'searchReport',
  run: 'run',
  job: 'spawn',
  code: 'evaluate',
  fetch: 'getText',
};

export const caps: Verb = {
  name: 'caps',
  about: 'Lists the caps that you hold: their verbs, uses and time left, and what waits for a person.',
  args: {},
  required: [],
  result: { caps: { type: 'array' }, note: TEXT },
  readOnly: true,
  async run({ holdings }) {
    const held = (await holdings()).map(described);
    const note = 'You may ask a person for more of these, or for another cap that you know the name of: request_cap';
    return {
      text: held.length === 0 ? 'You hold no cap.' : held.map(line).join('\n'),
      data: { caps: held, note },
      note,
    };
  },
};

interface Described {
  readonly cap: string;
  readonly state: string;
  readonly verbs: readonly string[];
  readonly methods?: readonly string[];
  readonly uses?: number;
  readonly seconds: number;
  readonly waits?: true | readonly string[];
  readonly drafts?: readonly string[];
  readonly asks?: true;
}

function described({ petname, state, methods = [], usesLeft, leftMs, waits, drafts, asks }: Held): Described {
  const isProgram = methods.includes('evaluate');
  const verbs = Object.keys(NEEDS).filter(
    (verb) => methods.includes(NEEDS[verb] as string) && (!isProgram || verb === 'code'),
  );
  return {
    cap: petname,
    state,
    verbs: verbs.length === 0 ? ['call'] : verbs,
    // The methods of a known kind are behind its verbs.
    ...(verbs.length === 0 ? { methods } : {}),
    ...given({ uses: usesLeft, waits, drafts, asks }),
    seconds: Math.floor(leftMs / 1000),
  };
}

function line({ cap, state, verbs, methods, uses, seconds, waits, drafts, asks }: Described): string {
  if (state !== 'live') return `${cap}: ${state}`;
  const parts = [
    methods === undefined ? verbs.join(' ') : `call (methods: ${methods.join(' ') || 'ask its granter'})`,
    uses === undefined ? '' : `${uses} uses left`,
    `${seconds} s left`,
    waits === undefined ? '' : waits === true ? 'each call waits for a person' : `waits for a person: ${waits.join(' ')}`, // biome-ignore format: one line
    drafts === undefined ? '' : `kept as drafts for a person: ${drafts.join(' ')}`,
    asks === true ? 'not granted yet: the next call waits for a person' : '',
  ];
  return `${cap}: ${parts.filter((part) => part !== '').join('; ')}`;
}

export const callVerb: Verb = {
  name: 'call',
  about: 'Calls a method of a cap that no other verb is for, with JSON arguments in order.',
  args: { cap: CAP, method: TEXT, args: { type: 'array' } },
  required: ['cap', 'method'],
  result: { value: {} },
  async run({ args, send }) {
    const value = toJson(await send(args.text('cap'), args.text('method'), ...(args.list('args') ?? [])));
    return { text: typeof value === 'string' ? value : JSON.stringify(value), data: { value } };
  },
};

export const requestCap: Verb = {
  name: 'request_cap',
  about: 'Asks a person for a cap that you lack, or for more of one. Returns the id of the request at once.',
  args: {
    cap: { type: 'string', description: 'its name' },
    why: { type: 'string', description: 'the person reads it as your words' },
    uses: COUNT,
    seconds: COUNT,
  },
  required: ['cap', 'why'],
  result: { request: TEXT, answer_with: TEXT },
  async run({ args, ask, keep }) {
    const [uses, seconds] = [args.count('uses'), args.count('seconds')];
    const terms = given({ uses, for: seconds === undefined ? undefined : seconds * 1000 });
    const { request, outcome } = await ask(args.text('cap'), terms, args.text('why'));
    keep(request, outcome.then(granted));
    const answer = `hob grant ${request}`;
    return {
      text: `${request} waits for a person, who answers it with: ${answer}. Then call wait_for {"request":"${request}"}`,
      data: { request, answer_with: answer },
    };
  },
};

const granted = (cap: string): Answer => ({ text: `granted: you hold it as ${JSON.stringify(cap)}`, data: { cap } });

export const waitFor: Verb = {
  name: 'wait_for',
  about: 'Waits for a request (R7), for a call that still waits (W1), or gets the next page of a long answer (P1.2).',
  args: { request: TEXT },
  required: ['request'],
  result: { cap: TEXT, waiting: TEXT, text: TEXT },
  readOnly: true,
  run: ({ args, waitFor: wait }) => wait(args.text('request')),
};
