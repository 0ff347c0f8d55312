/** The mechanisms of `packages/vat/src/captp/dialects`, each with the source text that leaves it out: see `../mutant.ts`. */
import type { Mutant } from '../mutant.ts';

const encodedCounts = ['packages/vat/src/captp/dialects/encoded-counts.test.ts'];

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'hob-long-alone',
    breaks: 'a call with a long text overtakes the calls before it',
    file: 'packages/vat/src/captp/dialects/hob.ts',
    find: `    this.flush();
    this.lastSize = frame.length;`,
    replace: '    this.lastSize = frame.length;',
    tests: ['packages/vat/src/captp/dialects/hob.test.ts'],
  },
  {
    name: 'hob-long-size',
    breaks: 'long answers that a peer keeps asking for count as a few bytes each',
    file: 'packages/vat/src/captp/dialects/hob.ts',
    find: '    this.lastSize = frame.length;\n',
    replace: '',
    tests: ['packages/vat/src/captp/dialects/hob.test.ts'],
  },
  {
    name: 'captp-excuse',
    breaks: 'a value that is refused takes the bytes of the others of its frame with it',
    file: 'packages/vat/src/captp/dialects/attached-bytes.ts',
    find: '    this.#excused = true;',
    replace: '    this.taken = this.length;',
    tests: ['packages/vat/src/captp/dialects/hob.test.ts'],
  },
  {
    name: 'captp-digits',
    breaks: 'a frame may hold any number of long bigints',
    file: 'packages/vat/src/captp/dialects/digits.ts',
    find: `    if (this.#left < 0)
      throw new CapError('limit', \`a frame may hold \${most} bigints of the greatest length: send fewer at a time\`);`,
    replace: '',
    tests: ['packages/vat/src/captp/attack.test.ts'],
  },
  {
    name: 'captp-empty',
    breaks: 'empty binary frames cost their sender nothing',
    file: 'packages/vat/src/captp/dialects/attached-bytes.ts',
    find: '    if (part.length === 0) return;',
    replace: '',
    tests: ['packages/vat/src/captp/attack.test.ts', 'packages/vat/src/captp/hostile.test.ts'],
  },
  {
    name: 'captp-held',
    breaks: 'calls that wait for the bootstrap are not counted',
    file: 'packages/vat/src/captp/dialects/endo.ts',
    find: '    this.#heldBytes += text.length + heldBytes;',
    replace: '',
    tests: ['packages/vat/src/captp/keeping.test.ts'],
  },
  {
    name: 'captp-keys',
    breaks: 'new key names count as no more than known ones',
    file: 'packages/vat/src/captp/dialects/parse-frame.ts',
    find: `const newKey = 39;
export const freeStrings = 40_000;
const oneMoreString = 8;
export const freeLists = 32_768;
const oneMoreList = 2;`,
    replace: `const newKey = 0;
export const freeStrings = 40_000;
const oneMoreString = 0;
export const freeLists = 32_768;
const oneMoreList = 0;`,
    tests: ['packages/vat/src/captp/attack.test.ts'],
  },
  {
    name: 'captp-room',
    breaks: 'an answer is measured only when all of it was written',
    file: 'packages/vat/src/captp/dialects/size-budget.ts',
    find: '    if (this.#left < 0) throw tooLarge();',
    replace: '',
    tests: ['packages/vat/src/captp/dialects/size-budget.test.ts'],
  },
  {
    name: 'captp-slice',
    breaks: 'a text that was cut off keeps the whole frame in memory',
    file: 'packages/vat/src/captp/dialects/errors.ts',
    find: `const beginning = (text: string): string =>
  text.length <= longest ? text : (JSON.parse(JSON.stringify(text.slice(0, longest))) as string);`,
    replace: 'const beginning = (text: string): string => (text.length <= longest ? text : text.slice(0, longest));',
    tests: ['packages/vat/src/captp/keeping.test.ts'],
  },
  {
    name: 'captp-overlap',
    breaks: 'two values of a frame may share bytes',
    file: 'packages/vat/src/captp/dialects/attached-bytes.ts',
    find: '    if (part.includes(1)) return false;',
    replace: '',
    tests: ['packages/vat/src/captp/dialects/hob.test.ts'],
  },
  {
    name: 'endo-slot-names',
    breaks: 'one slot of an Endo peer has many names',
    file: 'packages/vat/src/captp/dialects/endo.ts',
    find: '(?:0|[1-9]\\d{0,14})',
    replace: '\\d{1,15}',
    tests: ['packages/vat/src/captp/dialects/endo.test.ts'],
  },
  {
    name: 'captp-quoted',
    breaks: 'a long text is written as if no letter of it needed a backslash',
    file: 'packages/vat/src/captp/dialects/quoted.ts',
    find: `const isPlain = (text: string): boolean =>
  !text.includes('"') && !text.includes('\\\\') && !control.test(text) && text.isWellFormed();`,
    replace: 'const isPlain = (text: string): boolean => true;',
    tests: ['packages/vat/src/captp/dialects/quoted.test.ts'],
  },
  {
    name: 'endo-counts',
    breaks: 'calls of an Endo peer’s own objects hide a mention that crosses with a drop',
    file: 'packages/vat/src/captp/dialects/endo-counts.ts',
    find: '    const gone = counted >= count.mentioned;',
    replace: '    const gone = counted >= 1;',
    tests: ['packages/vat/src/captp/endo-drops.test.ts'],
  },
  {
    name: 'endo-drop',
    breaks: 'a session of the dialect captp is used up by the objects that it has given back',
    file: 'packages/vat/src/captp/dialects/endo.ts',
    find: 'if (gone) this.#listener.drop(id, Number.MAX_SAFE_INTEGER);',
    replace: 'if (gone) void id;',
    tests: ['packages/vat/src/captp/endo-drops.test.ts'],
  },
  {
    name: 'captp-shapes',
    breaks: 'the hidden classes of records with keys in new orders are not counted',
    file: 'packages/vat/src/captp/dialects/parse-frame.ts',
    find: '        bytes += newShapeBytes;',
    replace: '',
    tests: ['packages/vat/src/captp/keeping.test.ts'],
  },
  {
    name: 'captp-wide',
    breaks: 'letters beyond Latin-1 take two bytes and count as one',
    file: 'packages/vat/src/captp/dialects/parse-frame.ts',
    find: "letters.BYTES_PER_ELEMENT === 2 || text.includes('\\\\u') ? 2 : 1",
    replace: '1',
    tests: ['packages/vat/src/captp/keeping.test.ts'],
  },
  {
    name: 'captp-wide-answer',
    breaks: 'letters beyond Latin-1 take two bytes in an answer and count as one',
    file: 'packages/vat/src/captp/dialects/parse-frame.ts',
    find: '(isWide(text) ? 2 : 1)',
    replace: '1',
    tests: encodedCounts,
  },
  {
    name: 'captp-dear-keys',
    breaks: 'a value whose keys cost too much is sent, and the other end closes the connection',
    file: 'packages/vat/src/captp/dialects/attached-bytes.ts',
    find: '    this.dearKeys += 1;',
    replace: '',
    tests: encodedCounts,
  },
  {
    name: 'captp-deep-keys',
    breaks: 'a sender counts the keys around a key after it, and the other end closes the connection',
    file: 'packages/vat/src/captp/dialects/hob-values.ts',
    find: '    const made = encode(item, slots, bytes, depth + 1);\n    keys += 1;\n    if',
    replace:
      '    bytes.keys -= 1;\n    const made = encode(item, slots, bytes, depth + 1);\n    keys += 1;\n    bytes.keys += 1;\n    if',
    tests: encodedCounts,
  },
  {
    name: 'captp-frame-counts',
    breaks: 'operations share a frame that their receiver refuses, and it closes the connection',
    file: 'packages/vat/src/captp/dialects/hob.ts',
    find: ' || !this.#counts.hasRoom(counts, this.#limits)',
    replace: '',
    tests: ['packages/vat/src/captp/dialects/hob.test.ts'],
  },
  {
    name: 'captp-frame-bracket',
    breaks: 'the check of a sender leaves out the frame around an operation',
    file: 'packages/vat/src/captp/dialects/hob.ts',
    find: 'this.#checkTokens(frame);',
    replace: 'this.#checkTokens(text);',
    tests: ['packages/vat/src/captp/dialects/hob.test.ts'],
  },
  {
    name: 'captp-answer-weight',
    breaks: 'an answer that is kept weighs no more than its text',
    file: 'packages/vat/src/captp/dialects/hob.ts',
    find: '    this.lastSize += mostMemory(text, bytes) - text.length;',
    replace: '',
    tests: ['packages/vat/src/captp/dialects/hob.test.ts'],
  },
  {
    name: 'captp-sender-lists',
    breaks: 'a sender counts no lists, and the other end closes the connection',
    file: 'packages/vat/src/captp/dialects/parse-frame.ts',
    find: ' +\n  Math.max(0, lists + around - freeLists) * oneMoreList',
    replace: '',
    tests: encodedCounts,
  },
  {
    name: 'captp-long-records',
    breaks: 'a sender counts late keys of long records as repeated, so an answer weighs too little',
    file: 'packages/vat/src/captp/dialects/hob-values.ts',
    find: ' && keys < mostKeys',
    replace: '',
    tests: encodedCounts,
  },
  {
    name: 'captp-special-shape',
    breaks:
      'a record after a value that JSON lacks counts as a record of the same shape, so an answer takes more memory than counted',
    file: 'packages/vat/src/captp/dialects/attached-bytes.ts',
    find: 'if (before !== undefined) before[0] = undefined;',
    replace: '',
    tests: encodedCounts,
  },
  {
    name: 'captp-special-strings',
    breaks: 'the strings of values that JSON lacks are not counted, and the other end closes the connection',
    file: 'packages/vat/src/captp/dialects/attached-bytes.ts',
    find: '    this.strings += specialKeys;',
    replace: '',
    tests: encodedCounts,
  },
  {
    name: 'frame',
    breaks: 'frames are parsed however much they cost',
    file: 'packages/vat/src/captp/dialects/parse-frame.ts',
    find: `const deepest = depth * 2 + 8;
  const most = tokens;`,
    replace: `const deepest = Number.POSITIVE_INFINITY;
  const most = Number.POSITIVE_INFINITY;`,
    tests: ['packages/vat/src/captp/dialects/endo.test.ts', 'packages/vat/src/captp/dialects/hob.test.ts'],
  },
];
