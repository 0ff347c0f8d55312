/** `hob check`: mistakes of a manifest, and what it decides about calls. Nothing is started. */
import type { Call, Decision, Mistake, Plan } from '@hob/manifest';
import type { ReadLayers } from '../../drivers/layers.ts';
import { Mistake as UserMistake } from '../../line/mistake.ts';
import { LAYERS } from '../../line/options.ts';
import { isGiven, listOf, textOf, type Verb } from '../../line/verb.ts';

/** `hob check` */
export const check: Verb = {
  name: 'check',
  operands: '[file]',
  about:
    'finds the mistakes of a manifest, runs its examples, and says what it decides about calls. Without a file, of all layers that hob serve reads',
  options: [
    LAYERS,
    { flags: '--as <layer>', about: 'the layer of the file that is named (default: user)' },
    {
      flags: '--calls <file>',
      about: 'a call in each line, as JSON: {"cap","method"?,"argv"?,"path"?} or {"command"}',
    },
    { flags: '--strict', about: 'warnings end with 3' },
    { flags: '--schema', about: 'prints the JSON Schema that editors complete from, and checks nothing' },
  ],
  examples: [
    'hob check ~/.config/hob/hob.yaml --strict',
    'hob check --schema > hob.schema.json',
    'hob check app.yaml --layer org=/etc/hob/org.yaml --calls calls.jsonl --json',
  ],
  json:
    '{ "mistakes": { "severity": "error" | "warning", "file", "line", "column", "at", "wrong", "write" }[],\n' +
    '  "calls": { "line": number, "call": object, "decision": "runs" | "asks" | "drafts" | "absent" }[] }',
  codes: { 1: 'the manifest has mistakes', 3: 'it has warnings only, with --strict' },
  async run(given, { line, say, json, table }) {
    const [
      { check: checkLayers, decide, jsonSchema, lineOf },
      { layerNamed, readLayers, servedLayers, surroundings, textOfFile },
      { usualPlaces },
      { unusedParts },
    ] = await Promise.all([
      import('@hob/manifest'),
      import('../../drivers/layers.ts'),
      import('../../drivers/places.ts'),
      import('../../plan/unused.ts'),
    ]);
    if (isGiven(given, 'schema')) {
      for (const text of JSON.stringify(jsonSchema(), undefined, 2).split('\n')) line(text);
      json(jsonSchema());
      return 0;
    }
    const [[file], as, named] = [given.operands, textOf(given, 'as'), listOf(given, 'layer')];
    const read: ReadLayers & { readonly said?: readonly string[] } =
      file === undefined
        ? servedLayers(usualPlaces(undefined), named)
        : readLayers(file, named, as === undefined ? undefined : layerNamed(as));
    const { plan, mistakes: found } =
      read.lost.length > 0 ? { plan: undefined, mistakes: [] } : checkLayers(read.given, surroundings());
    const mistakes: readonly Mistake[] = [...read.lost, ...found, ...unusedParts(read.given)];
    const list = textOf(given, 'calls');
    const calls = list === undefined || plan === undefined ? [] : callsIn(textOfFile(list), list, plan, decide);
    json({ mistakes, calls });
    for (const text of read.said ?? []) say(text);
    for (const mistake of mistakes) line(lineOf(mistake));
    if (calls.length > 0)
      table(
        ['decision', 'call'],
        calls.map(({ call, decision }) => [decision, JSON.stringify(call)]),
      );
    if (plan === undefined) return 1;
    if (mistakes.length === 0) line('no mistakes');
    return mistakes.length > 0 && isGiven(given, 'strict') ? 3 : 0;
  },
};

interface Decided {
  readonly line: number;
  readonly call: Call;
  readonly decision: Decision;
}

/** Errors: `Mistake`, which names the line. */
function callsIn(
  text: string,
  file: string,
  plan: Plan,
  decide: (plan: Plan, call: Call) => Decision,
): readonly Decided[] {
  return text.split('\n').flatMap((one, n): readonly Decided[] => {
    if (one.trim() === '') return [];
    const call = callOf(one);
    if (call === undefined)
      throw new UserMistake(
        `${file}:${n + 1}: this is no call: write for example {"cap": "docs", "method": "readText", "path": "a.txt"} or {"command": "git push"}`, // biome-ignore format: one line
      );
    return [{ line: n + 1, call, decision: decide(plan, call) }];
  });
}

function callOf(text: string): Call | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { cap, method, argv, path, command, ...rest } = value as Record<string, unknown>;
  if (Object.keys(rest).length > 0) return undefined;
  if (command !== undefined)
    return cap === undefined && (typeof command === 'string' || isTexts(command)) ? { command } : undefined;
  const isText = (one: unknown): one is string | undefined => one === undefined || typeof one === 'string';
  if (typeof cap !== 'string' || !isText(method) || !isText(path)) return undefined;
  if (argv !== undefined && !isTexts(argv)) return undefined;
  return {
    cap,
    ...(method === undefined ? {} : { method }),
    ...(path === undefined ? {} : { path }),
    ...(argv === undefined ? {} : { argv }),
  };
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');
