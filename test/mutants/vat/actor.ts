/** The mechanisms of `packages/vat/src/actor`, each with the source text that leaves it out: see `../mutant.ts`. */
import type { Mutant } from '../mutant.ts';

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'fence-alarm',
    breaks: 'an internal error at one alarm ends the process',
    file: 'packages/vat/src/actor/wake.ts',
    find: 'fenced(() => this.#send(due));',
    replace: 'this.#send(due);',
    tests: ['packages/vat/src/vats/fenced.test.ts'],
  },
  {
    name: 'error-counter',
    breaks: 'an error tells a peer how many objects all sessions have made',
    file: 'packages/vat/src/actor/actor.ts',
    find: `  get kindLabel(): string {
    return this.#kind.label;`,
    replace: `  get kindLabel(): string {
    return this.label;`,
    tests: ['packages/vat/src/captp/hostile.test.ts'],
  },
  {
    name: 'sleep',
    breaks: 'an actor that fell asleep forgets its state',
    file: 'packages/vat/src/actor/actor.ts',
    find: 'args: objectStore.encode(this.#args),',
    replace: 'args: objectStore.encode([]),',
    tests: ['packages/vat/src/durable/sleep.test.ts'],
  },
  {
    name: 'vat-rollback-rows',
    breaks: 'a turn that throws keeps its table writes',
    file: 'packages/vat/src/actor/table.ts',
    find: 'Rows.restore(this.#table, this.#key, this.#before);',
    replace: `return;
    Rows.restore(this.#table, this.#key, this.#before);`,
    tests: ['packages/vat/src/actor/table.test.ts', 'packages/vat/src/actor/model.test.ts'],
  },
  {
    name: 'vat-become-identity',
    breaks: 'a become token of another actor, or of an earlier call, counts',
    file: 'packages/vat/src/actor/become.ts',
    find: `    if (token.#actor !== actor)
      throw new CapError(
        'become-failure',
        \`\${actor.kindLabel} returned a become token of another actor: return what its own bcom made\`,
      );
    if (token.#frame !== frame)
      throw new CapError(
        'become-failure',
        \`\${actor.kindLabel} returned a become token of another call: call bcom in the method that returns it\`,
      );`,
    replace: '',
    tests: ['packages/vat/src/actor/actor.test.ts'],
  },
  {
    name: 'vat-async-behaviour',
    breaks: 'a behaviour may answer with a promise of its own',
    file: 'packages/vat/src/actor/actor.ts',
    find: `    if (result instanceof Promise && vatPromiseOf(result) === undefined) {
      quieten(result);
      throw asynchronous(this.kindLabel);
    }`,
    replace: '',
    tests: ['packages/vat/src/actor/actor.test.ts'],
  },
  {
    name: 'vat-near',
    breaks: 'a reference to another vat can be called at once',
    file: 'packages/vat/src/actor/actor.ts',
    find: 'if (turn.home !== this.home) throw inAnotherVat(this.kindLabel, method);',
    replace: '',
    tests: ['packages/vat/src/eventual/eventual.test.ts', 'packages/vat/src/actor/model.test.ts'],
  },
  {
    name: 'vat-forwarder-callable',
    breaks: 'a forwarder of a function cannot be called near',
    file: 'packages/vat/src/actor/shapes.ts',
    find: "if (kind.procedure && (callable || args.some((arg) => typeof arg === 'function'))) return",
    replace: 'if (kind.procedure && args.length < 0) return',
    tests: ['packages/vat/src/actor/agree.test.ts'],
  },
  {
    name: 'vat-forwarder-restarted',
    breaks: 'a forwarder of a function cannot be called near after a restart',
    file: 'packages/vat/src/actor/shapes.ts',
    find: 'if (callable) return functionReference(actor);',
    replace: '',
    tests: ['packages/vat/src/actor/agree.test.ts'],
  },
  {
    name: 'vat-methods-of-now',
    breaks: 'near calls reach only the methods that an actor had when it was made',
    file: 'packages/vat/src/actor/shapes.ts',
    find: "return typeof behaviour === 'object' && Object.hasOwn(behaviour as object, method);",
    replace: 'return false;',
    tests: ['packages/vat/src/actor/agree.test.ts'],
  },
  {
    name: 'vat-become-uncallable',
    breaks: 'an actor with methods becomes a function that nobody can call near',
    file: 'packages/vat/src/actor/actor.ts',
    find: 'throw uncallable(made.kind.label);',
    replace: 'this.#called = true;',
    tests: ['packages/vat/src/actor/agree.test.ts'],
  },
  {
    name: 'wake-restart',
    breaks: 'what an actor wanted to be woken for is forgotten at a restart',
    file: 'packages/vat/src/actor/wake.ts',
    find: 'if (objectStore === undefined) return;',
    replace: 'return;',
    tests: ['packages/vat/src/actor/wake.test.ts'],
  },
  {
    name: 'wake-undo',
    breaks: 'a wake that an undone turn set comes all the same',
    file: 'packages/vat/src/actor/wake.ts',
    find: 'this.#message.taken();',
    replace: `return this.release();
    this.#message.taken();`,
    tests: ['packages/vat/src/actor/wake.test.ts'],
  },
  {
    name: 'tell-anyway',
    breaks: 'who calls near and undoes the turn makes a forwarder forget that it expired',
    file: 'packages/vat/src/actor/forwarding.ts',
    find: 'this.release();',
    replace: 'this.#message.taken();',
    tests: ['packages/revocable/src/forwarder/forward.test.ts'],
  },
  {
    name: 'dropped-become',
    breaks: 'a method that calls bcom without return changes nothing, and nobody is told',
    file: 'packages/vat/src/actor/actor.ts',
    find: 'if (turn.token === frame) noteDropped(this.#kind, method);',
    replace: '',
    tests: ['packages/vat/src/vats/development.test.ts'],
  },
  {
    name: 'dropped-behind',
    breaks: 'a dropped become token is hidden by a call of another actor',
    file: 'packages/vat/src/actor/actor.ts',
    find: '      turn.token = outerToken;\n',
    replace: '',
    tests: ['packages/vat/src/vats/development.test.ts'],
  },
];
