/**
 * Appends beside each other, changes of names alone.
 *
 * Promise: while an append moves its bytes, no name of this root comes to mean something else: whoever renames, removes or
 * replaces waits until it is done, and appends that come later wait behind him. So the append was made at one moment, before
 * or after. First come, first served: neither kind can keep the other out.
 */
export class WriteOrder {
  readonly #line: { readonly alone: boolean; admit(): void }[] = [];
  #beside = 0;
  #alone = false;

  /** For what goes on with a file that it has found by its name. */
  async beside<R>(body: () => R | Promise<R>): Promise<R> {
    return await this.#inside(false, body);
  }

  /** For what changes which file a name means. With nobody before it, it starts in the caller's own turn. */
  async alone<R>(body: () => R | Promise<R>): Promise<R> {
    return await this.#inside(true, body);
  }

  async #inside<R>(alone: boolean, body: () => R | Promise<R>): Promise<R> {
    if (this.#line.length === 0 && this.#mayEnter(alone)) this.#enter(alone);
    else await new Promise<void>((admit) => this.#line.push({ alone, admit }));
    try {
      return await body();
    } finally {
      this.#leave(alone);
    }
  }

  #mayEnter(alone: boolean): boolean {
    return !this.#alone && !(alone && this.#beside > 0);
  }

  #enter(alone: boolean): void {
    if (alone) this.#alone = true;
    else this.#beside += 1;
  }

  #leave(alone: boolean): void {
    if (alone) this.#alone = false;
    else this.#beside -= 1;
    for (let next = this.#line[0]; next && this.#mayEnter(next.alone); next = this.#line[0]) {
      this.#line.shift();
      this.#enter(next.alone);
      next.admit();
    }
  }
}
