/** The guards of `guest`, each with an edit that removes it. See `mutant.ts`. */
import type { Mutant } from './mutant.ts';

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'guest-code-sent',
    breaks: 'the output of an endless loop is lost if its process was sending its compiled code',
    file: 'packages/guest/src/drivers/child.ts',
    find: 'return codeIsSent.then(() => run(order, host, waiting));',
    replace: 'return run(order, host, waiting);',
    tests: ['packages/guest/src/compiled.test.ts'],
  },
  {
    name: 'guest-module-other-face',
    breaks: 'a module of actors may name any face of the vat, also those that reveal or decide more than an actor may',
    file: 'packages/guest/src/source/module.ts',
    find: 'if (!VAT.has(from) || node.specifiers.length === 0)',
    replace: "if (!from.startsWith('@hob/vat') || node.specifiers.length === 0)",
    tests: ['packages/guest/src/actors.test.ts'],
  },
  {
    name: 'guest-memory',
    breaks: 'a program may fill the memory of its process',
    file: 'packages/guest/src/running-program.ts',
    find: `if (peakBytes > limits.memoryBytes)
      this.kill('limit', over('memory', \`\${Math.round(limits.memoryBytes / MiB)} MiB\`, 'work in smaller parts'));
    else if (cpuMs > limits.cpuMs)`,
    replace: 'if (cpuMs > limits.cpuMs)',
    tests: ['packages/guest/src/attack.test.ts'],
  },
  {
    name: 'guest-cpu',
    breaks: 'a loop runs as long as its process lives',
    file: 'packages/guest/src/running-program.ts',
    find: `    else if (cpuMs > limits.cpuMs)
      this.kill('limit', over('processor time', \`\${limits.cpuMs} ms\`, 'is there a loop that never ends?'));`,
    replace: '',
    tests: ['packages/guest/src/attack.test.ts'],
  },
  {
    name: 'guest-watched',
    breaks: 'nobody looks at what a program uses, so no limit of it holds',
    file: 'packages/guest/src/running-program.ts',
    find: '    onFirstFrame(watched.begin);\n',
    replace: '',
    tests: ['packages/guest/src/attack.test.ts'],
  },
  {
    name: 'guest-wall',
    breaks: 'a program may wait for ever',
    file: 'packages/guest/src/running-program.ts',
    find: `else if (wallMs > limits.wallMs)
      this.kill('limit', over('time', \`\${limits.wallMs} ms\`, 'does it wait for something that never comes?'));`,
    replace: `else {
    }`,
    tests: ['packages/guest/src/attack.test.ts'],
  },
  {
    name: 'guest-output',
    breaks: 'a console prints without end',
    file: 'packages/guest/src/child/printing.ts',
    find: `if (left < 0)
      throw new RangeError(\`the console takes \${outputBytes()} bytes: print less, or return the result as the value\`);
    const line = \`\${indent}\${args.map(text).join(' ')}\\n\`.replaceAll(/\\n(?=.)/gs, \`\\n\${indent}\`);
    // A line that exceeds the limit is sent up to the limit, so that the host notices.
    const bytes = Buffer.from(line);
    say(bytes.length <= left ? line : \`\${bytes.toString('utf8', 0, left)}…\`);`,
    replace: `const line = \`\${indent}\${args.map(text).join(' ')}\\n\`.replaceAll(/\\n(?=.)/gs, \`\\n\${indent}\`);
    const bytes = Buffer.from(line);
    say(line);`,
    also: [
      {
        file: 'packages/guest/src/running-program.ts',
        find: `if (this.#over || this.#printed > this.#work.limits.outputBytes) return;
    const bytes = Buffer.from(text);
    const room = this.#work.limits.outputBytes - this.#printed;`,
        replace: `if (this.#over) return;
    const bytes = Buffer.from(text);
    const room = bytes.length;`,
      },
    ],
    tests: ['packages/guest/src/attack.test.ts'],
  },
  {
    name: 'guest-abort',
    breaks: 'the signal of an evaluation is not heard',
    file: 'packages/guest/src/guests.ts',
    find: "    signal?.addEventListener('abort', abort, { once: true });",
    replace: '',
    tests: ['packages/guest/src/guests.test.ts'],
  },
  {
    name: 'guest-reuse',
    breaks: 'a process runs the program of the next one, too',
    file: 'packages/guest/src/pool.ts',
    find: 'return Promise.resolve(ready);',
    replace: `this.#waiting.push(ready);
    return Promise.resolve(ready);`,
    tests: ['packages/guest/src/guests.test.ts'],
  },
  {
    name: 'guest-shrink',
    breaks: 'as many processes wait for ever as were ever wanted at once',
    file: 'packages/guest/src/pool.ts',
    find: 'for (const { started } of this.#waiting.splice(this.#wanted)) started.kill();',
    replace: `return;
    for (const { started } of this.#waiting.splice(this.#wanted)) started.kill();`,
    tests: ['packages/guest/src/guests.test.ts'],
  },
  {
    name: 'guest-unconfined',
    breaks: 'without a sandbox programs run without one',
    file: 'packages/guest/src/guests.ts',
    find: "if (isolation === 'ses-only') return () => bare(limits);",
    replace: "if (isolation === 'ses-only' || spawnConfined === undefined) return () => bare(limits);",
    tests: ['packages/guest/src/guests.test.ts'],
  },
  {
    name: 'guest-inspect',
    breaks: 'a program’s own inspectors are called with the one of the process',
    file: 'packages/guest/src/child/printing.ts',
    find: 'customInspect: false,',
    replace: 'customInspect: true,',
    tests: ['packages/guest/src/attack.test.ts'],
  },
  {
    name: 'guest-endowments',
    breaks: 'what the classes of the machine have beyond the standard is handed to programs',
    file: 'packages/guest/src/child/compartment.ts',
    find: 'for (const key of Reflect.ownKeys(object)) if (!standard.has(key)) Reflect.deleteProperty(object, key);',
    replace: `for (const key of Reflect.ownKeys(object)) {
      }`,
    tests: ['packages/guest/src/attack.test.ts'],
  },
  {
    name: 'source-refuse',
    breaks: 'a program that loads modules is refused somewhere in it, not before it runs, and without a remedy',
    file: 'packages/guest/src/source/parse.ts',
    find: 'walk(tree, (node, above) => {',
    replace: `return;
  walk(tree, (node, above) => {`,
    tests: ['packages/guest/src/source/prepare.test.ts'],
  },
  {
    name: 'actors-names',
    breaks: 'a module of actors that names what it was not given is loaded',
    file: 'packages/guest/src/source/module.ts',
    find: 'for (const { name, offset, use } of freeNames(tree)) {',
    replace: `return;
  for (const { name, offset, use } of freeNames(tree)) {`,
    tests: ['packages/guest/src/actors.test.ts'],
  },
  {
    name: 'actors-manifest',
    breaks: 'a module of actors gets powers that its manifest does not name',
    file: 'packages/guest/src/actors.ts',
    find: 'for (const name of needs === undefined ? Object.keys(powers) : needs) {',
    replace: 'for (const name of Object.keys(powers)) {',
    tests: ['packages/guest/src/actors.test.ts'],
  },
  {
    name: 'actors-frozen',
    breaks: 'a module of actors can change the words that other modules use',
    file: 'packages/guest/src/actors.ts',
    find: '  harden(compartment.globalThis);',
    replace: '',
    also: [{ file: 'packages/guest/src/actors.ts', find: 'return harden(words);', replace: 'return words;' }],
    tests: ['packages/guest/src/actors.test.ts'],
  },
  {
    name: 'source-escape',
    breaks: 'a program fails because of the text in its strings',
    file: 'packages/guest/src/source/escape.ts',
    find: 'const edits: Edit[] = [];',
    replace: `return { edits: [], hoisted: [] };
  const edits: Edit[] = [];`,
    tests: ['packages/guest/src/source/prepare.test.ts'],
  },
  {
    name: 'guest-options-known',
    breaks: 'a misspelt option of an evaluation is ignored',
    file: 'packages/guest/src/guests.ts',
    find: "= takeOptions(options, 'evaluate', evaluateOptions);",
    replace: '= { ...options, ...(options === undefined ? evaluateOptions : {}) } as EvaluateOptions;',
    tests: ['packages/guest/src/options.test.ts'],
  },
  {
    name: 'guest-code-cache-waits',
    breaks: 'a program that got out of its compartment gives later processes the code that they run before lockdown',
    file: 'packages/guest/src/pool.ts',
    find: 'if (waits()) keepCodeCache(codeCache);',
    replace: 'keepCodeCache(codeCache);',
    tests: ['packages/guest/src/forged.test.ts'],
  },
  {
    name: 'guest-code-cache',
    breaks: 'every process of a guest compiles its code again',
    file: 'packages/guest/src/drivers/child-code.ts',
    find: '...(cachedData.length > 0 && { cachedData })',
    replace: '',
    tests: ['packages/guest/src/guests.test.ts'],
  },
  {
    name: 'guest-join-shared',
    breaks: 'a module of a packed guest sees only the first value of a variable that another module changes',
    file: 'packages/guest/src/code/join.ts',
    find: 'if (from === undefined || !isReassigned(body, ours, declaration)) exported.push(`${outside}: ${ours}`);',
    replace: 'if (from === undefined || declaration !== undefined) exported.push(`${outside}: ${ours}`);',
    tests: ['packages/guest/src/code/join.test.ts'],
  },
  {
    name: 'guest-collect',
    breaks: 'a process that waits keeps the garbage of its start',
    file: 'packages/guest/src/drivers/collect.ts',
    find: "  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });",
    replace: '  void gc;',
    tests: ['packages/guest/src/drivers/collect.test.ts'],
  },
  {
    name: 'guest-collect-hidden',
    breaks: 'code in a process that has waited can collect garbage, and see which objects are freed',
    file: 'packages/guest/src/drivers/collect.ts',
    find: "  setFlagsFromString('--no-expose-gc');",
    replace: '',
    tests: ['packages/guest/src/drivers/collect.test.ts'],
  },
  {
    name: 'guest-join-order',
    breaks: 'modules of a packed guest run before its intrinsics are hardened',
    file: 'packages/guest/src/code/join.ts',
    find: 'for (const entry of entries) add(entry, false);',
    replace: 'for (const entry of entries.toReversed()) add(entry, false);',
    tests: ['packages/guest/src/code/join.test.ts'],
  },
  {
    name: 'guest-lockdown',
    breaks: 'modules of a guest run before its intrinsics are hardened',
    file: 'packages/guest/src/drivers/child-lockdown.ts',
    find: '\nlockdown({',
    replace: '\nsetTimeout(lockdown, 0, {',
    tests: ['packages/guest/src/lockdown.test.ts'],
  },
];
