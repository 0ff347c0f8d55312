/**
 * Approvals in both worlds: the same agent asks for the same, and the same person answers the same.
 *
 * In the Hermes world a command is shown where Hermes finds one of its patterns in it, and what the person says is kept by the kind of
 * pattern. In the cap world each command stands for a cap; an agent that holds none asks for it, and what the person says are the
 * terms of a grant. Nothing of what is approved here is executed: it is counted.
 */
import { type Granter, type GrantTerms, openHost, type SessionFace } from '@hob/host';
import { connect, E, type Far } from '@hob/vat';
import { type TestClock, testClock } from '@hob/vat/testing';
import type { Connected } from '@hob/vat/wire';
import { codeOf } from './cap.ts';
import type { Class } from './classes.ts';
import type { Shim } from './shim.ts';

/** `minute`: Hermes knows no such answer; the nearest is for the session. */
export type Answer = 'once' | 'minute' | 'session' | 'always' | 'deny';
export type Who = 'agent' | 'other' | 'child';
/** `use`: `who` wants that command, and the person would answer so if asked. */
export type Step =
  | { readonly use: string; readonly who: Who; readonly answer: Answer }
  | { readonly revoke: string; readonly who: Who }
  | { readonly end: Who }
  | { readonly wait: number };

/** The requests, here and in generated sequences. */
export const ASKED = {
  BUILD: 'rm -rf ./build',
  SRC: 'rm -rf ./src',
  RESET: 'git reset --hard',
  MASKED: 'rm -rf ./build; git push --force',
  UNSEEN: "find . -name '*.ts' -exec unlink {} +",
  ROOT: 'rm -rf /',
} as const;
export const COMMANDS: readonly string[] = Object.values(ASKED);

export interface Happened {
  readonly ran: boolean;
  readonly asked: boolean;
}
export interface Judged {
  readonly step: Extract<Step, { use: string }>;
  readonly hermes: Happened;
  readonly cap: Happened & { readonly code?: string };
  readonly class: Class;
  readonly note: string;
}

/** Differences that are known, each with its reason; `revocable.bisim.test.ts` shows each. */
export const AGREED_APPROVALS: Readonly<Record<string, string>> = {
  always: 'always is for every session in Hermes; a permanent grant is for the session that it was given to',
  hardline:
    'what a person grants knowingly, a list refuses whoever says what: in the cap world nobody grants that by mistake',
};

export interface ApprovalWorlds {
  play(steps: readonly Step[]): Promise<readonly Judged[]>;
  close(): Promise<void>;
}

interface GuardStep {
  readonly approved: boolean | null;
  readonly asked: readonly unknown[];
  readonly result: Readonly<Record<string, unknown>>;
}

export async function openApprovals(
  shim: Shim,
  stateDir: string,
  commands: readonly string[] = COMMANDS,
): Promise<ApprovalWorlds> {
  const clock = testClock();
  const host = await openHost({ stateDir, clock });
  const ran: string[] = [];
  for (const [n, command] of commands.entries())
    await host.offer(`op-${n}`, { invoke: async () => void ran.push(command) });
  const { granter } = await host.addGranter('person');
  const { url } = await host.serve();
  return {
    play: async (steps) => {
      const hermes = await playHermes(shim, steps);
      const world = new CapSide({ host, granter, url, clock, commands, ran });
      try {
        const judged: Judged[] = [];
        for (const [n, step] of steps.entries()) {
          const entitled = 'use' in step && world.entitled(step);
          const cap = await world.step(step);
          if (!('use' in step) || cap === undefined) continue;
          judged.push(judge(step, hermes[n] as GuardStep, cap, entitled, world));
        }
        return judged;
      } finally {
        await world.close();
      }
    },
    close: () => host.close(),
  };
}

// ------------------------------------------------------------------------------------------------------- Hermes' world

/** A child of an agent shares its key, so it is the same session to Hermes. */
const keyOf = (who: Who): string => (who === 'other' ? 's2' : 's1');

async function playHermes(shim: Shim, steps: readonly Step[]): Promise<readonly GuardStep[]> {
  const asGuard = (step: Step): object => {
    if ('use' in step)
      return {
        command: step.use,
        answer: step.answer === 'minute' ? 'session' : step.answer,
        session: keyOf(step.who),
      };
    // The end of a child is not one of its parent's session; to take one approval back, or to let it end in time, there is nothing to call.
    if ('end' in step && step.end !== 'child') return { act: 'clear', session: keyOf(step.end) };
    return { is_approved: 'nothing' };
  };
  const { steps: said } = await shim.ask<{ steps: readonly GuardStep[] }>('guard', { steps: steps.map(asGuard) });
  return said;
}

// --------------------------------------------------------------------------------------------------------- cap world

const MINUTE = 60_000;
type Yes = Exclude<Answer, 'deny'>;
const TERMS: Readonly<Record<Yes, GrantTerms>> = {
  once: { scope: 'once' },
  minute: { for: MINUTE },
  session: { scope: 'session' },
  always: { scope: 'permanent' },
};

interface Given {
  readonly host: Awaited<ReturnType<typeof openHost>>;
  readonly granter: Far<Granter>;
  readonly url: string;
  readonly clock: TestClock;
  readonly commands: readonly string[];
  readonly ran: string[];
}
interface Operation {
  invoke(): Promise<void>;
}
interface Entered {
  readonly id: string;
  readonly connected: Connected<SessionFace>;
}

/** Over CapTP, as an agent's program: it calls what it holds, and asks for what it cannot call. */
class CapSide {
  private readonly sessions = new Map<Who, Entered>();
  /** The answers of the person that were not taken back: the oracle. */
  private readonly said = new Map<string, { readonly until: number; readonly grant: string }>();
  private now = 0;
  /** Which commands somebody said always to, and did not take back. */
  readonly always = new Set<string>();
  private number = 0;
  /** The agent's name for its last grant. */
  private readonly petnames = new Map<string, string>();
  private readonly given: Given;

