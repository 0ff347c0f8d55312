/** The mechanisms of `packages/vat/src/eventual`, each with the source text that leaves it out: see `../mutant.ts`. */
import type { Mutant } from '../mutant.ts';

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'vat-passing-options',
    breaks: 'an answer that is passed on with a misspelt cause is not cut with it',
    file: 'packages/vat/src/eventual/passing.ts',
    find: "= takeOptions(passing, 'passOn', passingOptions);",
    replace: '= passing ?? passingOptions;',
    tests: ['packages/vat/src/options.test.ts'],
  },
  {
    name: 'vat-when-ignored',
    breaks: 'an ignored E.when outside a turn ends the process',
    file: 'packages/vat/src/eventual/wait.ts',
    find: 'quieten(settled);',
    replace: '',
    tests: ['packages/vat/src/eventual/breaks.test.ts'],
  },
  {
    name: 'vat-when-through',
    breaks: 'a turn that waits without a handler for the value breaks',
    file: 'packages/vat/src/eventual/wait.ts',
    find: "make('when', ok ?? same, settled.value)",
    replace: "make('when', ok as never, settled.value)",
    tests: ['packages/vat/src/eventual/breaks.test.ts'],
  },
  {
    name: 'durable-outbox',
    breaks: 'a message on its way inside the store is lost with the process',
    file: 'packages/vat/src/eventual/send.ts',
    find: 'if (to === undefined) return;',
    replace: 'return;',
    also: [
      {
        file: 'packages/vat/src/vats/intake.ts',
        find: 'if (objectStore === undefined || outputCommit === undefined || outputCommit.failed !== undefined) return;',
        replace: 'return;',
      },
    ],
    tests: ['packages/vat/src/durable/attacks.test.ts'],
  },
  {
    name: 'passing-cut',
    breaks: 'a caller waits for an object behind that does not end, though the grant has',
    file: 'packages/vat/src/eventual/passing.ts',
    find: '  if (ids !== undefined && causes !== undefined) turn.effects.push(new Waiting(vatPromise, causes, ids));',
    replace: '',
    tests: ['packages/revocable/src/forwarder/forward.test.ts'],
  },
  {
    name: 'passing-next',
    breaks: 'calls on an answer that is not there yet wait for it before they pass a membrane',
    file: 'packages/vat/src/eventual/passing.ts',
    find: "  if (next !== undefined) vatPromise.along(new Ephemeral(turn.home as ActorHome, 'pipelined', next));",
    replace: '',
    tests: ['packages/revocable/src/membrane.test.ts'],
  },
  {
    name: 'caller-line',
    breaks: 'an error of a call does not say where the call is',
    file: 'packages/vat/src/eventual/send.ts',
    find: 'sentFrom(answer, callerOf(above, ours))',
    replace: 'void above',
    tests: ['packages/vat/src/vats/development.test.ts'],
  },
  {
    name: 'sever-with-turn',
    breaks: 'a turn that fails asks to be told of the end of a connection',
    file: 'packages/vat/src/eventual/sever.ts',
    find: '  turn.effects.push(ask);',
    replace: '  ask.release();',
    tests: ['packages/vat/src/captp/sever.test.ts'],
  },
  {
    name: 'sever-payer',
    breaks: 'who waits for the end of a connection pays nothing for it',
    file: 'packages/vat/src/eventual/sever.ts',
    find: 'new VatPromise(turn?.account ?? hostAccount)',
    replace: 'new VatPromise(hostAccount)',
    tests: ['packages/vat/src/captp/sever.test.ts'],
  },
];
