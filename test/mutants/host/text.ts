/** The mechanisms of `packages/host/src/text`, each with the source text that leaves it out: see `../mutant.ts`. */
import type { Mutant } from '../mutant.ts';

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'terminal-line',
    breaks: 'controls and changes of direction reach the terminal',
    file: 'packages/host/src/text/safe-text.ts',
    find: 'escapeWith(line, numbered));',
    replace: 'line);',
    tests: ['packages/host/src/terminal.test.ts'],
  },
  {
    name: 'terminal-export',
    breaks: 'an exported ledger brings controls to the terminal',
    file: 'packages/host/src/text/safe-text.ts',
    find: 'escapeWith(json, unicodeEscape));',
    replace: 'json);',
    tests: ['packages/host/src/terminal.test.ts'],
  },
  {
    name: 'words-escape',
    breaks: 'the words of others are shown as they came',
    file: 'packages/host/src/text/safe-text.ts',
    find: "let out = '';",
    replace: `return text;
  const out = '';`,
    tests: [
      'packages/host/src/text/safe-text.test.ts',
      'packages/host/src/powerbox/request.test.ts',
      'packages/host/src/powerbox/gate.test.ts',
    ],
  },
  {
    name: 'words-other-form',
    breaks: 'two names that differ only in how an accent is written are shown without a warning',
    file: 'packages/host/src/text/safe-text.ts',
    find: 'if (usual !== word && ',
    replace: 'if (usual === null && ',
    tests: ['packages/host/src/text/safe-text.test.ts'],
  },
  {
    name: 'words-signs',
    breaks: 'an address with a sign that looks like a slash is shown without a warning',
    file: 'packages/host/src/text/safe-text.ts',
    find: 'of signsIn(part))',
    replace: 'of signsIn(part).slice(9))',
    tests: ['packages/host/src/text/safe-text.test.ts'],
  },
  {
    name: 'words-imitated-marks',
    breaks: 'an agent closes our quotes around its words with another character that looks like ours',
    file: 'packages/host/src/text/safe-text.ts',
    find: "'⟦⟧〚〛“”‟❝❞〝〞″‶ʺˮ˝˶＂",
    replace: "'⟦⟧“”",
    tests: ['packages/host/src/text/safe-text.test.ts'],
  },
  {
    name: 'words-two-quotes',
    breaks: 'two single quotes in the words of an agent pass for one of our double quotes',
    file: 'packages/host/src/text/safe-text.ts',
    find: ' && !isDouble',
    replace: '',
    tests: ['packages/host/src/text/safe-text.test.ts'],
  },
  {
    name: 'words-lookalike',
    breaks: 'letters that pass for others are not pointed out',
    file: 'packages/host/src/text/safe-text.ts',
    find: '  for (const [word] of part.matchAll(/[\\p{L}\\p{N}\\p{M}]+/gu)) flags.push(...wordFlags(word, part));',
    replace: '',
    tests: ['packages/host/src/text/safe-text.test.ts'],
  },
];
