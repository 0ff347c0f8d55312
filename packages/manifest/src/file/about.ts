/** The meaning of each key of a manifest, in one sentence. Editors show it, and `docs/manifest.md` has a row for each. */

/** The kinds of records in a manifest. */
export type Part =
  | 'file'
  | 'root'
  | 'server'
  | 'effect'
  | 'channel'
  | 'agent'
  | 'session'
  | 'cap'
  | 'bound'
  | 'auth'
  | 'client'
  | 'proxy'
  | 'offer'
  | 'child'
  | 'judge'
  | 'ledger'
  | 'firewall'
  | 'guardrails'
  | 'guardrail'
  | 'hook'
  | 'a2a'
  | 'peer'
  | 'publicKey'
  | 'chat'
  | 'provider';

/** The sentence for each key of each kind of record. */
export const ABOUT: Readonly<Record<Part, Readonly<Record<string, string>>>> = {
  file: {
    version: 'The version of this format: 1.',
    roots: 'Folders of this machine, by name. Paths of this machine stand only here.',
    servers: 'MCP servers, by name, for caps with mcp.',
    channels: 'Ways to recipients, by name, for caps with message.',
    agents: 'Programs that are started for scheduled runs, by name, for caps with schedule.',
    flags: 'Sets of flags, by name, for flags(SET) in argv.',
    session: 'What a session may hold, and for how long.',
    children: 'Sessions that a session may start, by name, and what it hands to each.',
    granters: 'Who may see, say yes and revoke. Without it: owner, who has the socket of the host.',
    judge: 'A model that sees requests. It may propose an answer or refuse, and never grants.',
    ledger: 'Where and how long acts are recorded.',
    firewall: 'Assesses each call of every session, and makes some wait for a person.',
    a2a: 'The card by which other agents find this one (A2A 1.0), and the agents that may send it tasks.',
    chats: 'Chats in which granters see requests and answer some of them, by name.',
  },
  root: { temp: 'true: an empty folder for each session, which goes with it.' },
  server: {
    command: 'The program of the server and its arguments. It runs in the sandbox.',
    roots: 'Roots that the program reads, each as /ROOT.',
    writes: 'Roots that the program also changes, each as /ROOT.',
    secrets: 'Names of stored secrets that the program gets.',
    url: 'The address of the server.',
    secret: 'The name of a stored secret that is sent to the server, as its bearer token.',
    addresses: 'Addresses of the server that are not public, such as 127.0.0.1.',
    effects: 'The effects of its tools, by name. A tool that is not named here may do anything.',
  },
  effect: {
    class: 'A: it reads. B: it changes this machine. C: it has an effect outside. D: critical, such as money.',
    undo: 'easy, hard or impossible. Without it: hard.',
    outbound: 'Whether its arguments reach somebody outside. Without it: true.',
  },
  channel: {
    slack: 'Recipients, each with the name of the stored URL of its Slack webhook.',
    webhook: 'Recipients, each with the name of the stored URL of its webhook.',
    smtp: 'A mail server, as host:port.',
    from: 'The mailbox that mails come from.',
    tls: 'implicit (from the first byte), starttls, or none. Without it: implicit.',
    user: 'The user of the mail server.',
    secret: 'The name of the stored password of that user.',
    outbox: 'ROOT or ROOT/folder, where each message becomes a file.',
    addresses: 'Addresses and ranges that are reached although they are not public.',
  },
  agent: {
    command: 'The program and its arguments. The task is its standard input. It runs outside of the sandbox, as you.',
    secrets: 'Names of stored secrets that the program gets as variables.',
  },
  session: {
    deadline: 'No grant outlives this time: 15m, 8h or 30d.',
    mode: 'How far listed caps go without a person: plan, supervised, cautious or autonomous.',
    caps: 'What a session has from the start, by name.',
    ask: 'What a session gets after a person said yes, by name.',
    deny: 'Names of caps that do not exist here, whatever a layer says.',
  },
  cap: {
    fs: 'A directory: ROOT, or ROOT/folder.',
    can: 'What the holder may do there: read, list, search, write, remove.',
    except: 'Patterns of gitignore. Names that match do not exist for the holder.',
    own: 'true: the session changes and removes without a question what it made itself: files, or what a POST made. What others made still asks.',
    command: 'A program that runs in the sandbox: a name on PATH, or an absolute path.',
    cwd: 'A directory of a root, where the program runs. The program sees it.',
    reads: 'true: the program sees every directory to read only.',
    argv: 'The forms of arguments that the program may be called with. Each row is a list of words; [] is no arguments.',
    deny: 'Beginnings of arguments that are taken out of argv.',
    mounts: 'Names of directory caps that the program sees.',
    net: 'Names of caps with host, unix or forward that the program reaches. none, or left out: no network.',
    match: 'Commands that have to run. They are compared and never executed.',
    not_match: 'Commands that no cap of the whole plan may run. They are compared and never executed.',
    shell: 'sandbox: any program may run, in the sandbox.',
    http: 'An origin, and a path that ends in /.',
    methods: 'The methods that may be sent: GET, HEAD, POST, PUT, PATCH, DELETE.',
    auth: 'Where the secret goes. Without it: into the header Authorization, as a bearer token.',
    headers: 'Headers that may be sent beside the usual ones.',
    addresses: 'Addresses and ranges that are reached although they are not public: 127.0.0.1, 10.1.0.0/16.',
    secret: 'The name of a stored secret. The session never sees its value.',
    ca: 'The name of stored certificates (PEM) that are trusted instead of the usual ones.',
    client: 'The names of a stored certificate and of its stored key. The host shows it, and nobody reads the key.',
    proxy: 'A proxy that opens a tunnel to the origin.',
    host: 'A host that programs reach which name this cap in net.',
    port: 'Its port. Without it: 443.',
    tls: 'false: connections need not be TLS that names the host.',
    unix: 'A Unix socket of this machine that programs reach which name this cap in net.',
    at: 'The path at which programs see it. Without it: /run/NAME.sock.',
    forward: 'An origin, and a path that ends in /. The host sends the requests of programs that name this cap in net.',
    sign: 'A stored key that signs: ed25519 or hmac-sha256.',
    context: 'A text that goes before each text that is signed.',
    mcp: 'The name of a server.',
    tools: 'The names of the tools that may be called. Each is a cap of its own.',
    where: 'What each argument of a call may be, by name. An argument that is not named is refused.',
    message: 'One recipient, as channel:recipient.',
    schedule: 'The name of the agent that is started for each run.',
    gives: 'Names of the caps that a run holds. It holds nothing else.',
    shortest: 'The shortest time between two runs of one task. Without it: 1m.',
    missed: 'late: a run whose time passed runs once, as soon as possible. never: not at all. Without it: late.',
    zone: 'The time zone of cron lines: Europe/Berlin. Without it: UTC.',
    lasts: 'How long a run may last. Without it: 1h.',
    uses: 'How many calls, at most. Of a schedule: how many runs.',
    for: 'How long, from the grant on: 15m, 8h or 30d.',
    until: 'The last day, or the last moment: 2027-01-31, or 2027-01-31T18:00:00Z.',
    needs: 'passkey: a person answers with a passkey.',
    always_human:
      'true: a person answers each call, in every mode. No judge, and no answer for several requests at once.',
    level: 'With a firewall that enforces: calls of a higher risk wait for a person. low, medium or high.',
    sensitivity: 'For the firewall: how much depends on what the cap leads to. scratch, ordinary or high.',
    offer: 'The terms that the question proposes. Without it: this one call.',
  },
  bound: {
    is: 'Exactly this data.',
    oneOf: 'One of these values.',
    min: 'A number of at least this.',
    max: 'A number of at most this.',
    beneath: 'A path in ROOT or ROOT/folder, as the server sees it: /ROOT/folder.',
    like: 'A text like this template: Dinner at {restaurant}. A hole is {name}, or {name:PATTERN} with an RE2 pattern.',
    optional: 'Such a value, or none.',
    fields: 'A record with these fields and no others.',
    any: 'true: any value, or none.',
  },
  auth: {
    header: 'The name of the header whose value is the secret.',
    basic: 'The name of the user. The secret is the password.',
    query: 'The name of the parameter of the query.',
  },
  client: {
    cert: 'The name of the stored certificate, in PEM.',
    key: 'The name of its stored private key, in PEM.',
  },
  proxy: {
    origin: 'The address of the proxy: http://proxy.example:3128',
    secret: 'The name of the stored value of proxy-authorization.',
    names: 'proxy: the proxy looks up the name, and no address is judged here. Without it: here.',
  },
  offer: {
    uses: 'How many calls the question proposes.',
    for: 'How long the question proposes: 15m, 8h or 30d.',
    until: 'Until when the question proposes: 2027-01-31.',
  },
  child: { give: 'Names of caps that the child gets; NAME.readonly is the part that reads.' },
  judge: {
    may: 'propose, refuse, or both.',
    model: 'The name of the model.',
    api: 'The form in which its server is asked: openai (chat completions) or anthropic (messages).',
    url: 'The address of its server: https://api.example.com/v1',
    secret: 'The name of the secret that is its key.',
    timeout: 'How long it may take for a request: 20s.',
  },
  ledger: {
    path: 'A folder for a copy of the ledger, outside of every root.',
    keep: 'How long lines stay in the state: 90d.',
    redact: 'secrets: no value of a secret is in it. This holds anyway.',
  },
  firewall: {
    mode: 'observe: only messages about a person in danger wait. enforce: what is risky or unclear waits, too.',
    hooks: 'Programs that look at calls and answers, by name. They run in the sandbox, and only make stricter.',
    review: 'Directory caps whose writes and edits go on at once under enforce, and are shown to a person afterwards.',
    guardrails: 'When a model that goes round in circles is warned, and when it is stopped.',
  },
  guardrails: {
    exact_failure: 'A method that fails again with the same arguments and the same error.',
    same_method: 'A method that fails again, whatever its arguments.',
    same_result: 'A method that changes nothing, and has the same result for the same arguments.',
  },
  guardrail: {
    warn: 'The call of this number is the first one with a warning.',
    stop: 'So many calls run, and the next one is stopped.',
  },
  hook: {
    program: 'The file of the program.',
    sha256: 'The SHA-256 of the file. Another file is not run, and what it looks at is blocked.',
    on: 'When it runs, and in whose words: pre_call, post_call, pre_tool_call (Hermes) or PreToolUse (Claude Code).',
    caps: 'The caps that it looks at. Without it: all.',
    methods: 'The methods that it looks at. Without it: all.',
    within: 'How long it may take. Without it: 5s.',
  },
  a2a: {
    name: 'The name of the agent. HOB_AGENT_NAME and AGENT_NAME come before it. Without any: the name of the machine.',
    description: 'What the agent is for.',
    version: 'The version of the agent. Without it: 1.',
    url: 'Where the agent takes tasks: https://agent.example.com/a2a',
    skills: 'Folders of skills, each of which has a SKILL.md.',
    disabled: 'Names of skills that are not on the card.',
    provider: 'Who runs the agent.',
    serve: 'true: everybody who reaches the door of the host reads the card at /.well-known/agent-card.json.',
    key: 'The name of a stored private key (PEM) that signs the card: ed25519, or EC on P-256 or P-384.',
    peers: 'The agents that may send tasks, by name. Without it the host takes none.',
  },
  peer: {
    key: 'Its public key, which hob card --public-key prints. It signs its requests with the private half.',
    gives: 'Caps of the session that each of its tasks holds. Without it: none.',
    asks: 'Caps of the session that a task may use after a person has said yes to the call. Without it: none.',
    agent: 'An agent of this manifest, which works on tasks in words. Without it a task is a call.',
    lasts: 'How long a task may take, at most 1d. Without it: 1h.',
  },
  publicKey: {
    kty: 'OKP (Ed25519) or EC.',
    crv: 'Ed25519, P-256 or P-384.',
    x: 'The point of the key.',
    y: 'The other part of the point, of an EC key.',
    alg: 'The algorithm. It follows from crv.',
    use: 'sig. It is not looked at.',
    kid: 'Its thumbprint. It is computed anew.',
  },
  chat: {
    telegram: 'The name of the secret with the token of a bot of Telegram.',
    user: 'The number of the person, who has written to the bot.',
    api: 'The address of the bot API, if it is not the usual one.',
    webhook: 'Where requests are posted, signed.',
    secret: 'The name of the secret with the key of the webhook: whsec_ and base64.',
    sender: 'Whose answers count, as the program behind the webhook names them.',
    granter: 'The granter whose requests are shown, and in whose name they are answered. Without it: the first one.',
  },
  provider: { organization: 'The name of who runs it.', url: 'The address of its site.' },
};

