/**
 * The doors that a host has open, and the note of them in its state.
 *
 * Promise: while a door is open, the note in the state names one, so the command line finds the host, whichever
 * program runs it. With the last door the note goes.
 */
import { noteAddress, removeAddress } from '../drivers/state-dir.ts';
import type { Listener } from './drivers/listener.ts';

export interface OpenDoor {
  readonly url: string;
  close(): Promise<void>;
}

export class OpenDoors {
  readonly #stateDir: string;
  /** Each with its URL, the latest last. */
  readonly #urls = new Map<Listener, string>();

  readonly #unnoted = new Set<Listener>();

  constructor(stateDir: string) {
    this.#stateDir = stateDir;
  }

  /** Errors: `unavailable` (the note cannot be written; the door is closed again). */
  async add(listener: Listener, url: string): Promise<OpenDoor> {
    try {
      noteAddress(this.#stateDir, url);
    } catch (error) {
      await listener.close();
      throw error;
    }
    this.#urls.set(listener, url);
    return {
      url,
      close: async () => {
        if (this.#urls.delete(listener)) this.#noteAgain();
        await listener.close();
      },
    };
  }

  /** A door of one granter. The note does not name it, because sessions cannot enter there. */
  addUnnoted(listener: Listener): OpenDoor {
    this.#unnoted.add(listener);
    return {
      url: listener.url,
      close: () => {
        this.#unnoted.delete(listener);
        return listener.close();
      },
    };
  }

  /** The values of `Origin` that the pages of these doors send. */
  origins(): readonly string[] {
    return [...this.#urls.keys()].flatMap((listener) => listener.origins());
  }

  async close(): Promise<void> {
    const listeners = [...this.#urls.keys(), ...this.#unnoted];
    if (this.#urls.size > 0) {
      this.#urls.clear();
      this.#noteAgain();
    }
    this.#unnoted.clear();
    await Promise.all(listeners.map((listener) => listener.close()));
  }

  #noteAgain(): void {
    const url = [...this.#urls.values()].at(-1);
    try {
      if (url === undefined) removeAddress(this.#stateDir);
      else noteAddress(this.#stateDir, url);
    } catch {
      // A note that is left behind misleads nobody: who reads it looks for the process that has the store.
    }
  }
}
