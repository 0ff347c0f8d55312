/**
 * The bytes of a line of the ledger, of a line that was exported for people to look at.
 *
 * An export for people has characters that a terminal must not get (controls, directions) as `\u` escapes. It is the same JSON, but not the same
 * bytes, and hashes are of bytes. The ledger itself writes what `JSON.stringify` writes, which escapes only what it must; so every other escape was
 * put there by an export, and stands for the character itself. A line that was exported as it is comes out as it is.
 */
const written = /\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|\\u([0-9a-f]{4})|\\[^u]/g;

export function storedLine(bytes: Uint8Array): Uint8Array {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!buffer.includes('\\u')) return bytes;
  // Byte by byte: what is no UTF-8 stays what it is, and is refused for what it is.
  const text = buffer.toString('latin1').replaceAll(written, (whole, high?: string, low?: string, one?: string) => {
    const units = [high, low, one].flatMap((hex) => (hex === undefined ? [] : [Number.parseInt(hex, 16)]));
    return units.length === 0 || mustStay(units)
      ? whole
      : Buffer.from(String.fromCharCode(...units)).toString('latin1');
  });
  return Buffer.from(text, 'latin1');
}

/** Escaped by `JSON.stringify`, too: controls, the quote and the backslash, and half a character. */
const mustStay = ([unit = 0, ...more]: readonly number[]): boolean =>
  more.length === 0 && (unit < 0x20 || unit === 0x22 || unit === 0x5c || (unit >= 0xd800 && unit <= 0xdfff));
