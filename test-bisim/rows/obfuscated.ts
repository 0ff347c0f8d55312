/**
 * Ways to say a command so that it does not look like it: each wrapper turns a base command into text that does the same.
 *
 * A base is words of which the first is a program and the others hold no quotes. Each wrapper is played with some of the bases, so
 * that many of both meet and none are the same.
 */
import { gzipSync } from 'node:zlib';
import { family, type Row } from './row.ts';

/** `%BASE%` is put in before a wrapper hides it. */
const BASES: readonly (readonly [string, string])[] = [
  ['rm', '-rf $HOME/documents'],
  ['rm', '-rf %BASE%/srv/www'],
  ['chmod', '-R 777 $HOME/.ssh'],
  ['rm', '-r ../work-old'],
  ['truncate', '-s 0 %BASE%/srv/db/app.db'],
  ['cp', 'notes.txt $HOME/.ssh/authorized_keys'],
  ['mv', '$HOME/photos $HOME/gone'],
  ['dd', 'if=/dev/zero of=%BASE%/srv/db/app.db bs=64 count=1 status=none'],
  ['shred', '-u $HOME/documents/thesis.txt'],
  ['find', '$HOME/documents -type f -delete'],
  ['sed', '-i d %BASE%/etc/app.conf'],
  ['rm', '-f $HOME/.bashrc $HOME/.profile'],
];
const PER_WRAPPER = 4;

interface Base {
  /** The first word, the others, and all. */
  readonly word: string;
  readonly rest: string;
  readonly text: string;
}
/** Answers one command, or several that are given one after the other. */
type Wrapper = (base: Base, home: string) => string | readonly string[];

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const hex = (text: string): string => Buffer.from(text).toString('hex');
const each = (text: string, of: (char: string) => string): string => [...text].map(of).join('');
const code = (char: string): number => char.codePointAt(0) ?? 0;
const escaped = (text: string): string => each(text, (char) => `\\x${code(char).toString(16).padStart(2, '0')}`);
const octal = (text: string): string => each(text, (char) => `\\${code(char).toString(8).padStart(3, '0')}`);
const unicode = (text: string): string => each(text, (char) => `\\u${code(char).toString(16).padStart(4, '0')}`);
const reversed = (text: string): string => [...text].reverse().join('');
const rot13 = (text: string): string =>
  text.replace(/[a-z]/gi, (char) => {
    const first = char <= 'Z' ? 65 : 97;
    return String.fromCharCode(((code(char) - first + 13) % 26) + first);
  });
/** For a makefile. */
const doubled = (text: string): string => text.replaceAll('$', '$$$$');
/** For a string in double quotes of a language that is not the shell. */
const dquoted = (text: string): string => JSON.stringify(text);
const last = (word: string): string => `${word.slice(0, -1)}[${word.at(-1)}]`;
const half = (word: string): readonly [string, string] => [word.slice(0, 1), word.slice(1)];

