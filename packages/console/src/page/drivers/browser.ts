/** The powers of the browser that the page uses: clock, tab, hashes, files and notifications. */
import type { CheckPowers } from '../logic/checkpoint.ts';

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

/** The powers for checkpoints: WebCrypto. */
export const checkPowers: CheckPowers = {
  digest: async (bytes) => new Uint8Array(await crypto.subtle.digest('SHA-256', bytes as BufferSource)),
  async signed(key, signature, text) {
    const imported = await crypto.subtle.importKey('raw', key as BufferSource, 'Ed25519', false, ['verify']);
    return await crypto.subtle.verify('Ed25519', imported, signature as BufferSource, text as BufferSource);
  },
};

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

/** `unasked`, `on`, or `off` where the person said no or the browser has none. */
export const notifying = (): 'unasked' | 'on' | 'off' => {
  if (!('Notification' in window) || Notification.permission === 'denied') return 'off';
  return Notification.permission === 'granted' ? 'on' : 'unasked';
};

export const askToNotify = async (): Promise<void> => void (await Notification.requestPermission());

/**
 * Tells the person that requests wait, while the tab cannot be seen. It names no request, has no button, and a click
 * brings the tab to the front and does nothing else.
 */
export function notify(waiting: number): void {
  if (notifying() !== 'on' || document.visibilityState === 'visible') return;
  const said = new Notification('Hob', {
    body: `${waiting} ${waiting === 1 ? 'request waits' : 'requests wait'} for an answer.`,
    tag: 'hob-requests',
  });
  said.onclick = () => {
    window.focus();
    said.close();
  };
}

/** The size of a letter in px, as the person chose it. */
export const letterSize = (): number => Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;

/** The time that a person typed, by the zone of the browser, in ms since 1970. NaN if it is none. */
export const timeOf = (typed: string): number => new Date(typed).getTime();

/** The present by the clock of the machine, in ms since 1970: for dates that a person gives. The host checks them. */
export const wall = (): number => Date.now();
