/** The mutants of the recipes of `cli`: see `mutant.ts`. */
import type { Mutant } from './mutant.ts';

const relay = 'packages/cli/src/recipes/drivers/relay.ts';
const relayTests = ['packages/cli/src/recipes/drivers/relay.test.ts'];
const tools = 'packages/cli/src/recipes/offered-tools.ts';
const toolTests = ['packages/cli/src/recipes/offered-tools.test.ts'];
const json = 'packages/cli/src/recipes/strict-json.ts';
const run = 'packages/cli/src/recipes/drivers/run.ts';
const runTests = ['packages/cli/src/recipes/drivers/run.test.ts'];

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'recipes-foreign',
    breaks: 'a request with a tool of the host is sent to the model',
    file: relay,
    find: 'if (foreign.length > 0) this.#shut(foreign);',
    replace: 'void foreign;',
    tests: relayTests,
  },
  {
    name: 'recipes-shut',
    breaks: 'after a foreign tool the host goes on with its next request',
    file: relay,
    find: '    this.end();\n    this.#options.onForeign(tools);',
    replace: '    this.#over.abort();\n    this.#options.onForeign(tools);',
    tests: relayTests,
  },
  {
    name: 'recipes-under-way',
    breaks: 'requests that are under way go on after a foreign tool',
    file: relay,
    find: '    this.#isShut = true;\n    this.#over.abort();',
    replace: '    this.#isShut = true;',
    tests: relayTests,
  },
  {
    name: 'recipes-compressed',
    breaks: 'a compressed body is taken for text',
    file: relay,
    find: "if ((headers['content-encoding'] ?? 'identity') !== 'identity') throw",
    replace: 'if (headers === undefined) throw',
    tests: relayTests,
  },
  {
    name: 'recipes-large',
    breaks: 'a body in chunks may be of any size',
    file: relay,
    find: 'if (size > MOST_BYTES) throw',
    replace: 'if (size < 0) throw',
    tests: relayTests,
  },
  {
    name: 'recipes-redirect',
    breaks: 'a redirect leads the host past the relay',
    file: relay,
    find: 'if (status >= 300 && status < 400 && status !== 304) {',
    replace: 'if (status < 0) {',
    tests: relayTests,
  },
  {
    name: 'recipes-address',
    breaks: 'a web page or another program uses the relay',
    file: relay,
    find: 'if (headers.host !== this.host || given.length !== wanted.length || !timingSafeEqual(given, wanted))',
    replace: 'if (given.length !== wanted.length)',
    tests: relayTests,
  },
  {
    name: 'recipes-plain-http',
    breaks: 'keys and prompts travel in the clear',
    file: relay,
    find: "if (protocol !== 'https:' && !(protocol === 'http:' && isHere))",
    replace: "if (protocol === 'ftp:' && !isHere)",
    tests: relayTests,
  },
  {
    name: 'recipes-get-body',
    breaks: 'a body that nobody judged is sent with a GET',
    file: relay,
    find: "if (request.method === 'GET' && size > 0)",
    replace: 'if (size < 0)',
    tests: relayTests,
  },
  {
    name: 'recipes-routes',
    breaks: 'other requests of the API pass, such as batches',
    file: 'packages/cli/src/recipes/wires.ts',
    find: 'return ROUTES[wire].some((route) => route.method === method && route.path.test(path));',
    replace: 'return ROUTES[wire].length > 0 && path.length > 0 && method.length > 0;',
    tests: relayTests,
  },
  {
    name: 'recipes-twins',
    breaks: 'of two keys of one name the relay reads one, and the provider the other',
    file: json,
    find: 'if (keys.has(key)) throw',
    replace: 'if (keys.size < 0) throw',
    tests: toolTests,
  },
  {
    name: 'recipes-escaped-twins',
    breaks: 'a key that is written with escapes is not seen to be there twice',
    file: json,
    find: 'JSON.parse(text.slice(at, end + 1)) as string;',
    replace: 'text.slice(at, end + 1);',
    tests: toolTests,
  },
  {
    name: 'recipes-turns',
    breaks: 'tools in an item of the conversation are overlooked',
    file: tools,
    find: "const TURNS: ReadonlySet<string> = new Set(['input', 'messages', 'contents']);",
    replace: 'const TURNS: ReadonlySet<string> = new Set();',
    tests: toolTests,
  },
  {
    name: 'recipes-provider-type',
    breaks: 'a tool that the provider runs passes under one of our names',
    file: tools,
    find: "plain(key) === 'type' && !RUN_BY_HOST.has(text(value)) ? [text(value)] : []",
    replace: "plain(key) === 'no type' && !RUN_BY_HOST.has(text(value)) ? [text(value)] : []",
    tests: toolTests,
  },
  {
    name: 'recipes-spelling',
    breaks: 'a key in another spelling is overlooked',
    file: tools,
    find: "key.toLowerCase().replaceAll(/[^a-z0-9]/g, '')",
    replace: 'key',
    tests: toolTests,
  },
  {
    name: 'recipes-environment',
    breaks: 'the host gets the whole environment of the person',
    file: run,
    find: 'Object.fromEntries([...PASSED, ...recipe.keys].map((name) => [name, process.env[name]]))',
    replace:
      '{ ...process.env, ...Object.fromEntries([...PASSED, ...recipe.keys].map((name) => [name, process.env[name]])) }',
    tests: runTests,
  },
  {
    name: 'recipes-empty',
    breaks: 'the host starts in the directory of the person',
    file: run,
    find: '      cwd: places.start,\n',
    replace: '',
    tests: runTests,
  },
  {
    name: 'recipes-ended',
    breaks: 'a host that offered a foreign tool is left running',
    file: run,
    find: '      foreign = tools;\n      end.abort();',
    replace: '      foreign = tools;\n      setTimeout(() => end.abort(), 200_000);',
    tests: runTests,
  },
];
