/**
 * Runs an agent host in a box: the daemon starts it in the sandbox, and this end has its doors, keys and terminal.
 *
 * Promise: the box has no key and no secret. A text stands there for each key, and the relay puts the key in its place.
 * The secret of the session stays with `hob mcp`, which runs out here and speaks through a door. Nothing runs outside of
 * the sandbox in place of the box.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, realpathSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { basename, dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SentJob } from '@hob/caps-shell';
import { openSecretFile } from '@hob/host/programs';
import { E, type Far, iterate } from '@hob/vat';
import { type Box, type BoxOrder, DOORS, HOME } from '../../daemon/box.ts';
import { machine } from '../../drivers/machine.ts';
import { absolute } from '../../drivers/places.ts';
import { Mistake } from '../../line/mistake.ts';
import { toolsOfProvider } from '../offered-tools.ts';
import { foreignTo, type Recipe } from '../recipe.ts';
import type { Entry } from './inside/enter.ts';
import { makeFiles } from './made.ts';
import { openRelay } from './relay.ts';
import { FOREIGN_TOOL, newFolder, type RecipeRun, refusal, removeFolder, writeFiles } from './run.ts';
import { carryTerminal } from './terminal.ts';

interface BoxRun extends RecipeRun {
  readonly box: Far<Box>;
  /** Whether the host keeps its own tools. Otherwise its recipe holds in the box, too, and it sees no directory. */
  readonly ownTools: boolean;
}

/** The model's address in the box. Its loopback is its own, so every port is free. */
const PORT = 4180;
/** The places of our own programs and of the host's in the box. */
const OURS = '/opt/hob/box';
const CODE = '/opt/hob/agent';
const NODE = '/opt/hob/bin/node';
const MOST_SERVERS = 16;
/** Without a terminal a program in a box gets these variables, and PATH is the box's. */
const PASSED: readonly string[] = ['TERM', 'COLORTERM', 'NO_COLOR', 'TZ', 'LANG', 'LC_ALL', 'LC_CTYPE', 'LC_MESSAGES'];

/** A host that runs in its box. */
interface BoxedHost {
  readonly job: Far<SentJob>;
  /** The directories that it sees, by their places in the box. */
  readonly rights: Readonly<Record<string, 'ro' | 'rw'>>;
  /** For the person, if it offered its model a foreign tool. */
  refused(): string | undefined;
  /** Ends it. */
  close(): Promise<void>;
}

/** Returns the host's exit code, or `FOREIGN_TOOL`. Errors: `Mistake`, and those of the sandbox. */
export async function runBoxed(recipe: Recipe, run: BoxRun): Promise<number> {
  const doors = process.stdin.isTTY && process.stdout.isTTY ? carryTerminal : undefined;
  const { job, enter, refused, close } = await startBoxed(recipe, run, doors);
  try {
    const code = await carried(job, enter);
    const why = refused();
    if (why === undefined) return code;
    run.say(why);
    return FOREIGN_TOOL;
  } finally {
    await close();
  }
}

