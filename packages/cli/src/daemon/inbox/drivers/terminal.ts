/**
 * The live list in a terminal: reads keys, looks for requests, draws.
 *
 * Promise: however it ends, the terminal is as it was: by a key, a signal, an error, or a host that ends. If the
 * terminal dies, so does this. Keys that came together are taken together, before anything is drawn again.
 */
import type { Granter, Request } from '@hob/host';
import { approve, refuse } from '@hob/host/answers';
import { drawScreen, enterScreen, leaveScreen } from '@hob/host/line';
import { CapError, type Far } from '@hob/vat';
import { ring } from '../../../drivers/pause.ts';
import { shortId } from '../../../line/ids.ts';
import { allRequests } from '../../find.ts';
import { allNames } from '../../names.ts';
import { afterPause, type Key, keysIn, NO_INPUT } from '../keys.ts';
import { type Act, begin, type LiveEvent, type Size, step } from '../live.ts';
import { screenOf } from '../screen.ts';

const LOOK_MS = 300;
const TICK_MS = 100;

/** Whether a live list can be shown: both ends are terminals, and the terminal knows how to move its cursor. */
export const canBeLive = (): boolean =>
  process.stdin.isTTY === true && process.stdout.isTTY === true && process.env['TERM'] !== 'dumb';

/** Shows it until a person leaves. Returns the exit code, and what was answered. Errors: those of the host. */
export async function liveInbox(
  granter: Far<Granter>,
): Promise<{ readonly code: number; readonly said: readonly string[] }> {
  const list = new LiveList(granter);
  try {
    return { code: await list.run(), said: list.said };
  } finally {
    list.close();
  }
}

class LiveList {
  readonly said: string[] = [];
  readonly #granter: Far<Granter>;
  readonly #over = Promise.withResolvers<number>();
  #live = begin(sizeNow(), Date.now());
  #input = NO_INPUT;
  #shown = '';
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(granter: Far<Granter>) {
    this.#granter = granter;
  }

  run(): Promise<number> {
    const { stdin, stdout } = process;
    this.#enter();
    stdin.setEncoding('utf8').on('data', this.#read).on('end', this.#gone).on('error', this.#gone);
    stdin.resume();
    stdout.on('resize', this.#resized).on('error', this.#gone);
    process.on('SIGCONT', this.#again).on('exit', leaveTerminal);
    for (const signal of SIGNALS) process.on(signal, this.#gone);
    this.#tick();
    this.#look().catch(this.#over.reject);
    return this.#over.promise;
  }

  close(): void {
    const { stdin, stdout } = process;
    this.#isOver = true;
    clearTimeout(this.#timer);
    stdin.off('data', this.#read).off('end', this.#gone);
    stdout.off('resize', this.#resized);
    process.off('SIGCONT', this.#again).off('exit', leaveTerminal);
    for (const signal of SIGNALS) process.off(signal, this.#gone);
    leaveTerminal();
    stdin.pause();
  }

  #enter(): void {
    process.stdin.setRawMode(true);
    enterScreen();
    this.#shown = '';
    this.#draw();
  }

  readonly #gone = (): void => this.#over.resolve(1);
  readonly #again = (): void => this.#enter();
  readonly #resized = (): void => {
    this.#do({ type: 'resized', size: sizeNow() });
    this.#shown = '';
    this.#draw();
  };
  readonly #read = (text: string): void => {
    const [keys, left] = keysIn(this.#input, text);
    this.#input = left;
    this.#press(keys);
  };

  #press(keys: readonly Key[]): void {
    for (const key of keys) this.#do({ type: 'key', key, now: Date.now() });
    if (keys.length > 0) this.#draw();
  }

  /** Between two ticks the process reads what was typed. */
  #tick(): void {
    this.#timer = setTimeout(() => {
      if (this.#isOver) return;
      const [keys, left] = afterPause(this.#input);
      this.#input = left;
      this.#press(keys);
      this.#do({ type: 'tick', now: Date.now() });
      this.#draw();
      this.#tick();
    }, TICK_MS);
  }

  async #look(): Promise<void> {
    while (!this.#isOver) {
      const requests: readonly Request[] = await allRequests(this.#granter);
      const names = await allNames(this.#granter);
      if (this.#isOver) return;
      this.#do({ type: 'requests', requests, names, now: Date.now() });
      this.#draw();
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  #draw(): void {
    const screen = screenOf(this.#live);
    const text = screen.rows.join('\n');
    if (text !== this.#shown) drawScreen(screen.rows);
    this.#shown = text;
    this.#do({ type: 'drawn', card: screen.card, end: screen.end, scroll: screen.scroll });
  }

  #do(event: LiveEvent): void {
    const { live, act } = step(this.#live, event);
    this.#live = live;
    if (act === undefined) return;
    if (act.act === 'ring') ring();
    else if (act.act === 'quit') this.#over.resolve(0);
    else this.#answer(act).catch(this.#over.reject);
  }

  async #answer(act: Exclude<Act, { readonly act: 'quit' | 'ring' }>): Promise<void> {
    let message = '';
    const out = (text: string): void => {
      message = text.replaceAll(act.id, shortId('R', act.id));
    };
    try {
      if (act.act === 'refuse') await refuse(this.#granter, act.id, act.why, false, out);
      else await approve(this.#granter, { ...act, wall: Date.now() }, async () => true, out);
    } catch (error) {
      if (!(error instanceof CapError) || error.code === 'disconnected') throw error;
      out(`${shortId('R', act.id)}: ${error.message.split('\n', 1)[0]}`);
    }
    this.said.push(message);
    this.#do({ type: 'done', message });
    if (!this.#isOver) this.#draw();
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function leaveTerminal(): void {
  try {
    process.stdin.setRawMode(false);
    leaveScreen();
  } catch {
    // The terminal is gone.
  }
}

/** A terminal that does not know its size says 0. */
function sizeNow(): Size {
  const { rows, columns } = process.stdout;
  return { rows: rows || 24, columns: columns || 80 };
}