  constructor(given: Given) {
    this.given = given;
  }

  entitled({ use, who }: Extract<Step, { use: string }>): boolean {
    return (this.said.get(`${who} ${use}`)?.until ?? -1) > this.now;
  }

  async step(step: Step): Promise<Judged['cap'] | undefined> {
    if ('use' in step) return await this.use(step);
    if ('revoke' in step) {
      const key = `${step.who} ${step.revoke}`;
      const known = this.said.get(key);
      if (known !== undefined) await E(this.given.granter).revoke({ grant: known.grant });
      this.said.delete(key);
      this.always.delete(step.revoke);
    } else if ('end' in step) await this.end(step.end);
    else {
      this.now += step.wait;
      this.given.clock.advance(step.wait);
    }
    return undefined;
  }

  private async use({ use, who, answer }: Extract<Step, { use: string }>): Promise<Judged['cap']> {
    const first = await this.invoke(who, use);
    if (first === undefined) return { ran: true, asked: false };
    // It is told that it holds no such thing (any more), and asks.
    if (answer === 'deny') return { ran: false, asked: true, code: first };
    await this.grant(who, use, answer);
    const second = await this.invoke(who, use);
    return second === undefined ? { ran: true, asked: true, code: first } : { ran: false, asked: true, code: second };
  }

  /** The code it broke with. */
  private async invoke(who: Who, use: string): Promise<string | undefined> {
    const { connected } = await this.session(who);
    const before = this.given.ran.length;
    const cap = E(connected.bootstrap).cap(
      this.petnames.get(`${who} ${use}`) ?? this.offered(use),
    ) as unknown as Far<Operation>;
    const code = await E(cap)
      .invoke()
      .then(() => undefined, codeOf);
    // The command that ran counts, whatever came back.
    if ((code === undefined) !== (this.given.ran.length === before + 1))
      throw new Error(`${code}, but ran is ${this.given.ran.length}`);
    return code;
  }

  private async grant(who: Who, use: string, answer: Yes): Promise<void> {
    const { id } = await this.session(who);
    this.number += 1;
    // A petname is never bound anew: the next grant of the same has another one.
    const offered = this.offered(use);
    this.petnames.set(`${who} ${use}`, `${offered}-${this.number}`);
    const { id: grant } = await E(this.given.granter).grant(id, `${offered}-${this.number}`, offered, TERMS[answer]);
    if (answer === 'once') return;
    this.said.set(`${who} ${use}`, {
      until: answer === 'minute' ? this.now + MINUTE : Number.POSITIVE_INFINITY,
      grant,
    });
    if (answer === 'always') this.always.add(use);
  }

  private offered(use: string): string {
    return `op-${this.given.commands.indexOf(use)}`;
  }

  private async session(who: Who): Promise<Entered> {
    const known = this.sessions.get(who);
    if (known !== undefined) return known;
    const parent = who === 'child' ? { parent: (await this.session('agent')).id } : {};
    this.number += 1;
    const opened = await this.given.host.openSession({
      name: `${who}-${this.number}`,
      granters: ['person'],
      ...parent,
    });
    const connected = await connect<SessionFace>(this.given.url, { secret: opened.secret });
    const entered = { id: opened.id, connected };
    this.sessions.set(who, entered);
    return entered;
  }

  private async end(who: Who): Promise<void> {
    // Grants beneath it end with it.
    for (const each of who === 'agent' ? (['child', 'agent'] as const) : [who]) {
      const entered = this.sessions.get(each);
      for (const key of [...this.said.keys()]) if (key.startsWith(`${each} `)) this.said.delete(key);
      if (entered === undefined) continue;
      this.sessions.delete(each);
      await E(this.given.granter).end(entered.id);
      entered.connected.close();
      await entered.connected.closed;
    }
  }

  async close(): Promise<void> {
    for (const who of ['child', 'agent', 'other'] as const) await this.end(who);
  }
}

// ------------------------------------------------------------------------------------------------------------ judging

function judge(
  step: Extract<Step, { use: string }>,
  said: GuardStep,
  cap: Judged['cap'],
  entitled: boolean,
  { always }: CapSide,
): Judged {
  const hermes: Happened = { ran: said.approved === true, asked: said.asked.length > 0 };
  const as = (name: Class, note: string): Judged => ({ step, hermes, cap, class: name, note });
  const unasked = (world: Happened): boolean => world.ran && !world.asked;
  if (unasked(cap) && !entitled) return as('cap-escape', 'it ran, and nobody had said so');
  if (cap.ran && cap.asked && step.answer === 'deny') return as('cap-escape', 'it ran, and the answer was no');
  if (entitled && !unasked(cap)) return as('unexplained', `it was granted, and is ${cap.code}`);
  if (unasked(hermes) && !entitled) {
    if (always.has(step.use)) return as('agreed', AGREED_APPROVALS['always'] as string);
    return as('hermes-escape', 'it ran without a question, and nobody had said so for this command in this session');
  }
  if (hermes.ran === cap.ran && hermes.asked === cap.asked) return as('equal', '');
  if (said.result?.['hardline'] === true && cap.ran) return as('agreed', AGREED_APPROVALS['hardline'] as string);
  if (said.result?.['hardline'] === true && !cap.ran) return as('equal', 'neither ran');
  if (!hermes.ran && cap.ran) return as('hermes-overblock', String(said.result?.['message'] ?? ''));
  return as('unexplained', JSON.stringify({ hermes, cap, entitled }));
}
