/** The flags of a start whose session goes on. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FsCap } from '@hob/caps-fs';
import { CapError, connect, E } from '@hob/vat';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { Program, type Ready, readiness } from '../../../../test/processes.ts';
import { code, scratch } from '../../test/test-host.ts';
import type { Granter, SessionFace } from '../index.ts';
import { checkFlags, flagsOf, noteOf, type SessionFlags } from './session-flags.ts';

const anyFlags: fc.Arbitrary<SessionFlags> = fc.record({
  uses: fc.integer({ min: 1, max: 5 }),
  minutes: fc.integer({ min: 1, max: 5 }),
  readOnly: fc.boolean(),
  gate: fc.oneof(fc.boolean(), fc.constant(['write']), fc.constant(['write', 'remove'])),
  code: fc.boolean(),
  shell: fc.boolean(),
});
const names = ['uses', 'minutes', 'readOnly', 'gate', 'code', 'shell'] as const;

test('a flag that was given and is not what the session was opened with is refused, and no other', () => {
  fc.assert(
    fc.property(anyFlags, anyFlags, fc.subarray([...names]), (opened, now, given) => {
      const differ = given.filter((name) => JSON.stringify(opened[name]) !== JSON.stringify(now[name]));
      const check = (): void => checkFlags(flagsOf(noteOf(opened), []), { flags: now, given: new Set(given) });
      if (differ.length === 0) check();
      else expect(check).toThrow(CapError);
    }),
  );
});

interface TestState {
  begin(...flags: readonly string[]): Promise<{ readonly program: Program; readonly ready: Ready }>;
  refused(...flags: readonly string[]): Promise<string>;
}

function place(): TestState {
  const folder = scratch();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'root'));
  writeFileSync(join(folder, 'root', 'notes.txt'), 'for the agent\n');
  let known: Ready | undefined;
  const started = (flags: readonly string[]): Program => {
    const program = new Program('workspace', ['--root', join(folder, 'root'), '--state', join(folder, 'state'), ...flags]); // biome-ignore format: one line
    onTestFinished(async () => void (await program.stop()));
    return program;
  };
  return {
    async begin(...flags) {
      const program = started(flags);
      known = await readiness(program, known);
      return { program, ready: known };
    },
    async refused(...flags) {
      const program = started(flags);
      expect(await program.ended).toBe(1);
      return program.lines.join('\n');
    },
  };
}

requires('linux')(
  'changed flags are refused with the remedy; the same ones go on; --new-session takes the new ones',
  async () => {
    const { begin, refused } = place();
    const first = await begin('--uses', '5', '--for', '30');
    await first.program.stop();
    const said = await refused('--uses', '2', '--read-only', '--gate');
    expect(said).toMatch(/^hob: the session of an earlier start goes on, and was not opened with --uses, --read-only, --gate [^\n]*--new-session$/); // biome-ignore format: one line
    const again = await begin('--uses', '5', '--for', '30');
    expect(again.ready.session.id).toBe(first.ready.session.id);
    await again.program.stop();
    const other = await begin('--new-session', '--read-only', '--gate', 'list', '--for', '5');
    expect(other.ready.session.id).not.toBe(first.ready.session.id);
    const agent = await connect<SessionFace>(other.ready.url, { secret: other.ready.session.secret });
    const granter = await connect<Granter>(other.ready.url, { secret: other.ready.granter.secret });
    onTestFinished(async () => {
      for (const connection of [agent, granter]) connection.close();
      await Promise.all([agent.closed, granter.closed]);
    });
    const workspace = E(agent.bootstrap).cap<FsCap>('workspace');
    expect(await E(workspace).readText('notes.txt')).toBe('for the agent\n');
    expect(await code(E(workspace).write('notes.txt', 'mine'))).not.toBe('ok');
    expect(await code(E(E(workspace).subdir('.')).write('notes.txt', 'mine'))).not.toBe('ok');
    const listed = E(workspace).list();
    listed.catch(() => {});
    for (;;) {
      const [request] = await E(granter.bootstrap).inbox();
      if (request === undefined) continue;
      await E(granter.bootstrap).answer(request.id, { grant: {}, digest: request.digest });
      break;
    }
    expect(await listed).toHaveLength(1);
  },
);

requires(
  'linux',
  'cc',
  'userns',
)(
  '--shell, then --code: the later start does not ignore it; without --shell it says that programs are off',
  async () => {
    const { begin, refused } = place();
    const first = await begin('--shell');
    await first.program.stop();
    expect(await refused('--code')).toMatch(/not opened with --code as given now: leave it out, .*--new-session$/);
    expect(await refused('--shell', '--code')).toMatch(/not opened with --code as given now/);
    const without = await begin();
    expect(without.program.lines).toContain('"shell" is off in this run: with --shell its programs run again.');
  },
);
