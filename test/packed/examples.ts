/**
 * Each TypeScript example of the READMEs as a program that runs, with what it prints.
 *
 * Most are whole programs. Of a few a README shows the part that matters: the text around it is here.
 */
import { certificate } from '../certificate.ts';
import type { Need } from '../probes.ts';
import { blocks } from '../readme.ts';
import { filesIn, read } from '../sources.ts';

export interface Example {
  /** `packages/vat/README.md 2`: the second example of that page. */
  readonly name: string;
  readonly program: string;
  /** Its output, without regard to line breaks. */
  readonly prints: string | RegExp;
  readonly needs: readonly Need[];
}

interface Setting {
  readonly page: string;
  /** Text of the example that it is for, and of no other one. */
  readonly has: string;
  /** The whole program. `others` are all examples of the page. */
  readonly whole?: (example: string, others: readonly string[]) => string;
  /** Without it: the block `text` that follows, or else what stands in the comments behind `console.log`. */
  readonly prints?: string | RegExp;
  readonly needs?: readonly Need[];
}

const sandbox: readonly Need[] = ['linux', 'userns', 'zig'];
const HOST_PAGE = 'packages/host/README.md';

/** A host with a session and its granter, on a directory that has `notes.txt` and `a.txt`. */
const inHost = (body: string, imports = ''): string => `
import '@hob/host/lockdown';
import { mkdtemp } from 'node:fs/promises';
import { openFsCap, type FsCap } from '@hob/caps-fs';
import { openHost, type SessionFace } from '@hob/host';
import { connect, driverOf, E } from '@hob/vat';
${imports}
const files = await openFsCap(await mkdtemp('/tmp/example-'));
await files.write('notes.txt', 'the notes');
await files.write('a.txt', 'the text');
const host = await openHost({ stateDir: './hob-state' });
await host.offer('notes', driverOf(files));
const { granter } = await host.addGranter('alice');
const session = await host.openSession({ name: 'demo', granters: ['alice'] });
const { url } = await host.serve();
${body}
await host.close();
await files.close();`;

/** The object that the example calls `session` is the one that an agent gets by entering. */
const asAgent = (example: string): string => `
const connection = await connect<any>(url, { secret: session.secret });
const agent = (async (session: any) => {
${example}
})(connection.bootstrap);`;

const GUESTS = `
import { spawnConfined } from '@hob/caps-shell';
import { openGuests } from '@hob/guest';`;
const GRANTED = "await E(granter).grant(session.id, 'workspace', 'notes', { uses: 5, for: 60_000 });";

