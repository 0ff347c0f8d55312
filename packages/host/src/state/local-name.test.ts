/** Names that are made of a path. The attacker is an agent that knows the names and guesses paths. */
import { mkdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type FsCap, openFsCap } from '@hob/caps-fs';
import { connect, E } from '@hob/vat';
import { hashSecret } from '@hob/vat/forwarder';
import { expect, onTestFinished, test } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { Program, readiness } from '../../../../test/processes.ts';
import { code, scratch, testHost } from '../../test/test-host.ts';
import { openHost, type SessionFace } from '../index.ts';

/** Names that an agent can compute by itself. */
const guess = (path: string): string =>
  hashSecret(path)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
    .slice(0, 12);

test('a name made of a path is the same at each start, another one in each state, and no hash of the path', async () => {
  const [one, two] = [await testHost(), await testHost()];
  onTestFinished(() => two.close());
  const name = await one.host.nameFor('directory', '/srv/a');
  expect(name).toMatch(/^directory-[a-z0-9]{12}$/);
  expect(await two.host.nameFor('directory', '/srv/a')).not.toBe(name);
  expect(await one.host.nameFor('directory', '/srv/b')).not.toBe(name);
  expect(name).not.toContain(guess('/srv/a'));
  await one.host.close();
  const again = await openHost({ stateDir: join(one.folder, 'state') });
  expect(await again.nameFor('directory', '/srv/a')).toBe(name);
  await again.close();
  await one.close();
  expect(await code(two.host.nameFor('No name', 'x'))).toBe('invalid');
});

requires('linux')(
  'npm start tells its agent no name that fits a guess of the path; a state of before keeps its name, and its grants go on',
  async () => {
    for (const before of [false, true]) {
      const folder = realpathSync(scratch());
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      const [root, state] = [join(folder, 'root'), join(folder, 'state')];
      for (const each of [root, state]) mkdirSync(each);
      let secret: string | undefined;
      if (before) {
        // As earlier versions offered and granted it.
        await using host = await openHost({ stateDir: state });
        await using dir = await openFsCap(root);
        const plain = `directory-${guess(root)}`;
        await host.offer(plain, dir);
        await host.ensureGranter('owner');
        const grants = [{ petname: 'workspace', offered: plain, terms: { scope: 'permanent' } }] as const;
        const started = await host.startSession({ name: 'workspace', granter: 'owner', purpose: plain, grants });
        secret = started.how === 'opened' ? started.session.secret : undefined;
      }
      const host = new Program('workspace', ['--root', root, '--state', state, '--sentinel', join(folder, 'sentinel')]);
      onTestFinished(async () => void (await host.stop()));
      const { url, session } = await readiness(host);
      await using agent = await connect<SessionFace>(url, { secret: secret ?? (session.secret as string) });
      const told = await E(agent.bootstrap)
        .request({ asks: 'nothing-of-that-name', terms: {}, why: '' })
        .then(String, (error: Error) => error.message);
      expect(told).toContain('directory-');
      expect(told.includes(guess(root))).toBe(before);
      expect(await E(E(agent.bootstrap).cap<FsCap>('workspace')).list()).toEqual([]);
    }
  },
);
