/**
 * Lets a change of a file go on at once, and shows it to a granter afterwards.
 *
 * Promise: the granter sees the diff of exactly this change, and a refusal takes it back. It is taken back only while
 * the file is as the change left it, so nobody's later work is lost. A change that could not be taken back, or that
 * cannot be shown, waits for a granter instead. A session has as many changes in review as requests at once.
 */
import type { Judge, Onlooker } from '@hob/revocable';
import { type Definition, define, E, ledgerLine } from '@hob/vat';
import { codeOf, type Directory, type FileNow, fileNow } from '../powerbox/file-now.ts';
import { type AskedCall, askGranters, callingGrantsOf, fileReview } from '../powerbox/gate.ts';
import { withdrawRequest } from '../powerbox/pending.ts';
import { previewOf } from '../powerbox/preview.ts';
import type { Preview } from '../powerbox/preview-text.ts';
import { type HostState, tablesOf } from '../state/host-state.ts';

/** The methods whose changes can be taken back. */
export const undoable: readonly string[] = ['write', 'edit'];

interface Looked {
  readonly callingGrants: readonly string[];
  readonly preview: Preview;
  readonly file: FileNow;
}

/** A change that was let go on. */
interface Change {
  readonly request: string;
  readonly path: string;
  /** The text before it. Undefined: there was no file. */
  readonly before: string | undefined;
  /** The version that it made. Undefined while it is being made. */
  readonly version?: string;
  readonly refused?: true;
}

interface Reviewer extends Judge, Onlooker {
  /** In a turn of its own: what was filed. */
  noted(change: Change): void;
  refused(target: object): void;
}

/** Looks at a call before and after it goes on, and takes its change back if a granter says so. */
export const ReviewActor: Definition<
  Reviewer,
  [hostState: HostState, grant: string, reasons: readonly string[], change?: Change | undefined, next?: Onlooker | undefined, target?: object | undefined] // biome-ignore format: one line
> = define('host.review', (bcom, hostState, grant, reasons, change, next, target) => ({
  ask(call, inner, charged) {
    const asking: AskedCall = { hostState, gatedGrant: grant, call, target: inner, charged, reasons: [] };
    const [path] = call.args;
    // The file was changed meanwhile, so this is asked anew: what was filed before was not made.
    if (change !== undefined) withdraw(hostState, change.request);
    const self = bcom.self as unknown as Reviewer;
    const instead = (why: string): Promise<unknown> =>
      askGranters({ ...asking, reasons: [...reasons, why].map((reason) => ['why it waits', reason] as const) });
    if (typeof path !== 'string') return instead(notShown) as never;
    const looked = E.when(callingGrantsOf(hostState), (callingGrants) =>
      E.when(previewOf(inner, call.method, call.args), (preview: Preview) =>
        E.when(fileNow(inner as Directory, path), (file) => ({ callingGrants, preview, file })),
      ),
    ) as unknown as Promise<Looked>;
    return E.when(
      looked,
      ({ callingGrants, preview, file }) => {
        const { pinned, diff } = preview;
        const same = preview.files.every(([, version]) => version === file.stat?.version);
        if (pinned === undefined || diff === undefined || !same || (file.stat !== undefined && file.text === undefined))
          return instead(notShown);
        const request = fileReview(asking, callingGrants, preview, () => E.sendOnly(self).refused(inner));
        if (request === undefined) return instead(tooMany);
        return E.when(E(self).noted({ request, path, before: file.text }) as never, () => ({ with: pinned }));
      },
      () => instead(notShown),
    ) as never;
  },
  look(call, outcome) {
    const told = next === undefined ? undefined : (E(next).look(call, outcome) as unknown as Promise<void>);
    if (change === undefined) return told as never;
    const { request } = change;
    const version = outcome.ok ? (outcome.value as { readonly version?: unknown } | undefined)?.version : undefined;
    if (typeof version !== 'string') {
      withdraw(hostState, request);
      return bcom(ReviewActor(hostState, grant, reasons, undefined, next, undefined), told as never) as never;
    }
    note(grant, request, 'made');
    const made = { ...change, version };
    if (change.refused === true && target !== undefined) takeBack(grant, made, target as Directory);
    return bcom(ReviewActor(hostState, grant, reasons, made, next, target), told as never) as never;
  },
  noted: (filed) => bcom(ReviewActor(hostState, grant, reasons, filed, next, target)) as never,
  refused(inner) {
    if (change === undefined) return;
    // A change that is still being made is taken back when it is made.
    if (change.version === undefined)
      return bcom(ReviewActor(hostState, grant, reasons, { ...change, refused: true }, next, inner)) as never;
    takeBack(grant, change, inner as Directory);
  },
}));

const notShown = 'it could not be shown and taken back afterwards';
const tooMany = 'too many changes of this session are in review: answer them first';

function withdraw(hostState: HostState, request: string): void {
  const tables = tablesOf(hostState);
  const pending = tables.requests.get(request);
  if (pending !== undefined) withdrawRequest(tables, pending, 'cancelled', 'the change was not made');
}

const note = (grant: string, request: string, what: string): void => ledgerLine('review', { grant, request, what });

interface Undo {
  write(path: string, text: string, options: object): Promise<unknown>;
  remove(path: string, options: { readonly version: string | undefined }): Promise<unknown>;
}

/** In a turn: the file is as before, if it is still as the change left it. In one step: another version is refused. */
function takeBack(grant: string, { request, path, before, version }: Change, directory: Directory): void {
  const undo = E(directory as unknown as Undo) as unknown as Undo;
  const options = { version };
  void E.when(
    before === undefined ? undo.remove(path, options) : undo.write(path, before, options),
    () => note(grant, request, 'undone'),
    (error) => note(grant, request, isChanged(error) ? 'stale' : 'failed'),
  );
}

/** Whether it is not as the change left it: it has other content, or is not there. */
const isChanged = (error: unknown): boolean => ['STALE', 'NOT_FOUND'].includes(codeOf(error) ?? '');
