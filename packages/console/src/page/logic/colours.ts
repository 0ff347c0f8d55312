/**
 * The parts of a line of a file, for colours: comments, strings, numbers and words that most languages reserve.
 *
 * Promise: the parts are the whole line, in its order. They change colours alone, so a wrong guess hides nothing.
 */

export interface Token {
  readonly kind: 'plain' | 'comment' | 'string' | 'number' | 'keyword';
  readonly text: string;
}

/** A longer line has no colours: each part costs an element. */
const MOST = 400;
const RESERVED =
  /^(?:abstract|and|as|async|await|break|case|catch|class|const|continue|def|default|delete|do|elif|else|end|enum|except|export|extends|false|final|finally|fn|for|from|func|function|if|impl|import|in|interface|is|let|match|mod|mut|new|nil|None|not|null|or|package|pass|private|protected|pub|public|raise|return|self|static|struct|super|switch|this|throw|trait|True|False|true|try|type|use|var|void|where|while|with|yield)$/;
const PARTS =
  /(?<comment>\/\/.*$|(?<=^\s*)#.*$|\/\*.*?(?:\*\/|$))|(?<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)|(?<word>[\p{L}\p{N}\p{M}_$]+)/gu;

export function tokensOf(line: string): readonly Token[] {
  if (line.length > MOST) return [{ kind: 'plain', text: line }];
  const tokens: Token[] = [];
  let from = 0;
  const plain = (to: number): void => {
    if (to > from) tokens.push({ kind: 'plain', text: line.slice(from, to) });
  };
  for (const { 0: text, index, groups } of line.matchAll(PARTS)) {
    const kind = kindOf(text, groups ?? {});
    if (kind === 'plain') continue;
    plain(index);
    tokens.push({ kind, text });
    from = index + text.length;
  }
  plain(line.length);
  return tokens;
}

function kindOf(text: string, { comment, string }: { readonly [name: string]: string | undefined }): Token['kind'] {
  if (comment !== undefined) return 'comment';
  if (string !== undefined) return 'string';
  if (/^\d/.test(text)) return 'number';
  return RESERVED.test(text) ? 'keyword' : 'plain';
}
