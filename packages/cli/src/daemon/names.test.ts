/** `hob name`: names beside the ids in every list, and in place of them in every verb, also after kill -9. */
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { agentIn, hobHome } from '../../test/hob.ts';
import { shapeFault } from '../../test/shape.ts';
import { verbs } from '../verbs.ts';

const test = requires('linux');

interface Named {
  readonly id: string;
  readonly called?: string;
}

test('a name stands beside the id in every list, and a verb takes it in place of the id; a killed host keeps it', async () => {
  const hob = hobHome();
  const host = await hob.serve();
  const agent = hob.start('start', '--', ...agentIn(hob.folder));
  onTestFinished(() => void agent.child.stdin!.end());
  await agent.shows(/reads one/);
  await hob.until(
    () => hob.json<readonly Named[]>('inbox'),
    ({ length }) => length === 1,
  );
  expect((await hob.run('name')).err).toBe('you gave no names\n');
  expect((await hob.run('name', 'S1', 'night')).out).toBe('S1 is night\n');
  expect((await hob.run('name', 'R1', 'push')).out).toBe('R1 is push\n');
  const one = await hob.json('name', 'G1', 'deploy-key');
  expect(one).toEqual([{ id: 'G1', kind: 'grant', called: 'deploy-key' }]);
  expect((await hob.run('list')).out).toMatch(/^G1 \(deploy-key\)\tS1 \(night\)\tsrc\t/);
  expect((await hob.run('sessions')).out).toMatch(/^S1 \(night\)\tagent\t/);
  expect((await hob.run('inbox')).out).toMatch(/^R1 \(push\)\tS1 \(night\)\t/);
  expect((await hob.run('inbox', 'push')).out).toMatch(/\n {2}your names: R1 is push, S1 is night\n$/);
  for (const [verb, ...args] of [['list'], ['sessions'], ['inbox'], ['name']] as const) {
    const rows = await hob.json<readonly Named[]>(verb, ...args);
    expect(rows[0]?.called, verb).toMatch(/^(?:deploy-key|night|push)$/);
    expect(shapeFault(verbs.find(({ name }) => name === verb)!.json!, rows), verb).toBeUndefined();
  }

  host.child.kill('SIGKILL');
  await host.ended;
  await hob.serve();
  expect(await hob.json('name')).toEqual(
    expect.arrayContaining([
      { id: 'G1', kind: 'grant', called: 'deploy-key' },
      { id: 'S1', kind: 'session', called: 'night' },
    ]),
  );
  expect((await hob.run('ledger', 'show', '--grant', 'deploy-key')).out).toMatch(/grant=G1 \(deploy-key\)/);
  expect((await hob.run('revoke', 'deploy-key')).out).toBe('revoked deploy-key\n');
  expect(await hob.json('list', '--session', 'night', '--all')).toMatchObject([{ id: 'G1', state: 'revoked' }, {}]);
  // What has ended keeps its name, until a person takes it away.
  expect((await hob.run('name', 'deploy-key', '--remove')).out).toBe('G1 has no name any more\n');
  expect((await hob.run('name', 'G2', 'spare')).code).toBe(0);
  expect((await hob.run('end', 'night')).out).toBe('ended S1\n');
  // No list has them any more, and the ledger tells about them by name.
  expect((await hob.run('ledger', 'show', '--grant', 'spare')).out).toMatch(/grant=G2 \(spare\)/);
  expect((await hob.run('ledger', 'show', '--session', 'night')).out).toMatch(/session=S1 \(night\) {2}what=end/);
}, 400_000);

test('a name of another kind, one that is not there and one that looks like another are refused in one line', async () => {
  const hob = hobHome();
  await hob.serve();
  const agent = hob.start('start', '--', process.execPath, '-e', "console.log('it runs'); process.stdin.resume()");
  onTestFinished(() => void agent.child.stdin!.end());
  await agent.shows(/it runs/);
  expect((await hob.run('name', 'G1', 'modern')).code).toBe(0);
  const refused = async (code: number, pattern: RegExp, ...args: readonly string[]): Promise<void> => {
    const ran = await hob.run(...args);
    expect([args, ran.code, ran.err]).toEqual([args, code, expect.stringMatching(pattern)]);
    expect(ran.err).toMatch(/^hob: [^\n]+\n/);
  };
  await refused(1, /modern is your name for G1, which is not a session/, 'end', 'modern');
  await refused(2, /"nothing" is not a grant/, 'revoke', 'nothing');
  await refused(1, /looks like “modern”/, 'name', 'G2', 'rnodern');
  await refused(1, /looks like an id/, 'name', 'G2', 'g12');
  await refused(1, /there is no grant G9/, 'name', 'G9', 'x');
  await refused(2, /write hob name G3 deploy-key/, 'name', 'G1');
  await refused(1, /you gave no name to "G2"/, 'name', 'G2', '--remove');
}, 400_000);