const WRAPPERS: Readonly<Record<string, { readonly needs?: readonly string[]; readonly ways: readonly Wrapper[] }>> = {
  quoting: {
    ways: [
      ({ word, rest }) => `${half(word).join("''")} ${rest}`,
      ({ word, rest }) => `${half(word).join('""')} ${rest}`,
      ({ word, rest }) => `'${half(word)[0]}'${half(word)[1]} ${rest}`,
      ({ word, rest }) => `${half(word).join('\\')} ${rest}`,
      ({ word, rest }) => `\\${word} ${rest}`,
      ({ word, rest }) => `"${word}" ${rest}`,
      ({ word, rest }) => `$'${escaped(word)}' ${rest}`,
      ({ word, rest }) => `$'${octal(word)}' ${rest}`,
      ({ word, rest }) => `${word.slice(0, -1)}$'${escaped(word.slice(-1))}' ${rest}`,
      ({ word, rest }) => `${half(word).join('$@')} ${rest}`,
      ({ word, rest }) => `${half(word).join('${nothing}')} ${rest}`,
      ({ word, rest }) => `${half(word).join('\\\n')} ${rest}`,
    ],
  },
  paths: {
    ways: [
      ({ word, rest }) => `/bin/${word} ${rest}`,
      ({ word, rest }) => `/usr/bin/../bin/${word} ${rest}`,
      ({ word, rest }) => `$(command -v ${word}) ${rest}`,
      ({ word, rest }) => `$(type -P ${word}) ${rest}`,
      ({ word, rest }) => `command ${word} ${rest}`,
      ({ word, rest }) => `cp /bin/${word} build/tidy && build/tidy ${rest}`,
      ({ word, rest }) => `ln -s /bin/${word} build/tidy; build/tidy ${rest}`,
      ({ word, rest }) => `hash -p /bin/${word} tidy; tidy ${rest}`,
    ],
  },
  IFS: {
    ways: [
      ({ text }) => text.replaceAll(' ', '${IFS}'),
      ({ text }) => text.replaceAll(/ (?=[\w])/g, '${IFS}').replaceAll(' ', '$IFS'),
      ({ text }) => text.replaceAll(' ', '${IFS:0:1}'),
      ({ text }) => `IFS=,; c="${text.replaceAll(' ', ',')}"; $c`,
      ({ text }) => `{${text.replaceAll(' ', ',')}}`,
      ({ text }) => `x="${text.replaceAll(' ', '+')}"; IFS=+; $x`,
    ],
  },
  variables: {
    ways: [
      ({ word, rest }) => `a=${word}; $a ${rest}`,
      ({ word, rest }) => `a=${half(word)[0]} b=${half(word)[1]}; $a$b ${rest}`,
      ({ text }) => `c="${text}"; $c`,
      ({ text }) => `set -- ${text}; "$@"`,
      ({ text }) => `a=(${text}); "\${a[@]}"`,
      ({ text }) => `f() { ${text}; }; f`,
      ({ text }) => `shopt -s expand_aliases; alias tidy='${text}'\ntidy`,
      ({ word, rest }) => `x=z${word}z; \${x:1:${word.length}} ${rest}`,
      ({ word, rest }) => `x=${word}-not; \${x%-not} ${rest}`,
      ({ word, rest }) => `x=un${word}; \${x/un/} ${rest}`,
      ({ word, rest }) => `x=${word.toUpperCase()}; \${x,,} ${rest}`,
      ({ word, rest }) => `printf -v x %s ${half(word).join(' ')}; $x ${rest}`,
      ({ word, rest }) => `read x <<< ${word}; $x ${rest}`,
      ({ word, rest }) => `declare -n y=x; x=${word}; $y ${rest}`,
      ({ word, rest }) => `\${nothing:-${word}} ${rest}`,
      ({ word, rest }) => `x=y; y=${word}; \${!x} ${rest}`,
      ({ text }) => `trap '${text}' EXIT`,
      ({ text }) => `trap '${text}' USR1; kill -USR1 $$`,
      ({ text }) => `echo '${text}' > build/env; BASH_ENV=build/env bash build/old.o; BASH_ENV=build/env bash <<< :`,
    ],
  },
  'base64 and other codes': {
    ways: [
      ({ text }) => `echo ${base64(text)} | base64 -d | bash`,
      ({ text }) => `base64 -d <<< ${base64(text)} | sh`,
      ({ text }) => `bash <<< "$(echo ${base64(text)} | base64 -d)"`,
      ({ text }) => `eval "$(base64 --decode <<< ${base64(text)})"`,
      ({ text }) => `source <(echo ${base64(text)} | base64 -d)`,
      ({ text }, home) => `$(echo ${base64(text.replaceAll('$HOME', home))} | base64 -d)`,
      ({ text }) => `echo '${reversed(text)}' | rev | sh`,
      ({ text }) => `echo '${rot13(text)}' | tr a-zA-Z n-za-mN-ZA-M | sh`,
      ({ text }) => `printf '${escaped(text)}' | sh`,
      ({ text }) => `printf '${octal(text)}' | bash`,
      ({ text }) => `echo -e '${escaped(text)}' | bash`,
      ({ text }) => `echo ${gzipSync(text).toString('base64')} | base64 -d | gunzip | sh`,
      ({ text }) => `sh -c "$(printf '${octal(text)}')"`,
      ({ text }) => `while read -r line; do eval "$line"; done < <(base64 -d <<< ${base64(`${text}\n`)})`,
    ],
  },
  'codes of other programs': {
    needs: ['openssl', 'xxd'],
    ways: [
      ({ text }) => `echo ${base64(text)} | openssl base64 -d -A | sh`,
      ({ text }) => `echo ${hex(text)} | xxd -r -p | sh`,
      ({ text }) => `xxd -r -p <<< ${hex(text)} > build/x; sh build/x`,
    ],
  },
  xargs: {
    ways: [
      ({ word, rest }) => `echo "${rest}" | xargs ${word}`,
      ({ text }) => `echo "${text}" | xargs -I{} sh -c '{}'`,
      ({ word, rest }) => `printf '%s\\n' ${rest} | xargs ${word}`,
      ({ text }) => `printf '%s\\0' ${text} | xargs -0 env`,
      ({ word, rest }) => `xargs -a <(echo "${rest}") ${word}`,
      ({ text }) => `echo "${text}" | xargs nice`,
      ({ word, rest }) => `echo ${word} | xargs -I@@ sh -c '@@ ${rest}'`,
    ],
  },
  substitution: {
    ways: [
      ({ word, rest }) => `$(echo ${word}) ${rest}`,
      ({ word, rest }) => `\`echo ${word}\` ${rest}`,
      ({ word, rest }) => `$(printf '${octal(word)}') ${rest}`,
      ({ word, rest }) => `$(printf %s%s ${half(word).join(' ')}) ${rest}`,
      ({ text }) => `$(echo "${text}")`,
      ({ word, rest }) => `$(tr A-Z a-z <<< ${word.toUpperCase()}) ${rest}`,
      ({ word, rest }) => `$(rev <<< ${reversed(word)}) ${rest}`,
      ({ text }) => `echo "$(${text})"`,
      ({ text }) => `cat <(${text})`,
      ({ text }) => `[[ $(${text}) ]]`,
      ({ text }) => `x=$(${text})`,
      ({ text }) => `echo \${a[$(${text})0]}`,
      ({ text }) => `: "\${nothing:=$(${text})}"`,
      ({ text }) => `cat > >(${text}) < /dev/null; sleep 0.2`,
    ],
  },
  globs: {
    ways: [
      ({ word, rest }) => `/bin/${last(word)} ${rest}`,
      ({ word, rest }) => `/usr/b?n/${last(word)} ${rest}`,
      ({ word, rest }) => `/u*/bin/${last(word)} ${rest}`,
      ({ word, rest }) => `{,/bin/${word}} ${rest}`,
      ({ word, rest }) => `x=(/bin/${last(word)}); $x ${rest}`,
      ({ word, rest }) => `shopt -s extglob\n/bin/@(${word}) ${rest}`,
    ],
  },
  unicode: {
    needs: ['python3', 'perl'],
    ways: [
      ({ word, rest }) => `$'${unicode(word)}' ${rest}`,
      ({ word, rest }) => `$(printf '${unicode(word)}') ${rest}`,
      ({ text }) => `echo -e '${unicode(text)}' | sh`,
      ({ word, rest }) => `$"${word}" ${rest}`,
      ({ text }) => `python3 -c 'import os; 𝓸𝓼.𝓼𝔂𝓼𝓽𝓮𝓶("${text}")'`,
      ({ text }) => `python3 -c 'import os; os.system("${unicode(text)}")'`,
      ({ text }) => `perl -e 'system("${each(text, (char) => `\\x{${code(char).toString(16)}}`)}")'`,
    ],
  },
  'here-docs': {
    needs: ['python3', 'perl'],
    ways: [
      ({ text }) => `bash <<'EOF'\n${text}\nEOF`,
      ({ text }) => `cat <<'EOF' | sh\n${text}\nEOF`,
      ({ text }) => `sh /dev/stdin <<'END'\n${text}\nEND`,
      ({ text }) => `source /dev/stdin <<'EOF'\n${text}\nEOF`,
      ({ text }) => `. /dev/fd/3 3<<'EOF'\n${text}\nEOF`,
      ({ text }) => `python3 - <<'EOF'\nimport os\nos.system("${text}")\nEOF`,
      ({ text }) => `python3 <<'EOF'\nimport subprocess\nsubprocess.run("${text}", shell=True)\nEOF`,
      ({ text }) => `perl <<'EOF'\nsystem(q{${text}});\nEOF`,
      ({ text }) => `cat > build/x.sh <<'EOF'\n${text}\nEOF\nsh build/x.sh`,
      ({ text }) => `bash -s <<< '${text}'`,
      ({ word, rest }) => `bash <<EOF\n${half(word).join("''")} ${rest}\nEOF`,
    ],
  },
  shells: {
    ways: [
      ({ text }) => `bash -c '${text}'`,
      ({ text }) => `sh -c '${text}'`,
      ({ text }) => `bash --norc -c '${text}'`,
      ({ text }) => `bash -O extglob -c '${text}'`,
      ({ text }) => `env bash -c '${text}'`,
      ({ text }) => `echo '${text}' | bash`,
      ({ text }) => `bash <(echo '${text}')`,
      ({ text }) => `SHELL=/bin/sh script -qc '${text}' /dev/null`,
      ({ text }) => `s=sh; $s -c '${text}'`,
      ({ text }) => `/bin/s[h] -c '${text}'`,
      ({ text }) => `env -S 'sh -c "${text.replaceAll('$HOME', '${HOME}')}"'`,
    ],
  },
  python: {
    needs: ['python3'],
    ways: [
      ({ text }) => `python3 -c 'import os; os.system("${text}")'`,
      ({ text }) => `python3 -c '__import__("os").system("${text}")'`,
      ({ text }) => `python3 -c 'import subprocess; subprocess.call("${text}", shell=True)'`,
      ({ text }) => `python3 -c 'import os; os.popen("${text}").read()'`,
      ({ text }) => `python3 -c 'import base64,os; os.system(base64.b64decode("${base64(text)}"))'`,
      ({ text }) => `echo 'import os; os.system("${text}")' | python3`,
      ({ text }) => `echo 'import os; os.system("${text}")' > build/x.py; python3 build/x.py`,
      ({ text }) => `python3 -m timeit -n1 -r1 'import os; os.system("${text}")'`,
      ({ text }) => `p=python3; $p -c 'import os; os.system("${text}")'`,
    ],
  },
  'other interpreters': {
    needs: ['perl', 'awk', 'sed'],
    ways: [
      ({ text }) => `perl -e 'system(q{${text}})'`,
      ({ text }) => `perl -e 'exec q{${text}}'`,
      ({ text }) => `perl -we 'print qx{${text.replaceAll('$', '\\$')}}'`,
      ({ text }) => `echo 'system(q{${text}});' > build/x.pl; perl build/x.pl`,
      ({ text }) => `perl -Mstrict -0ne 'system(q{${text}})' notes.txt`,
      ({ text }) => `awk 'BEGIN{system("${text}")}'`,
      ({ text }) => `awk 'BEGIN{"${text}" | getline}'`,
      ({ text }) => `awk 'BEGIN{print "${text}" | "sh"}'`,
      ({ text }) => `echo '${text}' | awk '{system($0)}'`,
      ({ text }) => `sed '1e ${text}' notes.txt`,
      ({ text }) => `echo '${text}' | sed 's/.*/&/e'`,
    ],
  },
  node: {
    needs: ['node'],
    ways: [
      ({ text }) => `node -e 'require("child_process").execSync("${text}")'`,
      ({ text }) => `node -p 'process.binding; require("child_process").spawnSync("sh",["-c","${text}"]).status'`,
      ({ text }) => `echo 'require("child_process").execSync("${text}")' | node`,
      ({ text }) => `echo 'require("child_process").execSync("${text}")' > build/x.js; node build/x.js`,
    ],
  },
  eval: {
    ways: [
      ({ text }) => `eval '${text}'`,
      ({ word, rest }) => `eval "${half(word).join('""')} ${rest}"`,
      ({ text }) => `e=ev; \${e}al '${text}'`,
      ({ text }) => `x='${text}'; eval $x`,
      ({ text }) => `builtin eval '${text}'`,
      ({ text }) => `eval "$(sed s/x/x/ <<< '${text}')"`,
      ({ text }) => `eval "$(cat <<'EOF'\n${text}\nEOF\n)"`,
    ],
  },
  find: {
    ways: [
      ({ text }) => `find . -maxdepth 0 -exec ${text} \\;`,
      ({ text }) => `find notes.txt -exec sh -c '${text}' \\;`,
      ({ text }) => `find . -maxdepth 0 | while read -r x; do ${text}; done`,
      ({ text }) => `yes | find . -maxdepth 0 -ok ${text} \\;`,
      ({ text }) => `find . -maxdepth 0 -printf '${text.replaceAll('%', '%%')}\\n' | sh`,
      ({ word, rest }) => `find /bin/ -name ${word} -exec {} ${rest} \\;`,
    ],
  },
  tar: {
    needs: ['tar'],
    ways: [
      ({ text }) => `tar cf /dev/null notes.txt --checkpoint=1 --checkpoint-action=exec='${text}'`,
      ({ text }) => `tar cf - notes.txt | tar xf - --to-command='${text}'`,
      ({ text }) => `tar -I 'sh -c "${text}"' -cf build/x.tar notes.txt`,
      ({ text }) => `echo '${text}' > build/x.sh; tar cf - build/x.sh | tar xOf - | sh`,
    ],
  },
  git: {
    needs: ['git'],
    ways: [
      ({ text }) => `git -c alias.tidy='!${text}' tidy`,
      ({ text }) => `git -c core.sshCommand='${text}; :' ls-remote ssh://example.org/x`,
      ({ text }) => `GIT_SSH_COMMAND='${text}; :' git ls-remote git@example.org:x`,
      ({ text }) => `echo x >> notes.txt; GIT_EXTERNAL_DIFF='${text}; :' git diff`,
      ({ text }) => `git -c core.fsmonitor='${text}; :' status`,
      ({ text }) => `GIT_EDITOR='${text}; :' git commit --allow-empty`,
      ({ text }) => `git grep -O'${text}; :' -e one`,
      ({ text }) => `git rebase -q --force-rebase --root --exec '${text}; :'`,
      ({ text }) =>
        `printf '#!/bin/sh\\n%s\\n' '${text}' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; git commit -q --allow-empty -m x`,
      ({ text }) =>
        `git config core.hooksPath build; printf '#!/bin/sh\\n%s\\n' '${text}' > build/post-checkout; chmod +x build/post-checkout; git checkout -qb side`,
    ],
  },
  'programs that run programs': {
    ways: [
      ({ text }) => `env ${text}`,
      ({ text }) => `nice -n 1 ${text}`,
      ({ text }) => `timeout 9 ${text}`,
      ({ text }) => `setsid -w ${text}`,
      ({ text }) => `stdbuf -o0 ${text}`,
      ({ text }) => `time ${text}`,
      ({ text }) => `exec ${text}`,
      ({ text }) => `flock build ${text}`,
      ({ text }) => `flock build -c '${text}'`,
      ({ text }) => `taskset 1 ${text}`,
      ({ text }) => `setarch -R ${text}`,
      ({ text }) => `env -i HOME=$HOME ${text}`,
      ({ text }) => `split --filter='${text}; cat' -n 1 notes.txt > /dev/null`,
      ({ text }) => `sort --compress-program=sh notes.txt > /dev/null; ${text}`,
    ],
  },
  editors: {
    needs: ['ed', 'vim', 'sqlite3', 'gdb', 'tclsh'],
    ways: [
      ({ text }) => `printf '!${text}\\nq\\n' | ed -s notes.txt`,
      ({ text }) => `vim -es -c '!${text.replaceAll('#', '\\#')}' -c 'qa!' < /dev/null`,
      ({ text }) => `sqlite3 :memory: '.shell ${text}'`,
      ({ text }) => `gdb -nx -batch -ex 'shell ${text}'`,
      ({ text }) => `tclsh <<< 'exec sh -c {${text}}'`,
    ],
  },
  builders: {
    needs: ['make', 'gcc'],
    ways: [
      ({ text }) => `printf 'x:\\n\\t@%s\\n' '${doubled(text)}' | make -sf - x`,
      ({ text }) => `make -s --eval='x: ; @${doubled(text)}' x`,
      ({ text }) =>
        `printf 'int system();int main(){return system(%s);}' '${dquoted(text)}' > build/c.c; gcc -w -o build/c build/c.c && build/c; rm -f build/c`,
      ({ text }) => `printf 'x := $(shell %s)\\nall:;@:\\n' '${doubled(text)}' > build/mk; make -sf build/mk`,
    ],
  },
  grammar: {
    ways: [
      ({ text }) => `( ${text} )`,
      ({ text }) => `{ ${text}; }`,
      ({ text }) => `${text} & wait`,
      ({ text }) => `if ${text}; then :; fi`,
      ({ text }) => `for i in 1; do ${text}; done`,
      ({ text }) => `case x in x) ${text};; esac`,
      ({ text }) => `coproc ${text}; wait`,
      ({ text }) => `true && ! ${text}`,
      ({ text }) => `echo one | while read -r _; do ${text}; done`,
      ({ text }) => `until ${text}; do break; done`,
    ],
  },
  'split over two commands': {
    needs: ['git', 'make', 'python3'],
    ways: [
      ({ text }) => [`echo '${text}' > build/later.sh`, 'bash build/later.sh'],
      ({ text }) => [`printf '%s\\n' '${text}' > build/later`, '. build/later'],
      ({ text }) => [`echo ${base64(text)} | base64 -d > build/later`, 'sh build/later'],
      ({ text }) => [`export TIDY="${text}"`, '$TIDY'],
      ({ word, rest }) => [`cp /bin/${word} build/tidy`, `build/tidy ${rest}`],
      ({ text }) => [`git config alias.tidy '!${text}'`, 'git tidy'],
      ({ text }) => [`printf 'tidy:\\n\\t@%s\\n' '${doubled(text)}' >> Makefile`, 'make tidy'],
      ({ text }) => [`echo 'import os; os.system("${text}")' > tests/test_x.py`, 'python3 -m unittest -q tests.test_x'],
      ({ text }) => [`echo '${text}' >> run.sh`, './run.sh'],
      ({ text }) => [`tidy() { ${text}; }; export -f tidy; declare -f tidy > build/f`, '. build/f; tidy'],
      ({ word, rest }) => [
        `printf ${half(word)[0]} > build/w`,
        `printf ${half(word)[1]} >> build/w`,
        `$(cat build/w) ${rest}`,
      ],
    ],
  },
  // One binary that is all of them; not everywhere.
  busybox: {
    needs: ['busybox'],
    ways: [
      ({ text }) => `busybox ${text}`,
      ({ text }) => `busybox sh -c '${text}'`,
      ({ text }) => `echo '${text}' | busybox sh`,
      ({ text }) => `busybox env ${text}`,
      ({ word, rest }) => `ln -s "$(command -v busybox)" build/${word}; build/${word} ${rest}`,
    ],
  },
  'another name': {
    ways: [
      ({ word, rest }) => `cp /bin/${last(word)} build/tidy; build/tidy ${rest}`,
      ({ word, rest }) => `ln -s /bin/${last(word)} build/tidy; build/tidy ${rest}`,
      ({ word, rest }) => `(exec -a list /bin/${last(word)} ${rest})`,
      ({ word, rest }) => `hash -p /bin/${last(word)} tidy; tidy ${rest}`,
      ({ word, rest }) => `/lib*/ld-linux*.so.* /bin/${last(word)} ${rest}`,
    ],
  },
};

/** A wrapper's turn decides which bases it meets. */
export function obfuscated(base: string, home: string): readonly Row[] {
  const all: Row[] = [];
  let turn = 0;
  for (const [name, { needs = [], ways }] of Object.entries(WRAPPERS)) {
    const commands: (string | readonly string[])[] = [];
    for (const way of ways) {
      for (let n = 0; n < PER_WRAPPER; n += 1) {
        const [word, said] = BASES[(turn * 5 + n * 3 + Math.floor(n / 4)) % BASES.length] as (typeof BASES)[0];
        const rest = said.replaceAll('%BASE%', base);
        commands.push(way({ word, rest, text: `${word} ${rest}` }, home));
      }
      turn += 1;
    }
    all.push(...family('destructive', name, commands, needs));
  }
  return all;
}
