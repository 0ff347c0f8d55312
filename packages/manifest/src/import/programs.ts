/**
 * Reads the command lines of rules as words, and says why one cannot be written as a row of `argv`.
 *
 * Nothing is decided here at run time: the rows of the manifest decide, and the sandbox holds. A name that is missing
 * in one of these lists gives what the rule itself gave, in a sandbox, and nothing else.
 */
import type { Subject } from './rule.ts';

type Command = Extract<Subject, { kind: 'command' }>;

/** They run another program that their arguments name. */
const WRAPPERS = new Set(
  (
    'batch bunx busybox chroot chrt dbus-run-session direnv doas entr env exec faketime fakeroot firejail flatpak flock ' +
    'hyperfine ionice lxc-attach ltrace machinectl mise nice nix nix-shell nohup npx nsenter parallel pipx pkexec ' +
    'pnpx proot rr runuser screen script setarch setpriv setsid ssh sshpass stdbuf strace su sudo systemd-run taskset ' +
    'time timeout tmux torsocks toybox trickle unbuffer unshare uvx valgrind watch xargs xvfb-run'
  ).split(' '),
);
/** They run code that their arguments or files are. */
const INTERPRETERS = new Set(
  (
    'ash awk bash bun clisp cmd csh dash deno ed elixir elvish emacs erl escript ex expect fish gawk gdb ghci groovy ' +
    'gsed guile iex irb java jq jshell julia kotlin ksh lldb lua luajit mawk mksh mongosh mysql nawk node nodejs nu ' +
    'nvim ocaml osascript perl php powershell psql pwsh pypy python r racket rbash redis-cli rscript ruby runghc sbcl ' +
    'scala sed sh sqlite tclsh tcsh ts-node tsx vi vim wish xonsh zsh'
  ).split(' '),
);
/** The second word makes them one of the above. */
const RUNNING_VERBS: Readonly<Record<string, ReadonlySet<string>>> = {
  docker: new Set(['exec', 'run', 'compose', 'container', 'build', 'buildx']),
  podman: new Set(['exec', 'run', 'compose', 'container', 'build', 'unshare']),
  kubectl: new Set(['exec', 'run', 'debug', 'attach']),
  oc: new Set(['exec', 'run', 'rsh', 'debug']),
  npm: new Set(['exec', 'x', 'init', 'create']),
  pnpm: new Set(['exec', 'dlx', 'create']),
  yarn: new Set(['exec', 'dlx', 'create', 'node']),
  bundle: new Set(['exec']),
  poetry: new Set(['run']),
  pipenv: new Set(['run']),
  uv: new Set(['run', 'tool']),
  conda: new Set(['run']),
  rye: new Set(['run']),
  hatch: new Set(['run']),
  go: new Set(['run', 'tool', 'generate']),
  cargo: new Set(['run', 'script']),
  dotnet: new Set(['run', 'exec', 'script']),
  vagrant: new Set(['ssh']),
  gcloud: new Set(['compute']),
  git: new Set(['submodule', 'bisect', 'filter-branch', 'rebase', 'config', 'difftool', 'mergetool']),
};
/** Their output or their work is the files that their arguments name. */
const FILE_PROGRAMS = new Set(
  (
    'ack ag awk base64 bat cat chmod chown cmp comm cp csplit cut dd diff du egrep expand fd fgrep file find fmt fold ' +
    'grep gzip head hexdump install join less link ln ls md5sum mkdir more mv nl od paste patch pr rg rm rmdir rsync ' +
    'sha1sum sha256sum shred shuf sort split stat strings sum tac tail tar tee touch tr tree truncate uniq unlink unzip wc ' +
    'xxd yq zcat zgrep zip'
  ).split(' '),
);
/** Whether a program shows or changes the files that it is told to, so that a deny of files is about it too. */
export const showsFiles = (program: string): boolean => FILE_PROGRAMS.has(nameOf(program));

/** Words of a shell that are no programs. */
const BUILTINS = new Set(
  (
    '. : [ [[ alias bg bind break builtin case cd command continue coproc declare dirs disown do done elif else enable esac ' +
    'eval exit export fc fg fi for function getopts hash history if in jobs let local logout mapfile popd pushd ' +
    'read readonly return select set shift shopt source suspend then times trap type typeset ulimit umask unalias ' +
    'unset until wait while { }'
  ).split(' '),
);
/** Options after which another program stands. */
const RUNNING_OPTION =
  /^(?:-exec|-execdir|-ok|-okdir|--exec|--to-command|--use-compress-program|--checkpoint-action|--rsh|--upload-pack|--receive-pack|--ext-diff|--textconv)(?:=|$)/;

