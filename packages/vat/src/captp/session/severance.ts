/** The promises that are fulfilled when a connection has ended (`onSever`). Those who wait pay for them. */
import type { CapError } from '../../core/errors.ts';
import type { ResultSink } from '../../core/message.ts';
import type { Fence } from './fence.ts';
import { brokenAtOnce } from './limits.ts';

export class Severance {
  readonly #fence: Fence;
  #waiting: ResultSink[] = [];

  constructor(fence: Fence) {
    this.#fence = fence;
  }

  /** `why` is set if the connection has ended already. */
  add(waits: ResultSink, why: CapError | undefined): void {
    this.#waiting.push(waits);
    if (why !== undefined) this.end(why);
  }

  end(why: CapError): void {
    const some = this.#waiting.splice(0, brokenAtOnce);
    const ended = Object.freeze({ code: why.code, message: why.message });
    for (const waits of some) this.#fence.run(() => waits.fulfil(ended));
    if (this.#waiting.length > 0) this.#fence.onceOthersRan(() => this.end(why));
  }
}
