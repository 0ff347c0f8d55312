/**
 * Runs a bundle from the compiled form that an earlier run of the same kind left.
 *
 * Node's own cache has the compiled form of a module from before it runs. That lacks the functions, so each process
 * compiles again each function that it calls: a fifth of the time of `hob check`. This keeps the form from after a run.
 *
 * Promise: a kept form that is cut off, changed, or of another bundle or Node is not used, and is replaced. V8 does not
 * look for changed bytes, and crashes. Whoever writes a form decides what runs, so one that another user wrote, or may
 * write, is not used. Where nothing can be written, nothing is kept.
 */

// An `import` of a part of Node reads each of its exports, which takes 1 to 3 ms. An older Node has no such function.
const disk = (): typeof import('node:fs') => process.getBuiltinModule('node:fs');
const checksum = (bytes: string | Buffer, from = 0): number => process.getBuiltinModule('node:zlib').crc32(bytes, from);

/** A compiled form, and whether its run ended with 0. Another run may have called few of the functions. */
interface Kept {
  readonly form: Buffer;
  readonly isWhole: boolean;
}

/** A checksum of 4 bytes, and whether the form is whole. */
const END_BYTES = 5;

/**
 * Runs the script in `file`, and returns its exports. Undefined if there is no such file. The script is ASCII text: one
 * function of `exports` and `module`. Where the form is kept begins with `place`.
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

/** Options of Node may be options of V8, which refuses a form that was made with others. */
const isPlain = (): boolean =>
  process.execArgv.length === 0 && !process.env['NODE_OPTIONS'] && !process.env['NODE_DISABLE_COMPILE_CACHE'];

function read(file: string): Buffer | undefined {
  try {
    return disk().readFileSync(file);
  } catch {
    return undefined;
  }
}

/** The checksum is also of the source: V8 only looks at its length. */
function formIn(kept: string, sum: number): Kept | undefined {
  const bytes = isOfOthers(kept) ? undefined : read(kept);
  const at = (bytes?.length ?? 0) - END_BYTES;
  if (bytes === undefined || at < 0) return undefined;
  const form = bytes.subarray(0, at);
  return bytes.readUInt32LE(at) === checksum(form, sum) ? { form, isWhole: bytes[at + 4] === 1 } : undefined;
}

/** Whether another user than root made the file or folder, or may write it. Also if that cannot be seen. */
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

/** The name appears when all bytes are on disk, since another process may read it at any moment. */
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
    // The folder may be of another user, or the disk full. The program does not need the form.
    try {
      rmSync(draft, { force: true });
    } catch {}
  }
}