const SETTINGS: readonly Setting[] = [
  { page: 'README.md', has: 'openFsCap', needs: ['linux'] },
  {
    page: 'packages/caps-fs/README.md',
    has: 'skills/reading',
    prints: 'Read slowly. PATH_ESCAPES - path escapes PATH_ABSOLUTE - absolute paths forbidden',
    needs: ['linux'],
  },
  { page: 'packages/caps-shell/README.md', has: 'makeShellCap', needs: sandbox },
  { page: 'packages/caps-shell/README.md', has: 'makeCommandCap', needs: sandbox },
  { page: 'packages/guest/README.md', has: 'guests.evaluate', needs: sandbox },
  { page: 'packages/caps-net/README.md', has: 'makeNetCap({', needs: sandbox },
  { page: 'packages/caps-net/README.md', has: 'makeForwardCap({', needs: sandbox },
  { page: 'packages/mcp/README.md', has: 'openServer({', needs: sandbox },
  { page: HOST_PAGE, has: "host.offer('clock'", prints: /^\[ 'time' \] ws:\/\/127\.0\.0\.1:\d+\/?$/ },
  {
    page: HOST_PAGE,
    has: "asks: 'notes'",
    whole: (example) =>
      inHost(`${asAgent(`${example}\nconsole.log(await E(notes).readText('a.txt'));`)}
while ((await E(granter).inbox()).length === 0) await new Promise((done) => setTimeout(done, 10));
for (const { id, digest } of await E(granter).inbox()) await E(granter).answer(id, { grant: { uses: 5 }, digest });
await agent;
await connection.close();`),
    prints: 'the text',
    needs: ['linux'],
  },
  {
    page: HOST_PAGE,
    has: 'openOtherHost(',
    whole: (example) => {
      const here = example.replace("'wss://alpha.example.org:7710', secret", 'url, secret: session.secret');
      return inHost(
        `await E(granter).grant(session.id, 'notes', 'notes', { scope: 'permanent' });
const beta = await openHost({ stateDir: './beta-state' });
${here.replace('await host.offer', 'await beta.offer')}
console.log(alpha.connected);
await alpha.close();
await beta.close();`,
        "import { readingMethods } from '@hob/caps-fs';\nimport { openOtherHost } from '@hob/host';",
      );
    },
    prints: 'true',
    needs: ['linux'],
  },
  {
    page: HOST_PAGE,
    has: 'host.offerCode',
    whole: (example) => inHost(`${example}\nconsole.log(await session.caps());`, GUESTS),
    prints: "[ 'code' ]",
    needs: sandbox,
  },
  {
    page: HOST_PAGE,
    has: 'E(code).run',
    whole: (example, others) =>
      inHost(
        `await files.write('README.md', 'x');
${GRANTED}
${others.find((other) => other.includes('host.offerCode'))}
interface Code { types(): string; run(source: string, options: object): any }
${asAgent(example)}
await agent;
await connection.close();`,
        GUESTS,
      ),
    prints: /declare const workspace: .* 1$/,
    needs: sandbox,
  },
  {
    page: HOST_PAGE,
    has: 'secret: sturdyref',
    whole: (example) =>
      inHost(`${GRANTED}
const { sturdyref } = await E(granter).mint(session.id, 'workspace', { uses: 2 });
${example}`),
    prints: 'the notes',
    needs: ['linux'],
  },
  {
    page: HOST_PAGE,
    has: "cap<FsCap>('workspace')",
    whole: (example) => inHost(`${GRANTED}\nconst { secret } = session;\n${example}`),
    prints: 'the notes',
    needs: ['linux'],
  },
  { page: 'packages/manifest/README.md', has: 'decide(plan', prints: 'runs absent' },
  // There may be a server.
  {
    page: 'packages/store-postgres/README.md',
    has: 'postgresStore',
    prints: /^(?:the database server|there is no database)/,
  },
  {
    page: 'packages/cluster/README.md',
    has: 'addTenant',
    prints: /^(?:the database server|there is no database)/,
  },
  {
    page: 'packages/cluster/README.md',
    has: 'openLink(',
    whole: (example) => {
      const local = example
        .replaceAll(/'10\.0\.0\.1'|'0\.0\.0\.0'/g, "'127.0.0.1'")
        .replaceAll(/port: \d+/g, 'port: 0');
      return `
import '@hob/host/lockdown';
import { type Cluster, openLink, routesOf } from '@hob/cluster';
import { openFrontDoor } from '@hob/host';
const { key, cert } = ${JSON.stringify(certificate('alpha'))};
const [tls, beta, gamma] = [{ key, cert }, ${['beta', 'gamma'].map((name) => JSON.stringify(certificate(name).cert))}];
${local}
console.log(front.url);
await front.close();
await link.close();`;
    },
    prints: /^wss:/,
  },
  {
    page: HOST_PAGE,
    has: 'openFrontDoor({ port: 7710 })',
    whole: (example) => `
import '@hob/host/lockdown';
import { openFrontDoor, openHost } from '@hob/host';
const acme = await openHost({ stateDir: './acme' });
const globex = await openHost({ stateDir: './globex' });
${example.replace('7710', '0')}
console.log(front.url);
for (const open of [front, acme, globex]) await open.close();`,
    prints: /^ws:/,
  },
  {
    // It stands in place of the end of the page's first example.
    page: 'packages/vat/README.md',
    has: 'openStore',
    whole: (lasting, [bank = '']) => bank.slice(0, bank.indexOf('const vats')) + lasting,
    prints: 'alice 90 bob 30',
  },
];

const pages: readonly string[] = filesIn().filter((file) => /^(?:packages\/[^/]+\/)?README\.md$/.test(file));

const settingOf = (page: string, example: string): Setting | undefined =>
  SETTINGS.find((setting) => setting.page === page && example.includes(setting.has));

export const examples: readonly Example[] = pages.flatMap((page) => {
  const { text } = read(page);
  const all = blocks(text, 'ts');
  return all.map((example, n): Example => {
    const { whole, prints = printsOf(text, example), needs = [] } = settingOf(page, example) ?? {};
    return { name: `${page} ${n + 1}`, program: whole?.(example, all) ?? example, prints, needs };
  });
});

/** Settings that are not for exactly one example: the page has changed. */
export const left: readonly string[] = SETTINGS.filter(
  ({ page, has }) => blocks(read(page).text, 'ts').filter((example) => example.includes(has)).length !== 1,
).map(({ page, has }) => `${page}: ${has}`);

function printsOf(page: string, example: string): string {
  const rest = page.slice(page.indexOf(example) + example.length);
  const upToNext = rest.split(/^```ts$/m, 1)[0] as string;
  const [text] = blocks(upToNext, 'text');
  return text ?? [...example.matchAll(/console\.log\(.*\/\/ (.*)$/gm)].map((match) => match[1]).join(' ');
}
