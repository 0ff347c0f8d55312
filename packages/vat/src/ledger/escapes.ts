/**
 * Turns a line that was exported for a terminal back into the bytes that were hashed.
 *
 * Such an export writes characters that a terminal must not get (controls, text directions) as `\u` escapes.
 * It is the same JSON, but not the same bytes. The ledger itself uses `JSON.stringify`, which escapes only
 * what it must. So every other escape was added by an export and stands for the character itself. A line that
 * was exported unchanged stays unchanged.
 */
const written = /\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|\\u([0-9a-f]{4})|\\[^u]/g;

export function storedLine(bytes: Uint8Array): Uint8Array {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!buffer.includes('\\u')) return bytes;
  // Byte by byte, so bytes that are not UTF-8 stay as they are and are refused later.
  const text = buffer.toString('latin1').replaceAll(written, (whole, high?: string, low?: string, one?: string) => {
    const units = [high, low, one].flatMap((hex) => (hex === undefined ? [] : [Number.parseInt(hex, 16)]));
    return units.length === 0 || mustStay(units)
      ? whole
      : Buffer.from(String.fromCharCode(...units)).toString('latin1');
  });
  return Buffer.from(text, 'latin1');
}

/**
 * True for what `JSON.stringify` escapes too: controls, the quote, the backslash and half of a surrogate
 * pair.
 */
const mustStay = ([unit = 0, ...more]: readonly number[]): boolean =>
  more.length === 0 && (unit < 0x20 || unit === 0x22 || unit === 0x5c || (unit >= 0xd800 && unit <= 0xdfff));
