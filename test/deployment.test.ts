/** The deployment page: its unit is one that systemd takes, its container starts a host, its commands are there. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { requires } from './needs.ts';
import { Program } from './processes.ts';
import { blocks } from './readme.ts';
import { ROOT, read } from './sources.ts';

const { text } = read('docs/deployment.md');
const [unit = '', moved = ''] = blocks(text, 'ini');
/** The unit for a systemd that does not know `DelegateSubgroup=`. */
const older = unit.replace(/^DelegateSubgroup=.*\n/m, '').replace(/^ExecStart=.*$/m, () => moved.trim());

/** A folder of the test, which takes the place of `/`. */
function newRoot(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hob-deploy-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'srv/project'), { recursive: true });
  return folder;
}

test('the unit starts the program that the page saves', () => {
  // `packed-deploy.test.ts` walks the page.
  const [, file = ''] = /^ExecStart=\/usr\/bin\/node (\S+)$/m.exec(unit) ?? [];
  expect(text).toContain(`\`\`\`js ${file}\n`);
  expect(unit).toMatch(new RegExp(`^User=${/useradd .* (\w+)$/m.exec(text)?.[1]}$`, 'm'));
});

const CONTAINER = 'packages/cli/container';
/** The instructions of the Dockerfile, each as one line. */
const instructions = read(`${CONTAINER}/Dockerfile`)
  .text.replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\s*\\\n\s*/g, ' ')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => /^([A-Z]+) (.*)$/.exec(line) as RegExpExecArray)
  .map(([, name = '', rest = '']) => ({ name, rest }));
const all = (name: string): readonly string[] =>
  instructions.filter((each) => each.name === name).map(({ rest }) => rest);

test('the Dockerfile runs as a user that it made and that is not root, copies only what is packed, and names no secret', () => {
  expect(new Set(instructions.map(({ name }) => name))).toEqual(new Set(['FROM', 'COPY', 'RUN', 'USER', 'ENV', 'ENTRYPOINT'])); // biome-ignore format: one line
  const [user = ''] = all('USER').slice(-1);
  expect(['', 'root', '0']).not.toContain(user);
  expect(all('RUN').join(' ')).toMatch(new RegExp(`useradd .*--uid [1-9]\\d{3,} .*\\b${user}\\b`));
  // Nothing is done as root after that.
  expect(instructions.slice(instructions.findIndex(({ name }) => name === 'USER')).map(({ name }) => name)).not.toContain('RUN'); // biome-ignore format: one line
  // The page and the Dockerfile say how these files are made.
  expect(all('COPY')).toEqual(['dist/*.tgz /tmp/hob/']);
  for (const page of [text, read(`${CONTAINER}/Dockerfile`).text])
    expect(page).toContain(`npm run pack -- --into ${CONTAINER}/dist`);
  expect(all('ENV').join(' ')).not.toMatch(/secret|token|password|key=/i);
  expect(all('FROM')).toEqual([expect.stringMatching(/^node:24-/)]);
});

requires('linux')(
  'what the container starts is a host that serves the mounted manifest, with its sentinel apart',
  async () => {
    const folder = newRoot();
    mkdirSync(join(folder, 'config'));
    writeFileSync(join(folder, 'config/hob.yaml'), `version: 1\nroots: { project: ../srv/project }\nsession: { caps: { src: { fs: project, can: [read] } } }\n`); // biome-ignore format: one line
    const [hob, ...entry] = JSON.parse(all('ENTRYPOINT')[0] ?? '[]') as readonly string[];
    expect(hob).toBe('hob');
    const [variable = '', home = ''] = all('ENV')[0]?.split('=') ?? [];
    const at = (path: string): string => (path.startsWith('/') ? join(folder, path) : path);
    const program = join(ROOT, 'packages/cli/src/main.ts');
    const env = { HOME: join(folder, 'home'), [variable]: at(home) };
    // The page names its port. Here any free one will do.
    const port = entry[entry.indexOf('--port') + 1] ?? '';
    expect(text).toContain(`ws://127.0.0.1:${port}`);
    const host = new Program(
      program,
      entry.map((word) => (word === port ? '0' : at(word))),
      { env },
    );
    onTestFinished(async () => void (await host.stop()));
    expect(await host.line((line) => line.startsWith('see its requests'))).toBeDefined();
    // The page calls it this way.
    const state = /docker exec -it hob hob inbox --state (\S+)$/m.exec(text)?.[1] ?? '';
    const status = new Program(program, ['status', '--state', at(state)], { env });
    expect(await status.ended).toBe(0);
    expect(readdirSync(at(home), { recursive: true }).join(' ')).toMatch(/\.sentinel/);
    host.kill('SIGTERM');
    expect(await host.ended).toBe(0);
  },
);

test('where a container engine runs, the image is built', (context) => {
  const engine = spawnSync('docker', ['info'], { encoding: 'utf8', timeout: 20_000 });
  if (engine.status !== 0) return context.skip('needs a container engine that runs (docker)');
  const tarballs = spawnSync(process.execPath, [join(ROOT, 'scripts/hob.mjs'), 'pack', '--into', join(ROOT, CONTAINER, 'dist')]); // biome-ignore format: one line
  onTestFinished(() => rmSync(join(ROOT, CONTAINER, 'dist'), { recursive: true, force: true }));
  expect(tarballs.status).toBe(0);
  const built = spawnSync('docker', ['build', '-q', join(ROOT, CONTAINER)], { encoding: 'utf8' });
  expect(built).toMatchObject({ status: 0 });
  const image = built.stdout.trim();
  onTestFinished(() => void spawnSync('docker', ['rmi', image]));
  const who = spawnSync('docker', ['run', '--rm', '--entrypoint', 'sh', image, '-c', 'id -u; hob version'], { encoding: 'utf8' }); // biome-ignore format: one line
  expect(who.stdout).toMatch(/^10001\nhob \d/);
}, 1_200_000);

test('the unit for an older systemd starts the same host', () => {
  const command = (from: string): string | undefined => /\/usr\/bin\/node .*$/m.exec(from)?.[0];
  expect(command(older)).toBe(command(unit));
  expect(older).not.toContain('DelegateSubgroup');
});

requires('systemd')('systemd finds nothing wrong with the units', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-unit-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'hob.service');
  for (const each of [unit, older]) {
    // The programs and the user of the page are not on this machine.
    writeFileSync(file, each.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`).replace(/^User=.*\n/m, ''));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' });
    // Older versions do not know the newest key, and say so.
    const faults = stderr
      .split('\n')
      .filter((line) => line.includes('hob.service') && !line.includes('DelegateSubgroup'));
    expect({ status, faults }).toEqual({ status: 0, faults: [] });
  }
});

test('the unit sets nothing that the page warns of', () => {
  const warned = /Do not set these\*\*[\s\S]*?\n- /.exec(text)?.[0].match(/`[A-Z]\w+`/g) ?? [];
  expect(warned.length).toBeGreaterThan(5);
  for (const key of warned) expect(unit).not.toContain(`${key.slice(1, -1)}=`);
});

test('each command of the granter on the page is one, with its options', async () => {
  const used = [...text.matchAll(/(?:\.bin\/hob |`hob )([a-z]+(?: (?:verify|all|retain))?)/g)].map((found) => found[1] as string); // biome-ignore format: one line
  expect(new Set(used).size).toBeGreaterThan(3);
  for (const command of new Set(used)) {
    const help = new Program(join(ROOT, 'packages/cli/src/main.ts'), [
      ...command.replace(' all', '').split(' '),
      '--help',
    ]);
    expect(await help.ended, command).toBe(0);
  }
});
