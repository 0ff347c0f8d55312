/**
 * Runs a bundle from the compiled form that an earlier run of the same kind left.
 *
 * Node's own cache keeps the compiled form of a module as it is before the module runs. This form lacks the functions.
 * So each process compiles the functions that it calls, which takes a fifth of the time of `hob check`. The form here
 * is made after a run, and has these functions.
 *
 * Promise: a form that was truncated or changed, or is of another bundle or Node, is not used, and is replaced. V8 does
 * not detect changed bytes, and crashes. A form is code that `hob` runs. So it is not used if another user, except
 * root, made it or its folder, or may write one of them. If nothing can be written, nothing is kept.
 */

// Not by `import`, which reads each export of a part of Node and takes 1 to 3 ms. An older Node has no
// `getBuiltinModule`, so it is called late: that Node must load this file before `main.ts` can refuse it.
const disk = (): typeof import('node:fs') => process.getBuiltinModule('node:fs');
const checksum = (bytes: string | Buffer, from = 0): number => process.getBuiltinModule('node:zlib').crc32(bytes, from);

/** A compiled form. `isWhole`: its run ended with 0. Another run may have called only a few of the functions. */
interface Kept {
  readonly form: Buffer;
  readonly isWhole: boolean;
}

/** The size of the end of a file: a checksum of 4 bytes, and one byte that says whether the form is whole. */
const END_BYTES = 5;

/**
 * Runs the script in `file`, and returns its exports. Undefined if there is no such file. The script is ASCII text: one
 * function of `exports` and `module`. The path of the kept form is `place` with the version of Node and the processor.
 */
export function loadCompiled(file: string, place: string): unknown {
  const source = read(file)?.toString('latin1');
  if (source === undefined) return undefined;
  const { Script, constants } = process.getBuiltinModule('node:vm');
  const kept = isPlain() && !isOfOthers(folderOf(place)) ? `${place}-${process.version}-${process.arch}` : undefined;
  const sum = checksum(source);
  const found = kept === undefined ? undefined : formIn(kept, sum);
  const script = new Script(source, {
    filename: file,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(found !== undefined && { cachedData: found.form }),
  });
  const isUsed = found !== undefined && script.cachedDataRejected !== true;
  if (kept !== undefined && !(isUsed && found.isWhole))
    process.once('exit', (code) => {
      if (!isUsed || code === 0) keep(kept, sum, { form: script.createCachedData(), isWhole: code === 0 });
    });
  const module = { exports: {} };
  (script.runInThisContext() as (exports: object, module: object) => void)(module.exports, module);
  return module.exports;
}

/** Whether Node runs without options. They may be options of V8, which refuses a form that was made with others. */
const isPlain = (): boolean =>
  process.execArgv.length === 0 && !process.env['NODE_OPTIONS'] && !process.env['NODE_DISABLE_COMPILE_CACHE'];

function read(file: string): Buffer | undefined {
  try {
    return disk().readFileSync(file);
  } catch {
    return undefined;
  }
}

/** Returns the form if its checksum is right. The checksum covers the source, because V8 compares only its length. */
function formIn(kept: string, sum: number): Kept | undefined {
  const bytes = isOfOthers(kept) ? undefined : read(kept);
  const at = (bytes?.length ?? 0) - END_BYTES;
  if (bytes === undefined || at < 0) return undefined;
  const form = bytes.subarray(0, at);
  return bytes.readUInt32LE(at) === checksum(form, sum) ? { form, isWhole: bytes[at + 4] === 1 } : undefined;
}

/** Whether another user made the file or folder or may write it. Root does not count. True if this cannot be read. */
function isOfOthers(path: string): boolean {
  const me = process.geteuid?.();
  try {
    const found = disk().lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined || me === undefined) return false;
    return (found.uid !== me && found.uid !== 0) || (found.mode & 0o022) !== 0;
  } catch {
    return true;
  }
}

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));

/** Writes a draft and renames it, so that another process sees either no form or all bytes of it. */
function keep(kept: string, sum: number, { form, isWhole }: Kept): void {
  const { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } = disk();
  const end = Buffer.alloc(END_BYTES);
  end.writeUInt32LE(checksum(form, sum));
  end[4] = isWhole ? 1 : 0;
  const draft = `${kept}.${process.pid}`;
  try {
    mkdirSync(folderOf(kept), { recursive: true, mode: 0o755 });
    const descriptor = openSync(draft, 'w', 0o644);
    try {
      writeFileSync(descriptor, Buffer.concat([form, end]));
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(draft, kept);
  } catch {
    // The folder may belong to another user, or the disk may be full. The program runs without the form.
    try {
      rmSync(draft, { force: true });
    } catch {}
  }
}
