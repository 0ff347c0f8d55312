/**
 * Exact replacements in a text.
 *
 * Promise: each passage is replaced only where it stands exactly once, all of them or none, and only in the version that
 * was read. What a dry run shows is what the same call then does.
 */
import { CapError } from '@hob/vat';
import { takeFlag, takeList, takeRecord, takeString } from './arguments.ts';
import { type Job, readWhole, replace } from './content.ts';
import { unifiedDiff } from './diff.ts';
import { inThread } from './drivers/thread.ts';
import { refusal } from './errors.ts';
import { parsePath, showPath } from './path.ts';
import type { Place } from './place.ts';
import { locate } from './resolve.ts';

interface Edit {
  readonly oldText: string;
  readonly newText: string;
}

const maxEdits = 1_000;
const maxCounted = 1_000;
const maxTries = 40;
const smallTexts = 256 * 1024;
const maxDiffMs = 10_000;

export function edit(
  path: unknown,
  edits: unknown,
  options: unknown,
): Job<{ readonly diff: string; readonly version: string }> {
  const parsed = parsePath(path);
  const wanted = takeList(edits, 'edits', maxEdits).map(takeEdit);
  const { dryRun, version: given } = takeRecord(options, 'options');
  const dry = takeFlag(dryRun, 'dryRun');
  const expected = given === undefined ? undefined : takeString(given, 'version');
  return async (place, ended) => {
    for (let tries = 1; ; tries++) {
      try {
        return await once(place, ended);
      } catch (error) {
        // Whoever names no version means the text as it stands: if another was quicker, the passages are looked for anew.
        const again = expected === undefined && tries < maxTries && error instanceof CapError && error.code === 'STALE';
        if (!again) throw error;
      }
    }
  };

  async function once(place: Place, ended: AbortSignal): Promise<{ readonly diff: string; readonly version: string }> {
    const { kernel, limits } = place.root;
    {
      // What the write at the end would refuse is refused for a dry run too: a link is not edited through.
      using spot = locate(place, parsed);
      const kind = kernel.lstat(spot.dir, spot.name)?.kind;
      if (kind === 'link' || kind === 'other') throw refusal('NOT_A_FILE');
    }
    const { text, version } = await readWhole(place, parsed);
    if (expected !== undefined && expected !== version) throw refusal('STALE', `it is ${version} now`);
    const edited = wanted.reduce((now, { oldText, newText }, index) => {
      const at = onlyPlaceOf(oldText, now, index);
      const next = now.slice(0, at) + newText + now.slice(at + oldText.length);
      if (next.length > limits.maxWriteBytes) throw refusal('FS_LIMIT', `maxWriteBytes ${limits.maxWriteBytes}`);
      return next;
    }, text);
    const bytes = new TextEncoder().encode(edited);
    if (bytes.length > limits.maxWriteBytes) throw refusal('FS_LIMIT', `maxWriteBytes ${limits.maxWriteBytes}`);
    const diff = await diffOf(text, edited, showPath(parsed), ended);
    if (dry) return { diff, version };
    return { diff, version: await replace(place, parsed, bytes, { create: 'never', version }) };
  }
}

/** A comparison of large texts would hold up everybody else. */
async function diffOf(before: string, after: string, name: string, ended: AbortSignal): Promise<string> {
  if (before.length + after.length <= smallTexts) return unifiedDiff(before, after, name);
  return await inThread<string>({ task: 'diff', before, after, name }, { ended, ms: maxDiffMs, limit: 'ms of a diff' });
}

function onlyPlaceOf(passage: string, text: string, index: number): number {
  const at = text.indexOf(passage);
  if (at < 0) throw refusal('NO_MATCH', `edit ${index + 1}`);
  let count = 1;
  // From one further on, not from the passage's end: `aa` stands twice in `aaa`.
  for (let next = text.indexOf(passage, at + 1); next >= 0 && count < maxCounted; count++) {
    next = text.indexOf(passage, next + 1);
  }
  if (count > 1) throw refusal('AMBIGUOUS', `edit ${index + 1}, ${count} times`);
  return at;
}

function takeEdit(given: unknown): Edit {
  const { oldText, newText } = takeRecord(given, 'an edit');
  const edit = { oldText: takeString(oldText, 'oldText'), newText: takeString(newText, 'newText') };
  if (edit.oldText === '') throw refusal('invalid', 'oldText is empty');
  return edit;
}
