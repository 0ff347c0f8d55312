/** Makes the face of a session. */
import { type OptionNames, takeOptions } from '@hob/vat/forwarder';
import { E, type Far } from '@hob/vat/peer';
import { newName, after as timer } from './drivers/powers.ts';
import { type Face, VerbFace } from './face/face.ts';
import type { After } from './face/waits.ts';
import { callVerb, caps, requestCap, waitFor } from './verbs/asking.ts';
import { fetchVerb } from './verbs/fetch.ts';
import { edit, list, read, search, write } from './verbs/files.ts';
import { code, job, run } from './verbs/programs.ts';
import type { Held, HeldSession } from './verbs/session.ts';
import type { Verb } from './verbs/verb.ts';

/** Agent hosts wait 60 s for a call, or longer. */
const WAIT_MS = 50_000;

/** Options of a face. */
export interface FaceOptions {
  /** How long a call may take before it returns with an id to wait for, in ms. 50 s by default. */
  readonly waitMs?: number;
  /** Called when a person has granted what was asked for. */
  readonly onGrant?: () => void;
  /** A timer. That of the process by default. */
  readonly after?: After;
}

const faceOptions: OptionNames<FaceOptions> = { waitMs: true, onGrant: true, after: true };

/**
 * Makes the face of a session. `session` is the bootstrap object of its connection, or a function that returns it and
 * may connect again. The list of verbs is decided here: it has `code` and `fetch` if the session holds such a cap now, or one
 * that asks for it. Errors: those of the session.
 */
export async function openFace(
  session: Far<HeldSession> | (() => Promise<Far<HeldSession>>),
  options?: FaceOptions,
): Promise<Face> {
  const { waitMs = WAIT_MS, onGrant, after = timer } = takeOptions(options, 'openFace', faceOptions);
  const reach = isFunction(session) ? session : () => Promise.resolve(session);
  const held = (await E(await reach()).holdings()) as readonly Held[];
  const has = (method: string): boolean => held.some(({ methods }) => methods?.includes(method) === true);
  const verbs: readonly Verb[] = [
    ...[caps, read, write, edit, list, search, run, job],
    ...(has('getText') ? [fetchVerb] : []),
    ...(has('evaluate') ? [code] : []),
    ...[callVerb, requestCap, waitFor],
  ];
  return new VerbFace({ session: reach, verbs, after, newName, waitMs, ...(onGrant === undefined ? {} : { onGrant }) });
}

/** A reference can be a function too, but it is never one of ours. */
const isFunction = (session: Far<HeldSession> | (() => Promise<Far<HeldSession>>)): session is () => Promise<Far<HeldSession>> =>
  typeof session === 'function'; // biome-ignore format: one line
