/** The least forwarder under a grant: what it passes on carries the grant's id. */

import { under } from '../src/forwarder.ts';
import { type ByteSource, type Definition, define, E, type Far } from '../src/index.ts';

export const Guard: Definition<ByteSource, [grant: string, inner: Far<ByteSource>]> = define(
  'Guard',
  (_bcom, grant, inner) => ({
    next: (max) => under(grant, () => E(inner).next(max)) as Promise<Uint8Array | undefined>,
    return: () => under(grant, () => E(inner).return()) as Promise<void>,
  }),
);
