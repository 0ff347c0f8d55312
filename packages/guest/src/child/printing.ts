/** A console that prints through one function, up to a limit of bytes. */
import { inspect, types } from 'node:util';

const shown = {
  // Node would pass its own `inspect` function to a custom inspector of the guest.
  customInspect: false,
  depth: 4,
  breakLength: 100,
  maxArrayLength: 200,
  maxStringLength: 10_000,
} as const;

/** Stack frames, which do not help the model. */
const frames = /^\s+at .*\n?/gm;

function text(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    if (types.isNativeError(value)) return `${value.name}: ${value.message}`;
    return inspect(value, shown).replace(frames, '');
  } catch {
    return '(something that cannot be shown)';
  }
}

/** The `console` of a program. */
interface Printing {
  readonly error: (...args: unknown[]) => void;
  readonly [method: string]: (...args: never[]) => void;
}

/** Calls `say` with whole lines. Calls `outputBytes` when the program prints, because the limit comes with the program. */
export function printing(say: (lines: string) => void, outputBytes: () => number): Printing {
  let left: number | undefined;
  let indent = '';
  const print = (...args: unknown[]): void => {
    left ??= outputBytes();
    if (left < 0)
      throw new RangeError(`the console takes ${outputBytes()} bytes: print less, or return the result as the value`);
    const line = `${indent}${args.map(text).join(' ')}\n`.replaceAll(/\n(?=.)/gs, `\n${indent}`);
    // A line that exceeds the limit is sent up to the limit, so that the host notices.
    const bytes = Buffer.from(line);
    say(bytes.length <= left ? line : `${bytes.toString('utf8', 0, left)}…`);
    left -= bytes.length;
  };
  return {
    log: print,
    info: print,
    warn: print,
    error: print,
    debug: print,
    trace: print,
    dir: (value: unknown) => print(value),
    table: (value: unknown) => print(value),
    assert: (holds: unknown, ...args: unknown[]) => {
      if (!holds) print('Assertion failed:', ...args);
    },
    group: (...args: unknown[]) => {
      if (args.length > 0) print(...args);
      indent = `${indent}  `.slice(0, 40);
    },
    groupEnd: () => {
      indent = indent.slice(2);
    },
  };
}
