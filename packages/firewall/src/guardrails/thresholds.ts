/** When a guardrail warns, and when it stops: the numbers, as a program or a manifest gives them. */
import { CapError } from '@hob/vat';
import { takeOptions } from '@hob/vat/forwarder';

/** It warns from the call of number `warn` on. So many calls as `stop` run, and the next one is not sent. */
export interface Threshold {
  readonly warn: number;
  readonly stop: number;
}

/** The guardrails. `off` leaves one out. */
export interface GuardrailOptions {
  /** The same method fails with the same arguments and the same error. 2 and 5. */
  readonly exactFailure?: Threshold | 'off';
  /** The same method fails, whatever its arguments. 3 and 8. */
  readonly sameMethod?: Threshold | 'off';
  /** An idempotent method has the same result for the same arguments. 2 and 5. */
  readonly sameResult?: Threshold | 'off';
}

/** Undefined for a guardrail that is off. */
export type Thresholds = Readonly<Record<keyof GuardrailOptions, Threshold | undefined>>;

const usual: Readonly<Record<keyof GuardrailOptions, Threshold>> = {
  exactFailure: { warn: 2, stop: 5 },
  sameMethod: { warn: 3, stop: 8 },
  sameResult: { warn: 2, stop: 5 },
};

const most = 1000;

/** Errors: `invalid`. */
export function thresholds(given: GuardrailOptions | undefined): Thresholds {
  const taken = takeOptions(given, 'guardrails', { exactFailure: true, sameMethod: true, sameResult: true });
  const one = (name: keyof GuardrailOptions): Threshold | undefined => threshold(name, taken[name] ?? usual[name]);
  return { exactFailure: one('exactFailure'), sameMethod: one('sameMethod'), sameResult: one('sameResult') };
}

function threshold(name: string, given: Threshold | 'off'): Threshold | undefined {
  if (given === 'off') return undefined;
  const { warn, stop } = takeOptions<Partial<Threshold>>(given, `guardrails.${name}`, { warn: true, stop: true });
  if (!isCount(warn) || !isCount(stop) || warn > stop)
    throw new CapError('invalid', `guardrails.${name} is "off", or {warn, stop}: two numbers from 1 to ${most}, "warn" at most "stop"`); // biome-ignore format: one line
  return { warn, stop };
}

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= most;