const NEXT: Readonly<Record<string, Part>> = {
  roots: 'root',
  servers: 'server',
  effects: 'effect',
  channels: 'channel',
  agents: 'agent',
  session: 'session',
  caps: 'cap',
  ask: 'cap',
  auth: 'auth',
  client: 'client',
  proxy: 'proxy',
  offer: 'offer',
  where: 'bound',
  children: 'child',
  judge: 'judge',
  ledger: 'ledger',
  firewall: 'firewall',
  guardrails: 'guardrails',
  exact_failure: 'guardrail',
  same_method: 'guardrail',
  same_result: 'guardrail',
  hooks: 'hook',
  a2a: 'a2a',
  chats: 'chat',
  peers: 'peer',
  key: 'publicKey',
  provider: 'provider',
};

type Schema = Readonly<Record<string, unknown>>;

/** The same JSON Schema with a description for each key. */
export function described(schema: Schema, part: Part = 'file'): Schema {
  const entries = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    // The only part of the schema that contains itself.
    if (keyword === '$defs') return [keyword, inner(value, 'bound')];
    if (keyword !== 'properties')
      return [keyword, Array.isArray(value) ? value.map((one) => inner(one, part)) : inner(value, part)];
    const keys = Object.entries(value as Readonly<Record<string, Schema>>).map(([key, one]) => {
      const about = ABOUT[part][key];
      return [key, { ...(about === undefined ? {} : { description: about }), ...described(one, nextOf(part, key)) }];
    });
    return [keyword, Object.fromEntries(keys)];
  });
  return Object.fromEntries(entries);
}

/** The roots of a server are a list of names, and no records. */
const nextOf = (part: Part, key: string): Part =>
  ['file', 'session', 'firewall', 'guardrails', 'a2a', 'peer'].includes(part) ||
  ['offer', 'where', 'auth', 'client', 'proxy', 'effects', 'provider'].includes(key)
    ? (NEXT[key] ?? part)
    : part;

const inner = (value: unknown, part: Part): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? described(value as Schema, part) : value;

/** The keys of each kind of record in a schema. */
export function keysOf(
  schema: Schema,
  part: Part = 'file',
  found: Map<Part, Set<string>> = new Map(),
): ReadonlyMap<Part, ReadonlySet<string>> {
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'properties')
      for (const [key, one] of Object.entries(value as Readonly<Record<string, Schema>>)) {
        found.set(part, (found.get(part) ?? new Set()).add(key));
        keysOf(one, nextOf(part, key), found);
      }
    else if (keyword === '$defs') keysOf(value as Schema, 'bound', found);
    else
      for (const one of Array.isArray(value) ? value : [value])
        if (typeof one === 'object' && one !== null) keysOf(one as Schema, part, found);
  }
  return found;
}
