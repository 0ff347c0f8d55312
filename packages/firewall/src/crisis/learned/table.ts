/**
 * A table of weights as text. Most places are empty, so a text in base64 has, for each weight, how many places lie
 * between it and the one before (7 bits a byte, the lowest first, the high bit says that more follow), and the weight.
 */

/** Returns the table that `text` stands for: `size` weights, 0 where there is none. */
export function tableFrom(text: string, size: number): Int8Array {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const table = new Int8Array(size);
  let place = -1;
  for (let at = 0; at < bytes.length; ) {
    let gap = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] as number;
      gap |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    place += gap + 1;
    table[place] = bytes[at++] as number;
  }
  return table;
}

/** The text of a table. */
export function textOf(table: Int8Array): string {
  const bytes: number[] = [];
  let before = -1;
  for (const [place, weight] of table.entries()) {
    if (weight === 0) continue;
    let gap = place - before - 1;
    for (; gap >= 0x80; gap >>= 7) bytes.push((gap & 0x7f) | 0x80);
    bytes.push(gap, weight & 0xff);
    before = place;
  }
  return Buffer.from(bytes).toString('base64');
}
