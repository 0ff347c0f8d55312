/** Real programs in a job, unchanged, against a registry on loopback: with its net cap they work, without it they fail. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FsCap, openFsCap } from '@hob/caps-fs';
import type { World } from '@hob/caps-shell';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { netCap, shellWith } from '../../test/net.ts';
import { type Registry, registry } from '../../test/registry.ts';

const test = requires('linux', 'cc', 'userns', 'git', 'python');

/** The certificate of the registry is a file of the world; each program is told of it by its own variable. */
const CERTIFICATES = ['SSL_CERT_FILE', 'CURL_CA_BUNDLE', 'GIT_SSL_CAINFO', 'NODE_EXTRA_CA_CERTS', 'PIP_CERT', 'CARGO_HTTP_CAINFO']; // biome-ignore format: one line

interface Work {
  readonly at: Registry;
  readonly folder: string;
  readonly files: FsCap;
}

async function work(): Promise<Work> {
  const at = await registry();
  const folder = mkdtempSync(join(tmpdir(), 'hob-clients-'));
  writeFileSync(join(folder, 'ca.pem'), at.cert);
  const files = await openFsCap(folder);
  onTestFinished(async () => {
    await files.close();
    await at[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });
  return { at, folder, files };
}

/** Runs `text` in a fresh job without the cap, where it fails and asks for nothing, and then with it. */
async function withAndWithout({ at, files }: Work, text: string, mounts: World['mounts'] = {}): Promise<string> {
  const world = {
    mounts: { '/ws': files, ...mounts },
    env: { REGISTRY: at.url, ...Object.fromEntries(CERTIFICATES.map((name) => [name, '/ws/ca.pem'])) },
  };
  const job = `set -e; cd /ws; ${text}`;
  const before = at.seen.length;
  const without = await (await shellWith(world)).run(job);
  expect(without.status, without.stdout).not.toBe(0);
  expect(at.seen.length).toBe(before);
  const { status, stdout, stderr } = await (await shellWith({ ...world, net: [netCap({ port: at.port })] })).run(job);
  expect({ status, stderr: status === 0 ? '' : `${stderr}${stdout}` }).toEqual({ status: 0, stderr: '' });
  return stdout;
}

test('curl fetches over https', async () => {
  expect(await withAndWithout(await work(), 'curl -sS $REGISTRY/plain')).toBe('curl thing\n');
}, 120_000);

test('git clones and pushes over https', async () => {
  const here = await work();
  const stdout = await withAndWithout(
    here,
    `rm -rf copy; git clone -q $REGISTRY/git/repo copy; cd copy; cat readme; git checkout -q -b mine; echo more >> readme
    git -c user.name=a -c user.email=a@b.example commit -q -a -m more; git push -q origin mine; git ls-remote origin mine`,
  );
  expect(stdout).toMatch(/^git thing\n[0-9a-f]{40}\trefs\/heads\/mine\n$/);
  const { stdout: branches } = spawnSync('git', ['-c', 'safe.directory=*', 'branch', '--list'], { cwd: here.at.repository, encoding: 'utf8' }); // biome-ignore format: one line
  expect(branches).toContain('mine');
}, 120_000);

test('npm ci installs from a registry', async (context) => {
  if (spawnSync('npm', ['--version']).status !== 0 || !existsSync('/usr/bin/npm')) context.skip('needs npm in /usr');
  const here = await work();
  const thing = { version: '1.0.0', resolved: `${here.at.url}/npm/thing.tgz`, integrity: here.at.integrity };
  const root = { name: 'app', version: '1.0.0', dependencies: { 'hob-test-thing': '1.0.0' } };
  writeFileSync(join(here.folder, 'package.json'), JSON.stringify(root));
  writeFileSync(join(here.folder, 'package-lock.json'), JSON.stringify({ ...root, lockfileVersion: 3, requires: true, packages: { '': root, 'node_modules/hob-test-thing': thing } })); // biome-ignore format: one line
  const stdout = await withAndWithout(
    here,
    'npm_config_registry=$REGISTRY/npm/ npm_config_cache=/tmp/npm npm_config_fetch_retries=0 npm_config_update_notifier=false npm ci --no-audit --no-fund; node -p "require(\\"hob-test-thing\\")"',
  );
  expect(stdout).toMatch(/npm thing\n$/);
}, 120_000);

test('pip installs from an index', async (context) => {
  if (spawnSync('/usr/bin/python3', ['-m', 'pip', '--version']).status !== 0)
    context.skip('needs pip of /usr/bin/python3');
  const stdout = await withAndWithout(
    await work(),
    '/usr/bin/python3 -m pip install -q --retries 0 --no-cache-dir --disable-pip-version-check --no-deps --index-url $REGISTRY/simple --target /tmp/t hob-test-thing; PYTHONPATH=/tmp/t /usr/bin/python3 -c "import hob_test_thing; print(hob_test_thing.THING)"',
  );
  expect(stdout).toBe('pip thing\n');
}, 120_000);

/** The folder of a Rust toolchain: that of rustup, because its programs in PATH are links to rustup itself. */
function rust(): string | undefined {
  const toolchains = join(process.env['RUSTUP_HOME'] ?? join(homedir(), '.rustup'), 'toolchains');
  const [found] = existsSync(toolchains) ? readdirSync(toolchains).filter((name) => existsSync(join(toolchains, name, 'bin', 'cargo'))) : []; // biome-ignore format: one line
  return found === undefined ? undefined : join(toolchains, found);
}

test('cargo builds with a dependency from a registry', async (context) => {
  const toolchain = rust();
  if (toolchain === undefined) return context.skip('needs a Rust toolchain of rustup');
  await using held = await openFsCap(toolchain);
  const here = await work();
  mkdirSync(join(here.folder, 'app', 'src'), { recursive: true });
  mkdirSync(join(here.folder, 'app', '.cargo'));
  writeFileSync(join(here.folder, 'app', 'Cargo.toml'), '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nhob-test-thing = { version = "1", registry = "here" }\n'); // biome-ignore format: one line
  writeFileSync(join(here.folder, 'app', '.cargo', 'config.toml'), `[registries.here]\nindex = "sparse+${here.at.url}/index/"\n[net]\nretry = 0\n`); // biome-ignore format: one line
  writeFileSync(join(here.folder, 'app', 'src', 'main.rs'), 'fn main() { println!("{}", hob_test_thing::thing()); }\n');
  const stdout = await withAndWithout(
    here,
    'cd app; export PATH=/rust/bin:$PATH CARGO_HOME=/tmp/cargo CARGO_TARGET_DIR=/tmp/target; cargo build -q; /tmp/target/debug/app',
    { '/rust': held.readOnly() },
  );
  expect(stdout).toBe('cargo thing\n');
}, 300_000);
