/** The powers of the browser that the page uses: clock, tab, hashes and files. */

/** ms since the page was opened. A clock of the machine that is set back does not change it. */
export const now = (): number => performance.now();

/** Calls `then` once, after `ms`. Returns a function that cancels it. */
export function after(ms: number, then: () => void): () => void {
  const timer = setTimeout(then, ms);
  return () => clearTimeout(timer);
}

/** Calls `then` each `ms`. Returns a function that ends it. */
export function each(ms: number, then: () => void): () => void {
  const timer = setInterval(then, ms);
  return () => clearInterval(timer);
}

/** SHA-256 of a text in UTF-8, as base64url. */
export async function sha256(text: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

/** Waits for `ms`. */
export const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** Calls `then` each `ms` while the tab can be seen, and when it can be seen again. Returns a function that ends it. */
export function whileSeen(ms: number, then: () => void): () => void {
  const look = (): void => {
    if (document.visibilityState === 'visible') then();
  };
  const timer = setInterval(look, ms);
  document.addEventListener('visibilitychange', look);
  return () => {
    clearInterval(timer);
    document.removeEventListener('visibilitychange', look);
  };
}

/** Gives the person a file with this text. */
export function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/jsonl' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
