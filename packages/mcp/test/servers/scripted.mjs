/**
 * A server of tools that does what its tests ask of it. It speaks JSON-RPC by hand, because a library would refuse to be
 * this rude. Run in the sandbox: `node scripted.mjs ERA`, with `/data` to read what it shall be and to leave its marks.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [era = 'old'] = process.argv.slice(2);
/** What it shall be now: written by the test. */
const now = () => (existsSync('/data/be.json') ? JSON.parse(readFileSync('/data/be.json', 'utf8')) : {});
const put = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const complete = era === 'new' ? { resultType: 'complete' } : {};
const listed = era === 'new' ? { ...complete, ttlMs: 60_000, cacheScope: 'private' } : {};
const text = (said) => ({ ...complete, content: [{ type: 'text', text: said }] });
const object = { type: 'object' };

appendFileSync('/data/starts', `${process.pid}\n`);
if (now().dies === 'at the start') {
  process.stderr.write('cannot find the file of this server\n');
  process.exit(3);
}

const echo = {
  name: 'echo',
  title: 'Echo',
  description: 'Says what it is told.\nTwo lines.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  annotations: { readOnlyHint: true },
};
const usual = ['wait', 'die', 'hang', 'large', 'garbage', 'flood', 'flood-of-answers', 'progress', 'ask', 'wrong', 'rich', 'endless', 'look', 'slow-schema', 'binary', 'deep', 'refuse']; // biome-ignore format: one line
const schemas = {
  wrong: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  'slow-schema': { type: 'object', properties: { s: { type: 'string', pattern: '^(a+)+$' } } },
};
const tools = () => [
  { ...echo, ...now().echo },
  ...usual.map((name) => ({ name, inputSchema: object, ...(schemas[name] && { outputSchema: schemas[name] }) })),
  ...(now().more ?? []),
];

const reads = {
  echo: ({ text: said }) => text(`echo: ${said}`),
  wrong: () => ({ ...text('{}'), structuredContent: { n: 'one' } }),
  'slow-schema': () => ({ ...text('{}'), structuredContent: { s: `${'a'.repeat(60)}!` } }),
  rich: () => ({
    ...complete,
    content: [
      { type: 'text', text: 'line\n\ttab \u202egnp.exe\u200b \u001b[2J' },
      { type: 'image', data: 'AAEC', mimeType: 'image/png' },
      { type: 'resource_link', uri: 'file:///etc/shadow', name: 'a link' },
      { type: 'resource', resource: { uri: 'file:///etc/passwd', text: 'em\u200bbedded' } },
    ],
    structuredContent: { ['k\u200bey']: ['v\u202ealue'] },
  }),
  look: ({ path, env, dial, write }) => {
    if (env) return text(JSON.stringify(process.env));
    if (dial) return dialled(dial);
    try {
      if (write) appendFileSync(write, 'written');
      return text(write ? 'wrote' : readFileSync(path, 'utf8'));
    } catch (error) {
      return text(`failed: ${error.code}`);
    }
  },
};

function flooded(message) {
  for (let n = 0; n < 1000; n += 1) put(message);
  setImmediate(() => flooded(message));
}

async function dialled(port) {
  const { connect } = await import('node:net');
  return await new Promise((done) => {
    const socket = connect(port, '127.0.0.1', () => done(text('connected')));
    socket.on('error', (error) => done(text(`failed: ${error.code}`)));
  });
}

const acts = {
  wait: (id, { ms }) => (ms === undefined ? undefined : setTimeout(() => put({ id, result: text('waited') }), ms)),
  die: () => process.exit(1),
  hang: () => {
    for (;;);
  },
  large: (id, { bytes, idFirst }) => {
    const content = [{ type: 'text', text: 'x'.repeat(bytes) }];
    put(idFirst ? { id, result: { ...complete, content } } : { result: { ...complete, content }, id });
  },
  garbage: () => process.stdout.write('this is no JSON\n'),
  binary: () => process.stdout.write(Buffer.from([0x7b, 0xff, 0xfe, 0x7d, 0x0a])),
  deep: (id) => process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":${'['.repeat(1000)}${']'.repeat(1000)}}}\n`), // biome-ignore format: one line
  flood: () => flooded({ method: 'notifications/message', params: { level: 'info', data: 'x' } }),
  'flood-of-answers': () => flooded({ id: 999_999, result: {} }),
  endless: () => {
    const part = Buffer.alloc(65_536, 'x');
    const more = () => {
      while (process.stdout.write(part));
      process.stdout.once('drain', more);
    };
    more();
  },
  progress: (id) => {
    let progress = 0;
    setInterval(() => {
      progress += 1;
      put({ method: 'notifications/progress', params: { progressToken: id, progress } });
    }, 20);
  },
  ask: (id, { how }) => {
    if (how === 'input') {
      const inputRequests = { a: { method: 'elicitation/create', params: { mode: 'form', message: 'your password?', requestedSchema: object } } }; // biome-ignore format: one line
      return put({ id, result: { resultType: 'input_required', inputRequests, requestState: 's' } });
    }
    asked.set(`s-${id}`, id);
    const params = how === 'sampling/createMessage' ? { messages: [], maxTokens: 5 } : how === 'elicitation/create' ? { message: 'your password?', requestedSchema: object } : {}; // biome-ignore format: one line
    put({ id: `s-${id}`, method: how, params });
  },
  refuse: (id) => put({ id, error: { code: -32_602, message: 'no\u202e such \u200bthing' } }),
};
const asked = new Map();

createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params = {}, error, result } = JSON.parse(line);
  if (asked.has(id)) return put({ id: asked.get(id), result: text(JSON.stringify(error ?? result)) });
  if (method === 'server/discover' && era === 'new')
    return put({ id, result: { ...listed, supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, instructions: now().instructions ?? 'Be kind.' } }); // biome-ignore format: one line
  if (method === 'server/discover' && era === 'dies') process.exit(9);
  if (method === 'initialize' && era !== 'new')
    return put({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'scripted', version: '1' }, instructions: now().instructions ?? 'Be kind.' } }); // biome-ignore format: one line
  if (method === 'notifications/cancelled') return appendFileSync('/data/cancelled', `${params.requestId}\n`);
  if (id === undefined) return;
  if (method === 'tools/list') return put({ id, result: { ...listed, tools: tools() } });
  if (method !== 'tools/call') return put({ id, error: { code: -32_601, message: 'Method not found' } });
  const { name, arguments: args } = params;
  appendFileSync('/data/calls', `${name}\n`);
  if (acts[name] !== undefined) return acts[name](id, args);
  put({ id, result: await reads[name](args) });
});
