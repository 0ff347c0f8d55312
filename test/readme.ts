/** The examples in a Markdown file, so that a test can run what a reader copies. */

/** The text of each fenced block of one language, in order. */
export function blocks(markdown: string, language: string): string[] {
  const fence = new RegExp(`^(\`\`\`+|~~~+)${language}\\b[^\\n]*\\n([\\s\\S]*?)^\\1\\s*$`, 'gm');
  return [...markdown.matchAll(fence)].map((match) => match[2] ?? '');
}
