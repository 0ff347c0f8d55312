/**
 * The judge of a manifest, beside the requests of the host that serves it.
 *
 * Promise: it has the judge facet of the granter, which cannot grant, and its key by the name of a secret. Its log has
 * no word of a request or of the model.
 */
import { anthropicModel, type JudgeRunner, judgePowers, openAiModel, runJudge } from '@hob/firewall';
import type { Granter, Judge } from '@hob/host';
import type { Plan } from '@hob/manifest';
import { E, type Far } from '@hob/vat';
import { Mistake } from '../line/mistake.ts';

interface JudgeParts {
  /** A granter of all sessions. */
  readonly granter: Far<Granter>;
  /** The value of a secret. */
  readonly secret: (name: string) => string | undefined;
  readonly log: (line: string) => void;
}

/** Undefined if the plan has no judge to ask. Errors: `Mistake`. */
export function servedJudge({ judge }: Plan, { granter, secret, log }: JudgeParts): JudgeRunner | undefined {
  if (judge?.asks === undefined || judge.may.length === 0) return undefined;
  const { api, url, model, secret: name, timeoutMs } = judge.asks;
  if (name !== undefined && secret(name) === undefined)
    throw new Mistake(`judge: there is no secret ${name}: store the key of the model with hob secret set ${name}`);
  const make = api === 'openai' ? openAiModel : anthropicModel;
  return runJudge({
    judge: E(granter).judge() as unknown as Far<Judge>,
    model: make({ url, model, ...(name === undefined ? {} : { key: () => secret(name) }) }),
    may: judge.may,
    powers: judgePowers(),
    say: log,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
}
