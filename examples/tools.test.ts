/**
 * Each shape of `@hob/tools` with the real package that it is for, and a model on loopback that says what the test
 * tells it. The model is the attacker: it calls what it does not hold.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFsCap } from '@hob/caps-fs';
import { type Granter, type Host, openHost, type Request } from '@hob/host';
import { E, type Far } from '@hob/vat';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../test/needs.ts';
import { Program } from '../test/processes.ts';
import { type Say, type ScriptedModel, scriptedModel } from '../test/scripted-model.ts';

const here = import.meta.dirname;
const EXAMPLES = ['openai', 'openai-responses', 'anthropic', 'ai-sdk', 'openai-agents', 'langgraph'] as const;
const ours =
  /^refused \(invalid\): there is no such tool: there are read, entries, search, write, edit, mkdir, request$/;
/** Some loops look up a tool themselves, so the words are theirs. */
const UNKNOWN: Readonly<Record<(typeof EXAMPLES)[number], RegExp>> = {
  openai: ours,
  'openai-responses': ours,
  anthropic: ours,
  'ai-sdk': /delete.*read, entries, search, write, edit, mkdir, request/,
  'openai-agents': /delete/,
  langgraph: /delete/,
};

const sdkTest = requires('sdks');

interface Scene {
  readonly host: Host;
  readonly granter: Far<Granter>;
  readonly session: string;
  readonly root: string;
  /** Runs an example to its end against a model that says these. Returns what it said, and the model. */
  run(
    example: string,
    next: (turn: number) => Say | Promise<Say>,
  ): Promise<{ readonly said: string; readonly model: ScriptedModel }>;
}

async function scene(): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), 'hob-tools-'));
  const root = join(folder, 'root');
  for (const name of ['root', 'home', 'state']) mkdirSync(join(folder, name));
  writeFileSync(join(root, 'notes.txt'), 'milk, bread\n');
  const host = await openHost({ stateDir: join(folder, 'state') });
  const directory = await openFsCap(root);
  onTestFinished(async () => {
    await host.close();
    await directory.close();
    rmSync(folder, { recursive: true, force: true });
  });
  await host.offer('notes', directory, { label: 'the notes' });
  const { granter } = await host.addGranter('owner');
  const { id, secret } = await host.openSession({ name: 'work', granters: ['owner'] });
  const { url } = await host.serve();
  return {
    host,
    granter,
    session: id,
    root,
    async run(example, next) {
      const model = await scriptedModel(next);
      onTestFinished(() => model.close());
      const env = { HOB_URL: url, HOME: join(folder, 'home'), OPENAI_API_KEY: 'none', OPENAI_BASE_URL: model.openai, ANTHROPIC_API_KEY: 'none', ANTHROPIC_BASE_URL: model.anthropic }; // biome-ignore format: one line
      const program = new Program('agent.ts', [join(here, 'tools', `${example}.ts`)], { env, stdin: `${secret}\n` });
      const end = await program.ended;
      const said = program.lines.filter((line) => line !== '').join('\n');
      expect({ end, said }).toEqual({ end: 0, said: expect.any(String) });
      return { said, model };
    },
  };
}

const call = (name: string, args: object): Say => ({ calls: [{ name, args }] });

