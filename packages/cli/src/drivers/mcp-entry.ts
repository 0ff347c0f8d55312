/** Where `hob mcp` enters: from its command line, else from the two variables that `hob start` sets. */
import type { StdioOptions } from '@hob/mcp/stdio';
import { Mistake } from '../line/mistake.ts';
import { absolute } from './places.ts';

/** Errors: `Mistake`. */
export function entryOf({
  url = process.env['HOB_URL'],
  file,
  descriptor,
}: {
  readonly url: string | undefined;
  readonly file: string | undefined;
  readonly descriptor: string | undefined;
}): Omit<StdioOptions, 'version'> {
  if (url === undefined) throw new Mistake('name the host with --url: hob serve prints it, and hob start sets HOB_URL');
  if (file !== undefined && descriptor !== undefined)
    throw new Mistake('the secret comes from --secret-file or from --secret-fd: give one of them', 2);
  const { stdin: input, stdout: output } = process;
  if (descriptor !== undefined) {
    if (!/^[3-9]$|^[1-9]\d{1,4}$/.test(descriptor))
      throw new Mistake('--secret-fd is the number of a descriptor, 3 or more, that the caller has opened', 2);
    return { url, secret: { descriptor: Number(descriptor) }, input, output };
  }
  const named = file ?? process.env['HOB_SECRET_FILE'];
  if (named === undefined)
    throw new Mistake('name the file of the secret with --secret-file: hob start sets HOB_SECRET_FILE');
  return { url, secret: { file: absolute(named) }, input, output };
}
