/**
 * Exact replacements in a text.
 *
 * Promise: a passage is replaced only if it occurs exactly once. Either all are replaced or none, and only in
 * the version that was read. A dry run shows exactly what the same call without `dryRun` does.
 */
import { CapError } from '@hob/vat';
import { bytesOf, takeFlag, takeList, takeRecord, takeString } from '../base/arguments.ts';
import { refusal } from '../base/errors.ts';
import { readWhole, replace } from '../files/content.ts';
import { holding, type Operation } from '../files/operation.ts';
import type { HeldDirectory } from '../root/held-directory.ts';
import type { Holder } from '../root/holder.ts';
import { parsePath, showPath } from '../root/path.ts';
import { locate } from '../root/resolve.ts';
import { Stop } from './descent.ts';
import { inThread } from './drivers/thread.ts';
import { type Edit, type Edited, type EditTask, editText, weightOf } from './passages.ts';

const maxEdits = 1_000;
const maxTries = 40;
const smallTexts = 256 * 1024;
const lightEdits = 32 * 1024 * 1024;
const maxEditMs = 10_000;

export function edit(
  path: unknown,
  edits: unknown,
  options: unknown,
): Operation<{ readonly diff: string; readonly version: string }> {
  const parsed = parsePath(path);
  const wanted = takeList(edits, 'edits', maxEdits).map(takeEdit);
  const { dryRun, version: given } = takeRecord(options, 'options', ['dryRun', 'version']);
  const dry = takeFlag(dryRun, 'dryRun');
  const expected = given === undefined ? undefined : takeString(given, 'version');
  const holds = bytesOf(wanted.flatMap(({ oldText, newText }) => [oldText, newText]));
  return holding(holds, async (held, ended) => {
    for (let tries = 1; ; tries++) {
      try {
        return await tryEdit(held, ended);
      } catch (error) {
        // A caller without a version means the current text. If another write came first, try on the new
        // text.
        const again = expected === undefined && tries < maxTries && error instanceof CapError && error.code === 'STALE';
        if (!again) throw error;
      }
    }
  });

  async function tryEdit(
    held: HeldDirectory,
    ended: AbortSignal,
  ): Promise<{ readonly diff: string; readonly version: string }> {
    const { kernel, limits } = held.root;
    {
      // A dry run must refuse what the final write would refuse: a link is never written through.
      using target = locate(held, parsed);
      const kind = kernel.lstat(target.dir, target.name)?.kind;
      if (kind === 'link' || kind === 'other') throw refusal('NOT_A_FILE');
    }
    const { text, version } = await readWhole(held, parsed);
    if (expected !== undefined && expected !== version) throw refusal('STALE', `it is ${version} now`);
    const { edited, diff } = await computeEdit(
      { text, edits: wanted, name: showPath(parsed), max: limits.maxWriteBytes },
      held.holder,
      ended,
    );
    const bytes = new TextEncoder().encode(edited);
    if (bytes.length > limits.maxWriteBytes) throw refusal('FS_LIMIT', `maxWriteBytes ${limits.maxWriteBytes}`);
    if (dry) return { diff, version };
    return { diff, version: await replace(held, parsed, bytes, { create: 'never', version }) };
  }
}

/** Large edits run in a worker thread, because they would block everybody else here. */
async function computeEdit(wanted: EditTask, holder: Holder, ended: AbortSignal): Promise<Edited> {
  const { text, edits } = wanted;
  const added = edits.reduce((sum, { newText }) => sum + newText.length, 0);
  if (2 * text.length + added > smallTexts || weightOf(text, edits) > lightEdits) {
    const begin = () => ({ task: { task: 'edit' as const, ...wanted }, [Symbol.dispose]: () => {} });
    return await inThread<Edited>(begin, { holder, ended, ms: maxEditMs, limit: 'ms of an edit' });
  }
  try {
    return editText(wanted);
  } catch (error) {
    throw error instanceof Stop ? refusal(error.code, error.detail) : error;
  }
}

function takeEdit(given: unknown): Edit {
  const { oldText, newText } = takeRecord(given, 'an edit', ['oldText', 'newText']);
  const edit = { oldText: takeString(oldText, 'oldText'), newText: takeString(newText, 'newText') };
  if (edit.oldText === '') throw refusal('invalid', 'oldText is empty');
  return edit;
}
