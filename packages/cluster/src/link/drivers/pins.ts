/**
 * The certificates of the machines of a cluster. A machine is known by the certificate that is pinned for it.
 *
 * Promise: a certificate that a pinned one has signed is not pinned. No two machines have one certificate.
 */
import { X509Certificate } from 'node:crypto';
import { CapError } from '@hob/vat';
import type { LinkPins } from '../types.ts';

export class Pins {
  readonly #prints = new Map<string, { readonly name: string; readonly pem: string }>();

  /** Errors: `invalid`. */
  constructor(peers: LinkPins) {
    for (const [name, pem] of Object.entries(peers)) {
      const print = printOf(pem);
      if (print === undefined)
        throw new CapError(
          'invalid',
          `the certificate of the peer ${JSON.stringify(name)} is not PEM: give the text of its file`,
        );
      if (this.#prints.has(print))
        throw new CapError('invalid', 'two peers have the same certificate: make one for each machine');
      this.#prints.set(print, { name, pem });
    }
  }

  get pems(): string[] {
    return [...this.#prints.values()].map(({ pem }) => pem);
  }

  pemOf(name: string): string | undefined {
    return [...this.#prints.values()].find((pin) => pin.name === name)?.pem;
  }

  /** Returns the name of the machine that this certificate is pinned for. Undefined for any other certificate. */
  nameOf(shown: X509Certificate | undefined): string | undefined {
    return shown === undefined ? undefined : this.#prints.get(shown.fingerprint256)?.name;
  }
}

function printOf(pem: unknown): string | undefined {
  try {
    return typeof pem === 'string' ? new X509Certificate(pem).fingerprint256 : undefined;
  } catch {
    return undefined;
  }
}
