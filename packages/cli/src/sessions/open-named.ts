/** Opens a session for an agent, under a name that no open session has. */
import { E, type Far } from '@hob/vat';
import type { Daemon, LayerText, OpenedEntry, Starter } from '../daemon/daemon.ts';

/** How often a session is opened while others take its name. */
const MOST_TRIES = 20;

interface Named {
  readonly name: string;
  readonly starter: Starter;
  readonly layers: readonly LayerText[];
}

/** `name`, or `name-2` and so on if that is taken. Errors: those of `Daemon.open`. */
export async function openNamed(daemon: Far<Daemon>, { name, starter, layers }: Named): Promise<OpenedEntry> {
  const names = async (): Promise<ReadonlySet<string>> => new Set((await E(daemon).names()) as readonly string[]);
  for (let tries = 1; ; tries += 1) {
    const tried = freeName(name, await names());
    try {
      return (await E(daemon).open(tried, starter, layers)) as OpenedEntry;
    } catch (error) {
      // Another agent may have taken the name meanwhile, which is `invalid`.
      if (tries === MOST_TRIES || (error as { readonly code?: unknown }).code !== 'invalid') throw error;
      if (!(await names()).has(tried)) throw error;
    }
  }
}

/** Sessions that are open at once have different names. */
function freeName(name: string, taken: ReadonlySet<string>): string {
  for (let n = 1; ; n += 1) {
    const tried = n === 1 ? name : `${name}-${n}`;
    if (!taken.has(tried)) return tried;
  }
}
