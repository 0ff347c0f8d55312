/** `hob completion`: a script that completes verbs and options in a shell, made from the table of verbs. */
import { Mistake } from '../../line/mistake.ts';
import type { Verb } from '../../line/verb.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** `hob completion` over the verbs that `all` loads. It is one of them. */
export const completionOf = (all: () => Promise<readonly Verb[]>): Verb => ({
  name: 'completion',
  operands: '<shell>',
  about: 'prints a script that completes verbs and options in bash, zsh or fish',
  examples: [
    'hob completion bash > ~/.local/share/bash-completion/completions/hob',
    'hob completion fish > ~/.config/fish/completions/hob.fish',
  ],
  codes: {},
  async run({ operands }, { line }) {
    const shell = SHELLS.find((one) => one === operands[0]);
    if (shell === undefined) throw new Mistake(`name a shell: ${SHELLS.join(', ')}`, 2);
    for (const text of scriptFor(shell, await all()).split('\n')) line(text);
    return 0;
  },
});

/** The words that may follow each verb: further words of groups, then options. */
function wordsAfter(verbs: readonly Verb[]): ReadonlyMap<string, readonly string[]> {
  const after = new Map<string, string[]>();
  const add = (key: string, words: readonly string[]): void => {
    after.set(key, [...new Set([...(after.get(key) ?? []), ...words])]);
  };
  add('', ['--help', '--version']);
  for (const { name, options = [], json } of verbs) {
    const words = name.split(' ');
    for (const [n, word] of words.entries()) add(words.slice(0, n).join(' '), [word]);
    const flags = options.map(({ flags: text }) => /--[\w-]+/.exec(text)?.[0] ?? '').filter((flag) => flag !== '');
    add(name, [...flags, ...(json === undefined ? [] : ['--json']), '--help']);
  }
  return after;
}

/** The script. Names of verbs and options have letters and `-` only, so nothing has to be quoted. */
export function scriptFor(shell: (typeof SHELLS)[number], verbs: readonly Verb[]): string {
  const after = wordsAfter(verbs);
  if (shell === 'fish') return fish(after);
  const cases = [...after].map(([key, words]) => `    '${key}') offered='${words.join(' ')}' ;;`).join('\n');
  const groups = verbs.map(({ name }) => name.split(' ')).filter(({ length }) => length > 1);
  const isGroup = [...new Set(groups.map(([group]) => group))].join('|') || 'no-group';
  // Bash counts words from 0 and zsh from 1. The verb stands after `hob`, and before the word at the cursor.
  const body = (words: string, first: number, at: string): string => `  local key='' offered=''
  [ "${at}" -gt ${first} ] && key="\${${words}[${first}]}"
  case "$key" in
    ${isGroup}) [ "${at}" -gt ${first + 1} ] && key="$key \${${words}[${first + 1}]}" ;;
  esac
  case "$key" in
${cases}
  esac`;
  if (shell === 'bash')
    return `_hob() {
${body('COMP_WORDS', 1, '$COMP_CWORD')}
  COMPREPLY=($(compgen -W "$offered" -- "\${COMP_WORDS[COMP_CWORD]}"))
  [ "\${#COMPREPLY[@]}" -gt 0 ] || COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _hob hob`;
  return `#compdef hob
_hob() {
${body('words', 2, '$CURRENT')}
  compadd -- \${=offered} || _files
}
compdef _hob hob`;
}

function fish(after: ReadonlyMap<string, readonly string[]>): string {
  const lines = [...after].flatMap(([key, words]) => {
    const seen = key.split(' ').filter((word) => word !== '');
    const condition =
      seen.length === 0
        ? '__fish_use_subcommand'
        : seen.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ');
    return words.map((word) =>
      word.startsWith('--')
        ? `complete -c hob -n '${condition}' -l ${word.slice(2)}`
        : `complete -c hob -f -n '${condition}' -a ${word}`,
    );
  });
  return lines.join('\n');
}