/** Starts it. `terminal` carries a terminal through a door. Errors: `Mistake`, and those of the sandbox. */
export async function startBoxed(
  recipe: Recipe,
  run: BoxRun,
  carry?: typeof carryTerminal,
): Promise<BoxedHost & { readonly enter: (() => () => void) | undefined }> {
  const { ownTools, say, modelName = 'default' } = run;
  const folder = newFolder(run.state);
  const [home, doors] = [join(folder, 'home'), join(folder, 'doors')];
  const keys = standIns(recipe.keys);
  let job: Far<SentJob> | undefined;
  let foreign: readonly string[] | undefined;
  const kill = (): void => void (job && E(job).signal('KILL').catch(() => {})); // biome-ignore format: one line
  const closing: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    kill();
    for (const each of closing.reverse()) await each();
    removeFolder(folder);
  };
  try {
    for (const made of [home, join(home, 'tmp'), doors]) mkdirSync(made, { mode: 0o700 });
    const relay = await openRelay({
      upstream: run.upstream,
      wire: recipe.wire,
      ...(ownTools
        ? { foreignIn: toolsOfProvider }
        : { foreignIn: foreignTo(recipe, run.verbs), onForeign: (tools: readonly string[]) => { foreign = tools; kill(); } }), // biome-ignore format: one line
      say,
      socket: { path: socketIn(doors, 'model'), host: `127.0.0.1:${PORT}` },
      keys: new Map(Object.values(keys).map(({ standIn, key }) => [standIn, key])),
    });
    closing.push(() => relay.close());
    const secretFile = join(folder, 'session');
    openSecretFile(secretFile).write(run.entry.secret);
    const server = [...run.server, '--url', run.entry.url, '--secret-file', secretFile];
    closing.push(await openServerDoor(socketIn(doors, 'hob'), server));
    const terminal = await carry?.(socketIn(doors, 'terminal'));
    if (terminal !== undefined) closing.push(terminal.close);
    const places = { home: HOME, start: '/', model: relay.url, modelName, server: [NODE, ...QUIET, `${OURS}/${basename(ours('door'))}`, `${DOORS}/hob`] }; // biome-ignore format: one line
    const setUp = (ownTools ? recipe.setUpInBox : recipe.setUp)?.(places);
    if (setUp === undefined) throw new Mistake(`there is no box for ${recipe.program}`, 2);
    const [word = '', ...rest] = run.words;
    const found = programAt(word);
    const empty = { HOME: join(folder, 'made'), TMPDIR: join(folder, 'made'), PATH: process.env['PATH'] };
    if (!ownTools) {
      mkdirSync(empty.HOME, { mode: 0o700 });
      writeFiles(home, await makeFiles(recipe, { program: word, modelName, cwd: empty.HOME, env: empty }));
    }
    writeFiles(home, setUp.files);
    const entry: Entry = {
      program: found.inside,
      args: [...setUp.args, ...rest],
      model: { port: PORT, door: `${DOORS}/model` },
      ...(terminal === undefined ? {} : { terminal: { ...terminal.size, door: `${DOORS}/terminal` } }),
    };
    const order: BoxOrder = {
      run: basename(folder),
      trees: { [OURS]: dirname(ours('enter')), ...found.trees },
      program: process.execPath,
      args: [...QUIET, `${OURS}/${basename(ours('enter'))}`, JSON.stringify(entry)],
      env: { ...variables(keys), ...setUp.env },
      sees: ownTools ? 'directories' : 'nothing',
    };
    const started = await E(run.box).start(order);
    job = started.job;
    for (const line of told(started.rights, started.left, ownTools)) say(line);
    return {
      ...{ job, rights: started.rights, enter: terminal?.enter, close },
      refused: () => (foreign === undefined ? undefined : refusal(recipe, foreign)),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Our own programs run without a package.json beside them. */
const QUIET: readonly string[] = [
  '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON',
  '--disable-warning=ExperimentalWarning',
];

/** `.ts` in a checkout, `.js` in a package. */
function ours(name: 'enter' | 'door'): string {
  return fileURLToPath(name === 'enter' ? new URL('./inside/enter.ts', import.meta.url) : new URL('./inside/door.ts', import.meta.url)); // biome-ignore format: one line
}

function told(
  rights: Readonly<Record<string, 'ro' | 'rw'>>,
  left: readonly string[],
  ownTools: boolean,
): readonly string[] {
  const seen = Object.entries(rights).map(([at, right]) => (right === 'rw' ? at : `${at} (read-only)`));
  const world = seen.length === 0 ? 'no directory' : seen.join(', ');
  return [
    `hob: the box sees ${world}, its own home, its model and Hob`,
    ...left.map((line) => `hob: ${line}`),
    ...(ownTools && seen.length === 0 ? ['hob: give the session a directory to have it in the box: a cap with fs, read and list'] : []), // biome-ignore format: one line
  ];
}

/** The variables of a host in a box, with what stands for its keys. */
const variables = (keys: ReturnType<typeof standIns>): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(PASSED.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]))), // biome-ignore format: one line
  ...Object.fromEntries(Object.entries(keys).map(([name, { standIn }]) => [name, standIn])),
  ...{ HOME, TMPDIR: `${HOME}/tmp` },
});

