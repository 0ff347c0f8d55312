/** No tool in a request to a model is overlooked, in any of the four APIs and however it is written. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { offeredTools, toolsOfProvider } from './offered-tools.ts';
import { readJson, Unreadable } from './strict-json.ts';

const read = (text: string): unknown => readJson(new TextEncoder().encode(text));

test('the tools of each API are found', () => {
  const schema = { type: 'object', properties: { tools: { type: 'array' } } };
  const cases: [object, string[]][] = [
    [{ messages: [], tools: [{ name: 'Bash', description: 'd', input_schema: schema }] }, ['Bash']],
    [{ tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 5 }] }, ['web_search_20250305', 'web_search']],
    [{ tools: [{ type: 'function', function: { name: 'bash', parameters: schema } }] }, ['bash']],
    [{ functions: [{ name: 'bash' }], messages: [] }, ['bash']],
    [{ tools: [{ type: 'function', name: 'shell', strict: true, parameters: schema }, { type: 'local_shell' }] }, ['shell', 'local_shell']],
    [{ tools: [{ type: 'custom', name: 'apply_patch', format: { type: 'grammar' } }] }, ['apply_patch']],
    [{ tools: [{ type: 'mcp', server_label: 'x', server_url: 'https://x' }] }, ['mcp']],
    [{ tools: [{ type: 'namespace', name: 'mcp__hob', tools: [{ type: 'function', name: 'read' }, { type: 'web_search' }] }] }, ['mcp__hob/read', 'mcp__hob/web_search']],
    [{ input: [{ type: 'message', role: 'user' }, { type: 'additional_tools', tools: [{ type: 'custom', name: 'exec' }] }] }, ['exec']],
    [{ input: [{ type: 'tool_search_output', tools: [{ type: 'function', name: 'shell' }] }] }, ['shell']],
    [{ tools: [{ functionDeclarations: [{ name: 'read_file' }, { name: 'glob' }], googleSearch: {} }] }, ['read_file', 'glob', 'googleSearch']],
    [{ tools: [{ code_execution: {} }, {}] }, ['code_execution']],
    [{ generateContentRequest: { model: 'm', contents: [], tools: [{ functionDeclarations: [{ name: 'a' }] }] } }, ['a']],
    [{ mcp_servers: [{ url: 'https://x' }], messages: [] }, ['(mcp_servers)']],
    [{ cachedContent: 'cachedContents/1', contents: [] }, ['(cachedContent)']],
    [{ prompt: { id: 'pmpt_1' } }, ['(prompt)']],
    [{ web_search_options: {} }, ['(web_search_options)']],
  ]; // biome-ignore format: one line each
  for (const [body, tools] of cases) expect(offeredTools(body), JSON.stringify(body)).toEqual(tools);
});

test('the tools that the provider runs are told from those that the host runs', () => {
  const cases: [object, string[]][] = [
    [{ tools: [{ name: 'Bash', input_schema: {} }, { type: 'custom', name: 'exec' }, { type: 'function', function: { name: 'x' } }] }, []],
    [{ tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, ['web_search_20250305']],
    [{ tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'a' }, { type: 'web_search' }] }] }, ['web_search']],
    [{ tools: [{ type: 'tool_search', execution: 'client' }, { type: 'local_shell' }] }, []],
    [{ tools: [{ type: 'tool_search' }, { type: 'tool_search', execution: 'server' }] }, ['tool_search', 'tool_search']],
    [{ input: [{ type: 'additional_tools', tools: [{ type: 'custom', name: 'exec' }, { type: 'mcp', server_url: 'https://x' }] }] }, ['mcp']],
    [{ tools: [{ functionDeclarations: [{ name: 'a' }] }, { googleSearch: {} }, { url_context: {} }] }, ['googleSearch', 'url_context']],
    [{ mcp_servers: [{ url: 'https://x' }] }, ['(mcp_servers)']],
  ]; // biome-ignore format: one line each
  for (const [body, tools] of cases) expect(toolsOfProvider(body), JSON.stringify(body)).toEqual(tools);
});

test('arguments, results and texts of a conversation are data, whatever keys they have', () => {
  const turns = [
    {
      role: 'assistant',
      content: [{ type: 'tool_use', name: 'mcp__hob__call', input: { tools: [{ name: 'Bash' }] } }],
    },
    {
      role: 'user',
      content: [{ type: 'tool_result', content: [{ type: 'text', text: '{"tools":[{"name":"Bash"}]}' }] }],
    },
    { role: 'assistant', tool_calls: [{ function: { name: 'x', arguments: '{}' } }], content: null },
  ];
  expect(offeredTools({ messages: turns, tools: null, tool_choice: { type: 'auto' } })).toEqual([]);
  expect(offeredTools({ input: 'tools', prompt: 'text', contents: [{ parts: [{ functionCall: { args: { tools: [1] } } }] }] })).toEqual([]); // biome-ignore format: one line
});

test('every spelling of a key that a provider may take counts', () => {
  for (const key of ['tools', 'Tools', 'TOOLS', 'to_ols']) expect(offeredTools({ [key]: [{ name: 'a' }] }), key).toEqual(['a']); // biome-ignore format: one line
  expect(offeredTools({ tools: [{ name: 'ours', Name: 'Bash' }] })).toEqual(['ours', 'Bash']);
  expect(offeredTools({ tools: [{ name: 'ours', function: { name: 'bash' } }] })).toEqual(['ours', 'bash']);
  expect(offeredTools({ tools: [{ name: 'ours', function_declarations: [{ name: 'bash' }] }] })).toEqual(['ours', 'bash']); // biome-ignore format: one line
  expect(offeredTools({ tools: [{ Type: 'bash_20250124', name: 'ours' }] })).toEqual(['bash_20250124', 'ours']);
  expect(offeredTools(read('{"to\\u006fls":[{"n\\u0061me":"a"}]}'))).toEqual(['a']);
});

test('what is no list of tools is refused, and not taken for an empty one', () => {
  for (const tools of [{}, { 0: { name: 'a' } }, 'Bash', 7, true, [null], [['Bash']], [{ type: 'function' }], [{ name: 7 }], [{ name: { a: 1 } }], [{ name: '' }], [{ type: 'namespace', tools: [] }], [{ type: 'namespace', name: 'a' }], [{ functionDeclarations: {} }], [{ functionDeclarations: [{}] }]]) // biome-ignore format: one line
    expect(() => offeredTools({ tools }), JSON.stringify(tools)).toThrow(Unreadable);
  for (const body of [null, [], 'a', 7]) expect(() => offeredTools(body)).toThrow(Unreadable);
});

/** How each API writes a tool of that name. */
const WRITTEN: readonly ((name: string) => object)[] = [
  (name) => ({ name, input_schema: {} }),
  (name) => ({ type: 'custom', name }),
  (name) => ({ type: 'function', function: { name } }),
  (name) => ({ type: 'function', name, parameters: {} }),
  (name) => ({ functionDeclarations: [{ name: 'other' }, { name }] }),
  (name) => ({ function_declarations: [{ name }] }),
];
/** Where a request may have a list of tools. */
const PLACED: readonly ((tools: readonly object[]) => object)[] = [
  (tools) => ({ tools }),
  (tools) => ({ input: [{ type: 'additional_tools', role: 'developer', tools }] }),
  (tools) => ({ messages: [{ role: 'user', content: [{ type: 'text' }, { type: 'x', tools }] }] }),
  (tools) => ({ request: { tools } }),
];

