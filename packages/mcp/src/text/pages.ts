/**
 * Answers that are too long for one message, kept page by page.
 *
 * Promise: nothing is cut silently. The pages together are the whole text, and each says which one it is and how to
 * get the next. An id leads to pages of this face only. The oldest answers are dropped first, and a dropped page says
 * so.
 */
import { CapError } from '@hob/vat/peer';
import type { Answer } from './answer.ts';

/** The most characters of a page. An agent host of today shows its model about 12 KB of a result. */
export const PAGE = 10_000;
/** The most characters of all answers that are kept. */
const KEPT = 8 << 20;

/** The pages of one face. */
export class Pages {
  readonly #texts = new Map<string, readonly string[]>();
  #kept = 0;
  #count = 0;

  /** Returns the answer itself, or the first page of it. */
  first(answer: Answer): Answer {
    const { text, data } = answer;
    if (text.length <= PAGE && JSON.stringify(data).length <= 2 * PAGE) return answer;
    const pages = pagesOf(answer.note === undefined ? text : `${text}\n${answer.note}`);
    this.#count += 1;
    const id = `P${this.#count}`;
    this.#texts.set(id, pages);
    this.#kept += lengthOf(pages);
    for (const [old, gone] of this.#texts) {
      if (this.#kept <= KEPT || old === id) break;
      this.#texts.delete(old);
      this.#kept -= lengthOf(gone);
    }
    return { ...pageOf(id, pages, 1), ...(answer.isError === undefined ? {} : { isError: answer.isError }) };
  }

  /** A page by its id, such as P1.2. Undefined if the text is no such id. Errors: `no-such-object`. */
  at(text: string): Answer | undefined {
    const [, id, number] = /^(P\d{1,9})\.(\d{1,6})$/.exec(text) ?? [];
    if (id === undefined) return undefined;
    const pages = this.#texts.get(id);
    const n = Number(number);
    if (pages === undefined || n < 1 || n > pages.length)
      throw new CapError('invalid', `there is no page ${text} any more: make the call again`);
    return pageOf(id, pages, n);
  }
}

const lengthOf = (pages: readonly string[]): number => pages.reduce((sum, page) => sum + page.length, 0);

function pageOf(id: string, pages: readonly string[], n: number): Answer {
  const text = pages[n - 1] as string;
  const of = `page ${n} of ${pages.length}`;
  if (n === pages.length) return { text, data: { text, page: n, pages: pages.length }, note: of };
  const next = `${id}.${n + 1}`;
  const note = `${of}: the next is wait_for {"request":"${next}"}`;
  return { text, data: { text, page: n, pages: pages.length, next }, note };
}

/** Ends pages at line ends where it can, and never within a character. */
function pagesOf(text: string): readonly string[] {
  const pages: string[] = [];
  for (let from = 0; from < text.length; ) {
    let to = Math.min(text.length, from + PAGE);
    if (to < text.length) {
      const line = text.lastIndexOf('\n', to - 1) + 1;
      if (line > from + PAGE / 2) to = line;
      else if (/[\ud800-\udbff]/.test(text[to - 1] as string)) to -= 1;
    }
    pages.push(text.slice(from, to));
    from = to;
  }
  return pages;
}
