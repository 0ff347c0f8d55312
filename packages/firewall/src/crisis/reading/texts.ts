/** The texts that a call carries. */

/** Deeper data, or more of it, is not looked through: the caller treats it as text that nobody judged. */
const deepest = 32;
const most = 2_000;

/** All texts in arguments: values, keys, bytes that are text, and the data within JSON. Undefined if there is too much. */
export function textsOf(args: readonly unknown[]): readonly string[] | undefined {
  const texts: string[] = [];
  return collect(args, texts, 0) ? texts : undefined;
}

const utf8 = new TextDecoder('utf-8');

function collect(value: unknown, texts: string[], depth: number): boolean {
  if (depth > deepest || texts.length > most) return false;
  if (typeof value === 'string') {
    texts.push(value);
    const inner = dataIn(value);
    return inner === undefined || collect(inner, texts, depth + 1);
  }
  if (value instanceof Uint8Array) return collect(utf8.decode(value), texts, depth + 1);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every((item) => collect(item, texts, depth + 1));
  return Object.entries(value).every(
    ([key, item]) => collect(key, texts, depth + 1) && collect(item, texts, depth + 1),
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