const MOST_WORDS = 64;
const MOST_SIGNS = 2000;
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;
const PLAIN = /^[A-Za-z0-9_@%+:,./=~-]+$/;

/** A text that cannot be read as words, with the reason. */
interface Unread {
  readonly why: string;
}
export const isUnread = (value: object): value is Unread => 'why' in value;

/**
 * Splits a command line into the words that a shell would make of it. Where a shell would do more than split, for
 * example expand, redirect or start a second program, it returns the reason.
 */
export function wordsOfLine(line: string): readonly string[] | Unread {
  if (line.length > MOST_SIGNS) return { why: `the command is longer than ${MOST_SIGNS} characters` };
  if (HIDDEN.test(line)) return { why: 'the command has a sign that a reader does not see' };
  const words: string[] = [];
  let rest = line.trim();
  while (rest !== '') {
    const part = /^(?:'[^']*'|"[^"\\$`!]*"|[^\s'"])+/.exec(rest)?.[0];
    if (part === undefined) return { why: 'a quote is left open, or has an expansion inside' };
    let word = '';
    for (const [piece] of part.matchAll(/'[^']*'|"[^"]*"|[^'"]+/g)) {
      if (/^['"]/.test(piece)) word += piece.slice(1, -1);
      else if (/[&|;<>\n()]/.test(piece)) return { why: 'it is more than one command, or redirects one' };
      else if (/[$`]/.test(piece)) return { why: 'a shell would put another text in its place' };
      else if (/[*?[\]{}]/.test(piece)) return { why: 'a wildcard inside a command stands for any text' };
      else if (!PLAIN.test(piece))
        return { why: 'it has a sign that a shell reads in its own way, or one outside ASCII' };
      else word += piece;
    }
    if (/^[~=]|[=:]~/.test(part)) return { why: 'a shell would put another text in its place' };
    if (word === '') return { why: 'an empty word cannot stand in a row of argv' };
    words.push(word);
    rest = rest.slice(part.length).trimStart();
  }
  if (words.length === 0) return { why: 'there is no command' };
  if (words.length > MOST_WORDS) return { why: `the command has more than ${MOST_WORDS} words` };
  if (/^[A-Za-z_]\w*\+?=/.test(words[0] as string)) return { why: 'it sets the environment of the program' };
  return words;
}

/** The last part of a program's path. */
export const nameOf = (program: string): string => program.slice(program.lastIndexOf('/') + 1);

/** Why a command of a rule cannot be a row; undefined if it can. */
export function whyNoRow({ words, more }: Command): string | undefined {
  const [programs = [], ...args] = words;
  if (words.length > MOST_WORDS || words.some((one) => one.length > MOST_WORDS))
    return `the command has more than ${MOST_WORDS} words`;
  if (words.flat().join(' ').length > MOST_SIGNS) return `the command is longer than ${MOST_SIGNS} characters`;
  for (const program of programs) {
    const name = nameOf(program);
    const verbs = args[0] ?? [];
    if (words.flat().some((word) => HIDDEN.test(word))) return 'it has a sign that a reader does not see';
    if (words.flat().some((word) => word === '')) return 'an empty word cannot stand in a row of argv';
    if (BUILTINS.has(program)) return `${name} is a word of the shell and no program`;
    if (WRAPPERS.has(name)) return `${name} runs whatever program its arguments name`;
    if (INTERPRETERS.has(name.toLowerCase().replace(/[\d.]+$/, '')))
      return `${name} runs whatever code its arguments or files contain`;
    if (verbs.some((verb) => Object.hasOwn(RUNNING_VERBS, name) && RUNNING_VERBS[name]?.has(verb)))
      return `${name} ${verbs.join('|')} runs whatever its arguments name`;
    if (
      !/^[A-Za-z0-9_][\w.+-]*$|^\/[\w.+/@:-]*[\w.+-]$/.test(program) ||
      program.includes('/../') ||
      program.includes('/./')
    )
      return 'the program is no name, and no absolute path without . and ..';
  }
  if (args.length === 0 && more)
    return 'it allows every command of the program: list those that are needed, each by its verb';
  if (args[0]?.some((word) => word.startsWith('-'))) return 'an option stands before the verb';
  if (args.flat().some((word) => RUNNING_OPTION.test(word))) return 'one of its options runs another program';
  return undefined;
}

/** Whether a word can stand in a row beside others, as `a|b`. */
export const isPlainWord = (text: string): boolean =>
  /^[\w@%+:,./~-][\w@%+:,./=~-]*$/.test(text) && text !== 'text' && text !== 'ref' && text !== 'rest';