test('a tool is found in any place, in any writing, among any others', () => {
  const tools = fc.array(fc.tuple(fc.string({ minLength: 1 }), fc.constantFrom(...WRITTEN)), { minLength: 1 });
  fc.assert(
    fc.property(tools, fc.constantFrom(...PLACED), fc.jsonValue(), (all, place, other) => {
      const body = { other, ...place(all.map(([name, write]) => write(name))) };
      const found = offeredTools(read(JSON.stringify(body)));
      for (const [name] of all) expect(found).toContain(name);
    }),
  );
});

test('an object with a key twice is refused wherever it is, and no other JSON is', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      for (const text of [JSON.stringify(value), JSON.stringify(value, null, 2)]) expect(read(text)).toEqual(JSON.parse(text)); // biome-ignore format: one line
    }),
  );
  const key = fc.string();
  fc.assert(
    fc.property(key, fc.array(key), fc.jsonValue(), fc.nat(9), (name, others, inner, depth) => {
      const fields = [name, ...others.filter((other) => other !== name), name].map((each) => `${JSON.stringify(each)}: ${JSON.stringify(inner)}`); // biome-ignore format: one line
      const text = `${'[{"a":'.repeat(depth)}{${fields.join(',')}}${'}]'.repeat(depth)}`;
      expect(() => JSON.parse(text)).not.toThrow();
      expect(() => read(text)).toThrow(Unreadable);
    }),
  );
  expect(() => read('{"tools":[],"to\\u006fls":[{"name":"Bash"}]}')).toThrow(/twice/);
});

test('bytes that parsers read differently are refused', () => {
  const bytes = (text: string, encoding: BufferEncoding): Uint8Array => Buffer.from(text, encoding);
  expect(() => readJson(bytes('{"a":1}', 'utf16le'))).toThrow(Unreadable);
  expect(() => readJson(bytes('\ufeff{"a":1}', 'utf8'))).toThrow(Unreadable);
  expect(() => readJson(Uint8Array.of(0x22, 0xff, 0x22))).toThrow(/UTF-8/);
  for (const text of ['', '{', '{"a":1} {"tools":[]}', '{"a":1,}', "{'a':1}", '{"a":NaN}', '// x\n{}']) expect(() => read(text), text).toThrow(Unreadable); // biome-ignore format: one line
  expect(() => read(`${'['.repeat(300)}${']'.repeat(300)}`)).toThrow(/deep/);
});
