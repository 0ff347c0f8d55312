/** The examples of command caps: `match` has to run by its own cap, `not_match` by no cap of the plan. */

import type { Example, Manifest } from '../file/types.ts';
import { type Finding, type Path, quoted } from '../text/mistakes.ts';
import { splitWords } from '../words/split.ts';
import { mayRun, takesArgs } from './decide.ts';
import { programOf } from './effects.ts';
import type { Plan, PlannedCommand } from './plan.ts';

/** Comparisons that the examples of one manifest may take. */
const MOST_WORK = 1_000_000;

/**
 * Compares the examples of a manifest with its own plan and with that of all layers, and executes none. A `match` that
 * a layer above takes away is a warning; a `not_match` that runs under any layer is an error.
 */
export function examplesOf({ session = {} }: Manifest, own: Plan, whole: Plan): readonly Finding[] {
  const findings: Finding[] = [];
  const work = { left: MOST_WORK };
  for (const part of ['caps', 'ask'] as const)
    for (const [name, cap] of Object.entries(session[part] ?? {})) {
      if (!('command' in cap)) continue;
      const path = ['session', part, name];
      const planned = own.caps[name];
      for (const [n, example] of (cap.match ?? []).entries())
        if (planned?.kind === 'command')
          findings.push(...mismatch(own, planned, whole, example, [...path, 'match', n], work));
      for (const [n, example] of (cap.not_match ?? []).entries())
        findings.push(...runners(whole, example, [...path, 'not_match', n], work));
      if (work.left <= 0) return [...findings, { path, wrong: 'comparing the examples takes too long', ...FEWER }];
    }
  return findings;
}

const FEWER = { write: 'remove some, or make argv smaller' };
const OPEN = {
  wrong: 'this example has an open quote or no words',
  write: 'close the quote, or write a list of words',
};

/** The words of an example; none if it is no command. */
export function wordsOf(example: Example): readonly (readonly string[])[] {
  const words = typeof example === 'string' ? splitWords(example) : example;
  return words === undefined || words.length === 0 ? [] : [words];
}

type Work = { left: number };

function mismatch(
  own: Plan,
  cap: PlannedCommand,
  whole: Plan,
  example: Example,
  path: Path,
  work: Work,
): readonly Finding[] {
  const [words] = wordsOf(example);
  if (words === undefined) return [{ path, ...OPEN }];
  const [program = '', ...args] = words;
  const name = programOf(cap.command);
  if (program !== name && program !== cap.command)
    return [
      {
        path,
        wrong: `the example runs ${quoted(program)} and the cap runs ${quoted(name)}`,
        write: `begin it with ${quoted(name)}`,
      },
    ];
  if (!takesArgs(own, cap, args, undefined, work))
    return [{ path, wrong: 'no row of argv takes this', write: 'add a row, or move the example to not_match' }];
  const left = whole.caps[cap.name];
  if (left?.kind === 'command' && takesArgs(whole, left, args, undefined, work)) return [];
  return [
    {
      severity: 'warning',
      path,
      wrong: 'a layer above does not allow this',
      write: 'change the layer above, or remove the example',
    },
  ];
}

function runners(plan: Plan, example: Example, path: Path, work: Work): readonly Finding[] {
  const [words] = wordsOf(example);
  if (words === undefined) return [{ path, ...OPEN }];
  return mayRun(plan, words, work).map(({ name, kind }) =>
    kind === 'shell'
      ? { path, wrong: `the shell ${name} runs any program, also this one`, write: 'remove the shell or the example' }
      : { path, wrong: `the cap ${name} runs this`, write: 'make its argv smaller, or remove the example' },
  );
}
