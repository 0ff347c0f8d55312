/**
 * The mechanisms of `packages/console`, each with the source text that leaves it out: see `mutant.ts`. Those of its views
 * have no row: the browser loads a page that was built before, so a replacement does not reach it.
 */
import type { Mutant } from './mutant.ts';

const logic = ['packages/console/src/page/logic/logic.test.ts'];
const views = ['packages/console/src/page/logic/views.test.ts'];
const checkpoint = ['packages/console/src/page/logic/checkpoint.test.ts'];

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'console-arm-time',
    breaks: 'a card can be approved in the moment in which it appears',
    file: 'packages/console/src/page/logic/arming.ts',
    find: 'Math.max(0, since + ARM_MS - now)',
    replace: '0',
    tests: logic,
  },
  {
    name: 'console-arm-whole',
    breaks: 'a card whose end nobody saw can be approved',
    file: 'packages/console/src/page/logic/arming.ts',
    find: 'since: start && end ?',
    replace: 'since: start || end ?',
    tests: logic,
  },
  {
    name: 'console-odd',
    breaks: 'a character that hides or reorders text is shown as it is',
    file: 'packages/console/src/page/logic/visible.ts',
    find: '(ODD.test(character) || SPACES.test(character))',
    replace: 'SPACES.test(character)',
    tests: logic,
  },
  {
    name: 'console-alike',
    breaks: 'a letter of another script passes for one of ASCII',
    file: 'packages/console/src/page/logic/visible.ts',
    find: '(mixed && ALIKE.test(character))',
    replace: 'false',
    tests: logic,
  },
  {
    name: 'console-wider',
    breaks: 'the page offers more uses than were asked for',
    file: 'packages/console/src/page/logic/choices.ts',
    find: 'Math.min(uses, mostUses)',
    replace: 'mostUses',
    tests: logic,
  },
  {
    name: 'console-chain',
    breaks: 'a changed line of the ledger is not found in the browser',
    file: 'packages/console/src/page/logic/chain.ts',
    find: 'link.prev === (await hash(before.text))',
    replace: 'true',
    tests: logic,
  },
  {
    name: 'console-who-answered',
    breaks: 'a granter who asked about a request, or was called under it, passes for the one who answered',
    file: 'packages/console/src/page/logic/answered.ts',
    find: "(k !== 'approve' && k !== 'deny') || ",
    replace: '',
    tests: logic,
  },
  {
    name: 'console-checkpoint-signature',
    breaks: 'the browser takes a checkpoint that nobody signed',
    file: 'packages/console/src/page/logic/checkpoint.ts',
    find: 'await signed(key.bytes, bytesOf(encoded).slice(4), body)',
    replace: 'true',
    tests: checkpoint,
  },
  {
    name: 'console-checkpoint-tree',
    breaks: 'a line that was changed before a signed checkpoint is not found in the browser',
    file: 'packages/console/src/page/logic/checkpoint.ts',
    find: '(await tree.root()) !== note.root',
    replace: 'false',
    tests: checkpoint,
  },
  {
    name: 'console-colours',
    breaks: 'a colour hides a part of a line',
    file: 'packages/console/src/page/logic/colours.ts',
    find: '    plain(index);',
    replace: '    from = index;',
    tests: views,
  },
  {
    name: 'console-filter-host',
    breaks: 'the filter for a host finds another host that ends with the same letters',
    file: 'packages/console/src/page/logic/ledger.ts',
    find: 'name.endsWith(`.${host}`)',
    replace: 'name.endsWith(host)',
    tests: views,
  },
  {
    name: 'console-refused-call',
    breaks: 'the page offers a grant of a whole cap for one refused call',
    file: 'packages/console/src/page/logic/ledger.ts',
    find: 'request === undefined || method !== undefined',
    replace: 'request === undefined',
    tests: views,
  },
  {
    name: 'console-picture-ended',
    breaks: 'the picture shows a revoked grant as one that lives',
    file: 'packages/console/src/page/logic/picture.ts',
    find: 'gone.map((grant) => ({ grant, ended: true }))',
    replace: 'gone.map((grant) => ({ grant, ended: false }))',
    tests: views,
  },
  {
    name: 'console-stale-row',
    breaks: 'a value that changed since a request was shown is not told',
    file: 'packages/console/src/page/logic/changes.ts',
    find: '(each) => each.before !== each.after',
    replace: '(each) => each.before === undefined',
    tests: logic,
  },
  {
    name: 'console-stale-line',
    breaks: 'a new line of a diff is not told if an old one went',
    file: 'packages/console/src/page/logic/changes.ts',
    find: 'found.push(change(what, undefined, after[j]));',
    replace: 'if (found.length === 0) found.push(change(what, undefined, after[j]));',
    tests: logic,
  },
];
