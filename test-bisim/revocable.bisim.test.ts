/** Approvals: the test vector of the seed, its three probes, and sequences that nobody thought of, in both worlds. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { HERMES_VERSIONS } from '../scripts/hermes.mjs';
import { requires } from '../test/needs.ts';
import {
  AGREED_APPROVALS,
  type Answer,
  type ApprovalWorlds,
  ASKED,
  COMMANDS,
  openApprovals,
  type Step,
  type Who,
} from './approvals.ts';
import { approvalSequences } from './rows/generated.ts';
import { openShim, type Shim, type Verdict } from './shim.ts';

const test = requires('hermes');
const { BUILD, SRC, RESET, MASKED, UNSEEN, ROOT } = ASKED;

const use = (command: string, answer: Answer = 'deny', who: Who = 'agent'): Step => ({ use: command, who, answer });

describe.each(HERMES_VERSIONS)('beside Hermes %s', (version) => {
  let folder: string;
  let shim: Shim;
  let worlds: ApprovalWorlds;
  test.beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hob-approvals-'));
    shim = openShim(version, join(folder, 'hermes'));
    worlds = await openApprovals(shim, join(folder, 'host'));
  }, 400_000);
  test.afterAll(async () => {
    await worlds.close();
    await shim.close();
    rmSync(folder, { recursive: true });
  }, 400_000);

  const classes = async (...steps: Step[]): Promise<readonly string[]> =>
    (await worlds.play(steps)).map((each) => each.class);

  test('approve_once: the second invoke is exhausted, and is asked about again in both worlds', async () => {
    const [first, second] = await worlds.play([use(BUILD, 'once'), use(BUILD)]);
    expect(first).toMatchObject({ class: 'equal', cap: { ran: true, asked: true, code: 'no-such-object' } });
    expect(second).toMatchObject({
      class: 'equal',
      cap: { ran: false, code: 'exhausted' },
      hermes: { ran: false, asked: true },
    });
  });

  test('approve_session: what is revoked is revoked; Hermes has nothing to take it back with', async () => {
    const judged = await worlds.play([use(BUILD, 'session'), use(BUILD), { revoke: BUILD, who: 'agent' }, use(BUILD)]);
    expect(judged.map((each) => each.class)).toEqual(['equal', 'equal', 'hermes-escape']);
    expect(judged[2]).toMatchObject({ cap: { ran: false, code: 'revoked' }, hermes: { ran: true, asked: false } });
    expect(await classes(use(BUILD, 'session'), { end: 'agent' }, use(BUILD))).toEqual(['equal', 'equal']);
  });

  test('approve_for(60): at 61 seconds expired; Hermes knows no time', async () => {
    const judged = await worlds.play([use(BUILD, 'minute'), use(BUILD), { wait: 61_000 }, use(BUILD)]);
    expect(judged.map((each) => each.class)).toEqual(['equal', 'equal', 'hermes-escape']);
    expect(judged[2]?.cap.code).toBe('expired');
  });

  test('delegate.spawn(child, caps=[]): the child holds nothing; in Hermes it has its parent’s approvals', async () => {
    const judged = await worlds.play([use(BUILD, 'session'), use(BUILD, 'deny', 'child')]);
    expect(judged[1]).toMatchObject({ class: 'hermes-escape', cap: { ran: false, code: 'no-such-object' } });
    expect(await classes(use(BUILD, 'session'), use(BUILD, 'deny', 'other'))).toEqual(['equal', 'equal']);
  });

  test('what was approved is that and not its kind: another target, or more behind it, is asked about', async () => {
    expect(await classes(use(BUILD, 'session'), use(SRC), use(MASKED), use(RESET))).toEqual([
      'equal',
      'hermes-escape',
      'hermes-escape',
      'equal',
    ]);
    // A call that no pattern names is asked about in the cap world only.
    expect(await classes(use(UNSEEN))).toEqual(['hermes-escape']);
  });

  test('the three probes: the quoted rm is caught by now, the word that looks like it and xargs are not; without a cap none can be', async () => {
    const flagged = async (command: string): Promise<unknown> => {
      const said: Verdict = await shim.ask('detect', { command });
      return said['hardline'] === true || said['dangerous'] === true;
    };
    // Agreed: the seed wrote that it passes.
    expect(await flagged("r''m -rf /")).toBe(true);
    expect(await flagged('\u0280m -rf /')).toBe(false);
    expect(await flagged('echo / | xargs -n1 unlink')).toBe(false);
    const [probe] = await worlds.play([use(UNSEEN)]);
    expect(probe?.cap).toEqual({ ran: false, asked: true, code: 'no-such-object' });
  });

  test('every agreed difference shows itself', async () => {
    const shown = await worlds.play([use(RESET, 'always'), use(RESET, 'deny', 'other'), use(ROOT, 'once')]);
    expect(shown.slice(1)).toMatchObject([
      { class: 'agreed', note: AGREED_APPROVALS['always'] },
      { class: 'agreed', note: AGREED_APPROVALS['hardline'] },
    ]);
    expect(Object.keys(AGREED_APPROVALS)).toHaveLength(2);
  });

  test('sequences: nothing runs in the cap world that nobody granted, and no difference is unexplained', async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(approvalSequences(COMMANDS), async (steps) => {
        const judged = await worlds.play(steps);
        for (const each of judged) seen.add(each.class);
        expect(judged.filter((each) => each.class === 'cap-escape' || each.class === 'unexplained')).toEqual([]);
      }),
      { numRuns: 12, seed: 13, endOnFailure: false },
    );
    expect([...seen].sort()).toEqual(['agreed', 'equal', 'hermes-escape']);
  }, 400_000);
});
