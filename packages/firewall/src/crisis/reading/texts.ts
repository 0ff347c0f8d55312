/** The texts that a call carries. */
import { longestText } from './views.ts';

/** Deeper data is not looked through: the caller treats it as text that nobody judged. */
const deepest = 32;

/** The readings of an empty text take as long as those of so many characters. */
const perText = 30;

/** Room for texts, in characters. */
interface Room {
  left: number;
}

/** All texts in arguments: values, keys, bytes that are text, and the data within JSON. Undefined if there is too much. */
export function textsOf(args: readonly unknown[]): readonly string[] | undefined {
  const texts: string[] = [];
  return collect(args, texts, { left: longestText }, 0) ? texts : undefined;
}

const utf8 = new TextDecoder('utf-8');

function collect(value: unknown, texts: string[], room: Room, depth: number): boolean {
  if (depth > deepest) return false;
  if (typeof value === 'string') {
    room.left -= value.length + perText;
    if (room.left < 0) return false;
    texts.push(value);
    const inner = dataIn(value);
    return inner === undefined || collect(inner, texts, room, depth + 1);
  }
  if (value instanceof Uint8Array)
    return value.length <= room.left * 4 && collect(utf8.decode(value), texts, room, depth + 1);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every((item) => collect(item, texts, room, depth + 1));
  return Object.entries(value).every(
    ([key, item]) => collect(key, texts, room, depth + 1) && collect(item, texts, room, depth + 1),
  );
}

/** The data that a text is as JSON, if it is a list or a record. */
function dataIn(text: string): unknown {
  const first = text.trimStart()[0];
  if (first !== '{' && first !== '[') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
