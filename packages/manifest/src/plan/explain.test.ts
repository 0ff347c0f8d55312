/** A plan in plain words. */
import { expect, test } from 'vitest';
import { check, explain, type Plan } from '../index.ts';

const explained = (session: string): ReturnType<typeof explain> => {
  const text = `version: 1\nroots: { project: "." }\nservers: { linear: { url: "https://m.example/" } }\nchannels: { mail: { smtp: "m.example:465", from: a@b } }\nsession:\n${session}`;
  const { plan } = check([{ layer: 'project', file: 'f', text }], { now: 0 });
  return explain(plan as Plan, (ms) => new Date(ms).toISOString().slice(0, 10));
};

test('each cap says what it does, when a person is asked, and what it is only as strong as', () => {
  const { caps } = explained(`
  caps:
    src: { fs: project/src, can: [read, list, write, remove] }
    docs: { fs: project, can: [read, write, remove], except: [".env*"], uses: 5 }
    git: { command: git, cwd: project, argv: [[log|diff, flags(git.read)], [add, path(src)]] }
    id:  { command: id, argv: [[me]], until: 2031-02-03 }
    gh:  { http: "https://h.example/a/", methods: [GET, POST], secret: TOKEN }
    jira: { http: "https://j.example/", methods: [GET], secret: KEY, auth: { basic: ann }, headers: [X-Trace], addresses: [10.0.0.0/8], always_human: true }
    is:  { mcp: linear, tools: [get_issue] }
  ask:
    sh:  { shell: sandbox, mounts: [src], offer: { uses: 1, for: 15m } }
    all: { message: "mail:ann@h.example", always_human: true }`);
  const said = Object.fromEntries(caps.map(({ cap, ...rest }) => [cap, rest]));
  expect(said).toEqual({
    src: expect.anything(),
    docs: {
      does: 'may read, remove, write beneath project, except ".env*"',
      when: 'without a question; remove waits for a person, 5 uses',
      weakest: 'the directory itself: links and mounts do not lead out of it',
    },
    git: {
      does: 'may run git (log|diff) <flags of git.read>; git add <path in src>, in project',
      when: 'without a question',
      weakest: expect.stringContaining(
        'exactly as strong as the sandbox. It may change all of project, src. It has no',
      ),
    },
    id: {
      does: 'may run id me',
      when: 'without a question, until 2031-02-03',
      weakest: 'the sandbox. It changes no file that lasts. It has no network.',
    },
    gh: {
      does: 'may send GET, POST to https://h.example/a/, with the secret TOKEN',
      when: 'GET: without a question; POST: each call waits for a person',
      weakest: expect.stringMatching(/^the server behind that prefix\. A session can tell it/),
    },
    jira: {
      does: 'may send GET to https://j.example/, with the secret KEY as the password of "ann", with the headers x-trace, also where it leads to 10.0.0.0/8',
      when: 'each call waits for a person',
      weakest: expect.any(String),
    },
    is: {
      does: 'may call "get_issue" of the server linear',
      when: 'each call waits for a person',
      weakest: expect.any(String),
    },
    sh: {
      does: 'may run any program, with src',
      when: 'after a person said yes (the question offers one use, for 15 minutes)',
      weakest: expect.stringContaining('exactly as strong as the sandbox'),
    },
    all: {
      does: 'may send messages to "mail:ann@h.example"',
      when: 'each message waits for a person',
      weakest: 'the recipient',
    },
  });
});

test('a program over directories is said to be as strong as its sandbox, and one that only reads changes nothing', () => {
  const { caps } = explained(`
  mode: supervised
  caps:
    docs: { fs: project, can: [read, list] }
    git:  { command: git, cwd: project, argv: [[log, flags(git.read)], [commit, -m, text]] }
    log:  { command: git, cwd: project, argv: [[log, flags(git.read)]] }
    test: { command: npm, cwd: project, reads: true, argv: [[test]] }
    make: { command: make, cwd: project, mounts: [docs], argv: [[all]] }
    sh:   { shell: sandbox, cwd: project/a, mounts: [docs] }`);
  const said = Object.fromEntries(caps.map(({ cap, ...rest }) => [cap, rest]));
  expect(said['git']?.when).toBe('each call waits for a person');
  expect(said['log']?.when).toBe('without a question');
  expect(said['git']?.weakest).toContain('It may change all of project.');
  for (const name of ['log', 'test', 'make', 'sh'])
    expect(said[name]).toMatchObject({
      when: 'without a question',
      weakest: expect.stringMatching(/exactly as strong as the sandbox.*It changes no file that lasts/),
    });
});

test('no hidden sign of a manifest reaches the words', () => {
  const { caps } = explained('  caps: { x: { command: "/bin/a\\u202e", argv: [["b\\u202e"]] } }');
  expect(caps[0]?.does).toBe('may run /bin/a\\u202e b\\u202e');
});

test('it says what the session can never do', () => {
  expect(explained('  caps: { docs: { fs: project, can: [read] } }').never).toEqual([
    'read a file outside the directories above',
    'change a file',
    'run a program',
    'reach a network address',
    'send a message',
    'make a cap that is not listed, or make a listed one wider',
  ]);
  expect(explained('  caps: {}').never).toContain('read a file');
});

test('a mode shows in the words', () => {
  const when = (mode: string): string | undefined =>
    explained(`  mode: ${mode}\n  caps: { src: { fs: project, can: [read, write] } }`).caps[0]?.when;
  expect(['plan', 'supervised', 'cautious', 'autonomous'].map(when)).toEqual([
    'without a question; write becomes a draft',
    'without a question; write waits for a person',
    'without a question',
    'without a question',
  ]);
});

test('under an enforcing firewall it says what each tool of a server is taken for, and the check names the silent ones', () => {
  const said = (firewall: string, effects: string) => {
    const text = `version: 1\n${firewall}servers: { linear: { url: "https://m.example/"${effects} } }\nsession:\n  mode: autonomous\n  caps: { is: { mcp: linear, tools: [get, close, merge] } }\n`;
    const { plan, mistakes } = check([{ layer: 'project', file: 'f', text }], { now: 0 });
    return { when: explain(plan as Plan, String).caps[0]?.when, mistakes: mistakes.map(({ severity, wrong }) => [severity, wrong]) }; // biome-ignore format: one line
  };
  const enforce = 'firewall: { mode: enforce }\n';
  expect(
    said(enforce, ', effects: { get: { class: A, outbound: false }, close: { class: C, undo: impossible } }'),
  ).toEqual({
    when: 'without a question; the firewall lets calls of medium risk go on at the most; close has an effect outside, cannot be undone; get reads, tells nobody outside; merge may do anything, so each call waits',
    mistakes: [['warning', expect.stringContaining('nobody says what merge does')]],
  });
  expect(said('', '')).toEqual({ when: 'without a question', mistakes: [] });
  expect(said('firewall: { mode: observe }\n', '').mistakes).toEqual([]);
});