for (const example of EXAMPLES) {
  sdkTest(`${example}: the model reads and writes with what the session holds`, async () => {
    const at = await scene();
    await E(at.granter).grant(at.session, 'work', 'notes', {});
    const script: readonly Say[] = [
      call('read', { cap: 'work', path: 'notes.txt' }),
      call('write', { cap: 'work', path: 'sum.txt', text: 'food' }),
      call('entries', { cap: 'work' }),
      { text: 'Food to buy.' },
    ];
    const { said, model } = await at.run(example, (turn) => script[turn] as Say);
    expect(said).toBe('Food to buy.');
    expect(model.offered[0]).toEqual(['read', 'entries', 'search', 'write', 'edit', 'mkdir', 'request']);
    expect(model.results[0]).toBe('milk, bread\n');
    expect(model.results[1]).toContain('version');
    expect(model.results[2]?.split('\n').sort()).toEqual(['notes.txt', 'sum.txt']);
    expect(readFileSync(join(at.root, 'sum.txt'), 'utf8')).toBe('food');
  });

  sdkTest(
    `${example}: a cap that is not held and one that was revoked are refused in words, and a gated call waits for a yes`,
    async () => {
      const at = await scene();
      await E(at.granter).grant(at.session, 'work', 'notes', { gated: ['write'] });
      const { id } = (await E(at.granter).grant(at.session, 'gone', 'notes', {})) as unknown as { readonly id: string };
      const wrote = (): boolean => readdirSync(at.root).includes('sum.txt');
      let asked: Request | undefined;
      const { said, model } = await at.run(example, async (turn) => {
        if (turn === 0) return call('read', { cap: 'secrets', path: 'notes.txt' });
        if (turn === 1) {
          await E(at.granter).revoke({ grant: id });
          return call('read', { cap: 'gone', path: 'notes.txt' });
        }
        if (turn === 2) return call('read', { cap: 'work', path: '../../secret' });
        if (turn === 3) {
          void approveFirst(at, () => wrote()).then((request) => {
            asked = request;
          });
          return call('write', { cap: 'work', path: 'sum.txt', text: 'food' });
        }
        return { text: `written: ${wrote()}` };
      });
      expect(said).toBe('written: true');
      expect(asked?.effect).toBe('makes the file “sum.txt”, with 4 characters, through “work”, which is “the notes”');
      expect(model.results[0]).toBe(
        'refused (no-such-object): you hold no "secrets". You hold: gone, work. Ask for it: request {"cap": "secrets", "why": "…"}',
      );
      expect(model.results[1]).toMatch(/^refused \(revoked\): .*Ask for it: request \{"cap": "gone"/);
      expect(model.results[2]).toMatch(/^failed \(PATH_ESCAPES\): .*"work" ends at its own directory/);
      expect(model.results[3]).toContain('version');
    },
  );
}

/** Waits until a call is asked about, sees that it has not happened, and says yes. */
async function approveFirst({ granter }: Scene, happened: () => boolean): Promise<Request> {
  for (;;) {
    const [request] = (await E(granter).inbox()) as readonly Request[];
    if (request !== undefined) {
      expect(happened()).toBe(false);
      await E(granter).answer(request.id, { grant: {}, digest: request.digest });
      return request;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

for (const [example, says] of Object.entries(UNKNOWN))
  sdkTest(
    `${example}: a tool that there is not gets an error that names those that there are, and the work goes on`,
    async () => {
      const at = await scene();
      await E(at.granter).grant(at.session, 'work', 'notes', {});
      const script: readonly Say[] = [call('delete', { cap: 'work', path: 'notes.txt' }), { text: 'I cannot.' }];
      const { said, model } = await at.run(example, (turn) => script[turn] as Say);
      expect(said).toBe('I cannot.');
      expect(model.results[0]).toMatch(says);
      expect(readdirSync(at.root)).toEqual(['notes.txt']);
    },
  );

sdkTest('the examples fit the types of the SDKs, and each is of about 20 lines', () => {
  const tsc = join(here, '../node_modules/typescript/bin/tsc');
  const { stdout, status } = spawnSync(process.execPath, [tsc, '-p', join(here, 'tools')], { encoding: 'utf8' });
  expect({ stdout, status }).toEqual({ stdout: '', status: 0 });
  const files = readdirSync(join(here, 'tools')).filter((file) => file.endsWith('.ts'));
  expect(files.sort()).toEqual(EXAMPLES.map((example) => `${example}.ts`).sort());
  for (const file of files)
    expect(
      readFileSync(join(here, 'tools', file), 'utf8')
        .trim()
        .split('\n').length,
      file,
    ).toBeLessThanOrEqual(24);
});
