/** The parts of a text that are judged by themselves. */

/** About as long as a message, in characters. */
const WINDOW = 240;
const STEP = 120;

const sentenceEnd = /(?<=[.!?…。！？।؟])\s*(?=\S)/u;

const quotes = /[“"«„「『]([^“”"«»„「」『』]{8,})/gu;

/**
 * Returns the whole of a short text, and what it quotes. Of a longer one it returns each sentence, and each two that
 * follow each other: in the whole text one sentence about danger would be lost among the others.
 */
export function windowsOf(text: string): readonly string[] {
  const quoted = [...text.matchAll(quotes)].flatMap(([, words = '']) => piecesOf(words));
  if (text.length <= WINDOW) return [text, ...quoted];
  const sentences = text.split(sentenceEnd).flatMap(piecesOf);
  const pairs = sentences.slice(1).map((sentence, before) => `${sentences[before]} ${sentence}`);
  return [...sentences, ...pairs.filter(({ length }) => length <= WINDOW), ...quoted];
}

const clauseEnd = /[.!?…。！？।؟,;:،、，；()\n]+\s*|\s[-–—]\s/u;

/** The clauses of a text: what stands between two signs of punctuation. */
export const clausesOf = (text: string): readonly string[] =>
  text
    .split(clauseEnd)
    .filter((clause) => clause !== '')
    .flatMap(piecesOf);

/** A sentence that is longer than a message, such as a text without full stops, in pieces that overlap. */
function piecesOf(sentence: string): readonly string[] {
  const pieces: string[] = [];
  for (let from = 0; ; from += STEP) {
    pieces.push(sentence.slice(from, from + WINDOW));
    if (from + WINDOW >= sentence.length) return pieces;
  }
}
