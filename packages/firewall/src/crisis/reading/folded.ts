/** The folding of words that are compared: lower case, and runs of one letter as one ("kiiill" is read as "kil"). */
export const folded = (text: string): string =>
  text
    .normalize('NFC')
    .toLowerCase()
    .replace(/(\p{L})\1+/gu, '$1');
