/** A command of hob in a terminal of its own (pty) of a known size. For tests. */
import { type HobHome, Running } from './hob.ts';

/** Far more than anything here takes on a busy machine. */
const LIMIT_MS = 90_000;

/** Text on its standard input counts as typed. */
export class Terminal extends Running {
  constructor(hob: HobHome, args: readonly string[], size = { rows: 60, columns: 110 }) {
    const line = [...hob.words, ...args].map((word) => `'${word}'`).join(' ');
    const set = `stty rows ${size.rows} cols ${size.columns}; echo "tty $(tty) pid $$"; exec ${line}`;
    super('script', ['-qec', set, '/dev/null'], { ...hob.env, TERM: 'xterm', NO_COLOR: '1' }, hob.folder);
  }

  type(text: string): void {
    this.child.stdin?.write(text);
  }

  /** The device of the terminal, and the process in it. */
  get at(): { readonly tty: string; readonly pid: number } {
    const [, tty = '', pid = ''] = /tty (\S+) pid (\d+)/.exec(this.out) ?? [];
    return { tty, pid: Number(pid) };
  }

  /** All that was written to it, with a letter for each escape. */
  get raw(): string {
    return this.out.replaceAll('\u001b', '␛');
  }

  /** The rows that the screen shows: all that was written since the cursor was last sent home. */
  get screen(): string {
    const frames = this.raw.replaceAll('\r', '').split('␛[H');
    return (frames.at(-1) ?? '').replaceAll('␛[K', '').replace(/␛\[J[\s\S]*/, '');
  }

  async until(pattern: RegExp): Promise<void> {
    let over = false;
    this.ended.then(() => {
      over = true;
    });
    for (const since = Date.now(); ; ) {
      if (pattern.test(this.screen)) return;
      if (over || Date.now() - since > LIMIT_MS)
        throw new Error(`it ended, or hangs, without ${pattern}:\n${this.screen}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** Keys as a terminal sends them. */
export const KEYS = { down: '\u001b[B', up: '\u001b[A', right: '\u001b[C', enter: '\r', interrupt: '\u0003' } as const;
