/** The verbs for programs: `run`, `job`, `code`. */
import { CapError, E, type Far } from '@hob/vat/peer';
import type { Answer } from '../text/answer.ts';
import { toJson } from '../text/json.ts';
import type { Arguments } from './arguments.ts';
import { CAP, type Call, COUNT, given, type Job, type RunningJob, type Source, type Stream, TEXT, type Verb } from './verb.ts'; // biome-ignore format: one line

interface Ended {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
  readonly ended: string;
  readonly limit?: string;
}

const RESULT = { status: { type: 'integer' }, stdout: TEXT, stderr: TEXT, ended: TEXT } as const;

export const run: Verb = {
  name: 'run',
  about: 'Runs a program: `command` in a shell, or `argv` of one granted program. `background` begins a job.',
  args: {
    cap: CAP,
    command: TEXT,
    argv: { type: 'array', items: TEXT },
    stdin: TEXT,
    seconds: COUNT,
    background: { type: 'boolean' },
  },
  required: ['cap'],
  result: { ...RESULT, job: TEXT },
  async run(call) {
    const { args, send } = call;
    const cap = args.text('cap');
    const what = program(args);
    const timeoutMs = args.has('seconds') ? (args.count('seconds') as number) * 1000 : undefined;
    if (!args.flag('background'))
      return endedAnswer((await send(cap, 'run', what, given({ timeoutMs, stdin: args.maybe('stdin') }))) as Ended);
    if (typeof what !== 'string' || args.has('stdin'))
      throw new CapError('invalid', 'only a "command" without "stdin" runs in the background');
    const name = call.newJob();
    const job = (await send(cap, 'spawn', what, given({ name, timeoutMs }))) as Far<RunningJob>;
    call.jobs.set(`${cap} ${name}`, newJob(job));
    return {
      text: `job ${name} runs: job {"cap":${JSON.stringify(cap)},"job":"${name}"} waits for it`,
      data: { job: name },
    };
  },
};

function program(args: Arguments): string | readonly unknown[] {
  if (args.has('command') === args.has('argv')) throw new CapError('invalid', 'run takes either "command" or "argv"');
  return args.has('command') ? args.text('command') : (args.list('argv') as readonly unknown[]);
}

function endedAnswer({ status, stdout, stderr, truncated, ended, limit }: Ended): Answer {
  const how = ended === 'exit' ? `exit ${status}` : `${ended}${limit === undefined ? '' : ` (${limit})`}, status ${status}`; // biome-ignore format: one line
  const parts = [stdout, stderr === '' ? '' : `stderr:\n${stderr}`, `[${how}]`].filter((part) => part !== '');
  return {
    text: parts.map((part) => part.replace(/\n$/, '')).join('\n'),
    data: { status, stdout, stderr, ended, ...given({ limit }), ...(truncated ? { truncated } : {}) },
  };
}

const newStream = (): Stream => ({ source: undefined, next: undefined, over: false, decoder: new TextDecoder() });
const newJob = (job: Far<RunningJob>): Job => ({ job, streams: [newStream(), newStream()] });

export const job: Verb = {
  name: 'job',
  about: 'A program in the background: `do` is wait (the default), output (what is new), or stop.',
  args: { cap: CAP, job: TEXT, do: { type: 'string', enum: ['wait', 'output', 'stop'] } },
  required: ['cap', 'job'],
  result: { ...RESULT, over: { type: 'boolean' } },
  async run(call) {
    const found = await jobNamed(call, call.args.text('cap'), call.args.text('job'));
    const sent = E(found.job);
    if (call.args.maybe('do') === 'output') return await outputOf(found, call);
    if (call.args.maybe('do') === 'stop')
      await sent.signal('KILL').catch((error: unknown) => {
        if ((error as { readonly code?: unknown }).code !== 'E_JOB_ENDED') throw error;
      });
    return endedAnswer((await sent.wait()) as Ended);
  },
};

/** A job of this face, or one of an earlier one: the cap knows it by its name. */
async function jobNamed({ jobs, send }: Call, cap: string, name: string): Promise<Job> {
  const key = `${cap} ${name}`;
  const known = jobs.get(key);
  if (known !== undefined) return known;
  const found = newJob((await send(cap, 'job', name)) as Far<RunningJob>);
  jobs.set(key, found);
  return found;
}

/** How long a stream may be silent before its output so far is the answer, in ms. */
const SILENT = 200;
const MOST = 64 << 10;

async function outputOf({ job: running, streams }: Job, { within }: Call): Promise<Answer> {
  const [out, err] = streams;
  const sent = E(running);
  out.source ??= sent.stdout() as unknown as Promise<Far<Source>>;
  err.source ??= sent.stderr() as unknown as Promise<Far<Source>>;
  const [stdout, stderr] = await Promise.all([out, err].map((stream) => newIn(stream, within)));
  const over = out.over && err.over;
  const text = [stdout, stderr === '' ? '' : `stderr:\n${stderr}`, over ? '[no more output]' : '[it may print more]'];
  return { text: text.filter((part) => part !== '').join('\n'), data: { stdout, stderr, over } };
}

async function newIn(stream: Stream, within: Call['within']): Promise<string> {
  let text = '';
  while (!stream.over && text.length < MOST) {
    stream.next ??= E(stream.source as Promise<Far<Source>>).next(MOST) as Promise<Uint8Array | undefined>;
    const got = await within(stream.next, SILENT);
    if (got === undefined) break;
    stream.next = undefined;
    if (got.value === undefined) stream.over = true;
    else text += stream.decoder.decode(got.value, { stream: true });
  }
  return text;
}

interface Evaluated {
  readonly value: unknown;
  readonly console: string;
}

export const code: Verb = {
  name: 'code',
  about:
    'Runs a JavaScript or TypeScript program over your caps: `await E(notes).readText("a")`; it returns its value.',
  args: { cap: CAP, text: TEXT },
  required: ['cap', 'text'],
  result: { value: {}, console: TEXT },
  async run({ args, send }) {
    const { value, console: printed } = (await send(args.text('cap'), 'evaluate', args.text('text'))) as Evaluated;
    const json = toJson(value);
    const shown = typeof json === 'string' ? json : JSON.stringify(json);
    return { text: printed === '' ? shown : `${printed}\n[value] ${shown}`, data: { value: json, console: printed } };
  },
};