/** A text of the same use for each key that the person has. */
function standIns(
  names: readonly string[],
): Readonly<Record<string, { readonly standIn: string; readonly key: string }>> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const key = process.env[name];
      return key === undefined || key === ''
        ? []
        : [[name, { standIn: `hob-${randomBytes(24).toString('base64url')}`, key }]];
    }),
  );
}

/** Where the program is in the box, with the directories of its code. Errors: `Mistake`. */
function programAt(word: string): { readonly inside: string; readonly trees: Readonly<Record<string, string>> } {
  const path = machine.findProgram(word.includes(sep) ? absolute(word) : word);
  if (path === undefined)
    throw new Mistake(`the agent ${JSON.stringify(word)} cannot be run (ENOENT): name a program that is there`);
  const real = realpathSync(path);
  if (/^\/(?:usr|bin|sbin|lib|lib32|lib64|libx32)\//.test(real)) return { inside: real, trees: {} };
  const parts = real.split(sep);
  const modules = parts.indexOf('node_modules');
  // A package finds others beside it.
  if (modules > 0) {
    const inside = `${CODE}/${parts.slice(modules).join('/')}`;
    return { inside, trees: { [`${CODE}/node_modules`]: parts.slice(0, modules + 1).join(sep) } };
  }
  const inside = `${CODE}/${basename(real)}`;
  return { inside, trees: { [inside]: real } };
}

function socketIn(folder: string, name: string): string {
  const path = join(folder, name);
  // The kernel takes 107 bytes.
  if (Buffer.byteLength(path) > 107) throw new Mistake('the path of the state is too long for a socket: name another with --state'); // biome-ignore format: one line
  return path;
}

/** Each connection gets an MCP server of its own, which runs out here. Resolves with what shuts it. */
async function openServerDoor(path: string, [program = '', ...args]: readonly string[]): Promise<() => Promise<void>> {
  const open = new Set<() => void>();
  const server: Server = createServer((socket: Socket) => {
    if (open.size >= MOST_SERVERS) return void socket.destroy();
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'], env: {} });
    const shut = (): void => {
      open.delete(shut);
      socket.destroy();
      child.stdin?.destroy();
      child.kill('SIGTERM');
    };
    open.add(shut);
    child.on('error', shut).on('exit', shut);
    // Undefined if this process has no descriptors left. The event `error` follows.
    if (child.stdio === undefined) return;
    child.stdin.on('error', shut);
    socket.on('error', shut).on('close', shut);
    socket.pipe(child.stdin);
    child.stdout.pipe(socket);
  });
  await new Promise<void>((done, fail) => server.once('error', fail).listen(path, done));
  return () =>
    new Promise((done) => {
      server.close(() => done());
      for (const shut of open) shut();
    });
}

/** Carries the streams of the job until its end. Returns its status. */
async function carried(job: Far<SentJob>, enter: (() => () => void) | undefined): Promise<number> {
  const leave = enter?.() ?? (() => {});
  const signals = [['SIGINT', 'INT'], ['SIGTERM', 'TERM'], ['SIGHUP', 'HUP']] as const; // biome-ignore format: one line
  const passes = signals.map(
    ([name, signal]) =>
      [
        name,
        () =>
          void E(job)
            .signal(signal)
            .catch(() => {}),
      ] as const,
  );
  for (const [name, pass] of passes) process.on(name, pass);
  const typed = (chunk: Buffer): void => {
    process.stdin.pause();
    E(job).write(new Uint8Array(chunk)).then(() => process.stdin.resume(), () => {}); // biome-ignore format: one line
  };
  const over = (): void =>
    void E(job)
      .end()
      .catch(() => {});
  process.stdin.on('data', typed).once('end', over);
  const out = async (source: Promise<unknown>, to: NodeJS.WriteStream): Promise<void> => {
    for await (const chunk of iterate((await source) as Far<never>)) if (!to.write(chunk)) await new Promise<void>((done) => to.once('drain', done)); // biome-ignore format: one line
  };
  try {
    await Promise.all([out(E(job).stdout(), process.stdout), out(E(job).stderr(), process.stderr)]);
    return (await E(job).wait()).status;
  } finally {
    process.stdin.off('data', typed).off('end', over).pause();
    for (const [name, pass] of passes) process.off(name, pass);
    leave();
  }
}
