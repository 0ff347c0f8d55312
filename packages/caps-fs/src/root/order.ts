/**
 * A read-write lock: appends share it, changes of names hold it exclusively.
 *
 * Promise: while an append writes, no name of this root comes to mean another file. A rename, removal or
 * replacement waits until the append is done, and later appends wait behind it. So each append happens either
 * before or after each change of a name. Admission is in order of arrival, so neither kind can starve the
 * other.
 */
export class WriteOrder {
  readonly #queue: { readonly exclusive: boolean; admit(): void }[] = [];
  #sharing = 0;
  #exclusive = false;

  /** For operations that keep working on a file after they found it by its name. */
  async shared<R>(body: () => R | Promise<R>): Promise<R> {
    return await this.#inside(false, body);
  }

  /**
   * For operations that change which file a name means. If nobody is ahead, `body` starts in the caller's own
   * turn.
   */
  async exclusive<R>(body: () => R | Promise<R>): Promise<R> {
    return await this.#inside(true, body);
  }

  async #inside<R>(exclusive: boolean, body: () => R | Promise<R>): Promise<R> {
    if (this.#queue.length === 0 && this.#mayEnter(exclusive)) this.#enter(exclusive);
    else await new Promise<void>((admit) => this.#queue.push({ exclusive, admit }));
    try {
      return await body();
    } finally {
      this.#leave(exclusive);
    }
  }

  #mayEnter(exclusive: boolean): boolean {
    return !this.#exclusive && !(exclusive && this.#sharing > 0);
  }

  #enter(exclusive: boolean): void {
    if (exclusive) this.#exclusive = true;
    else this.#sharing += 1;
  }

  #leave(exclusive: boolean): void {
    if (exclusive) this.#exclusive = false;
    else this.#sharing -= 1;
    for (let next = this.#queue[0]; next && this.#mayEnter(next.exclusive); next = this.#queue[0]) {
      this.#queue.shift();
      this.#enter(next.exclusive);
      next.admit();
    }
  }
}
