/** Plays one attack against a victim, while a bystander on a connection of its own goes on calling. */
import type { DialectName } from '../src/captp/captp.ts';
import type { Duplex } from '../src/index.ts';
import type { Attack, Scene } from './attack.ts';
import { unexpected } from './attack.ts';
import { type Attacker, EndoAttacker, HobAttacker } from './attacker.ts';
import { knock, type Terms } from './target.ts';

/** How one gets in, and what the victim says of itself. */
export interface Stage {
  readonly port: number;
  /** Without a socket; undefined where only sockets lead in. */
  readonly memory?: ((dialect: DialectName, terms: Terms) => Duplex) | undefined;
  readonly full: boolean;
  weigh?(): Promise<void>;
}

export interface Played {
  readonly outcomes: readonly string[];
  /** The faults, in words. */
  readonly faults: readonly string[];
  /** Calls of the bystander that were answered meanwhile. */
  readonly others: number;
}

const pause = (ms: number): Promise<void> => new Promise((wake) => setTimeout(wake, ms));

export async function play(attack: Attack, dialect: DialectName, stage: Stage): Promise<Played> {
  const entered: Attacker[] = [];
  const come = async (terms: Terms): Promise<Attacker> => {
    if (stage.memory !== undefined && attack.socket !== true) return as(dialect, stage.memory(dialect, terms));
    const { duplex, socket } = await knock(stage.port, dialect, terms);
    const peer = as(dialect, duplex);
    peer.vanish = () => socket.terminate();
    return peer;
  };
  const terms: Terms = { limits: stage.full ? undefined : attack.limits, meter: attack.meter };
  const scene: Scene = {
    dialect,
    port: stage.port,
    size: (small, full) => (stage.full ? full : small),
    enter: async () => {
      const peer = await come(terms);
      entered.push(peer);
      return peer;
    },
    knock: () => knock(stage.port, dialect, terms),
    pause: (ms = 0) => pause(ms),
    weigh: async () => stage.weigh?.(),
  };
  const bystander = await come({});
  const watch = watching(bystander);
  const said = await attack.act(await scene.enter(), scene);
  const outcomes = [...new Set(typeof said === 'string' ? [said] : said)];
  const faults = unexpected(attack, outcomes).map((outcome) => `not expected: ${outcome}`);
  const others = await watch();
  if (others.fault !== undefined) faults.push(others.fault);
  for (const peer of [...entered, bystander]) {
    if (peer.leaked !== undefined) faults.push(`the host said "${peer.leaked}"`);
    if (peer.closed === undefined) peer.leave();
    await peer.end();
  }
  return { outcomes, faults, others: others.calls };
}

const as = (dialect: DialectName, duplex: Duplex): Attacker =>
  dialect === 'captp' ? new EndoAttacker(duplex) : new HobAttacker(duplex);

/**
 * Goes on calling until it is asked to stop; then calls once more, so that it was served after the attack,
 * too.
 */
function watching(peer: Attacker): () => Promise<{ readonly calls: number; readonly fault: string | undefined }> {
  let calls = 0;
  let fault: string | undefined;
  let over = false;
  const once = async (): Promise<void> => {
    const question = peer.call(0, 'echo', calls);
    const outcome = await peer.outcome(question);
    if (outcome === 'answered ok') calls += 1;
    else fault = `another session was told: ${outcome}`;
    peer.raw(peer.frame([peer.finishing(question)]));
  };
  const running = (async () => {
    while (!over && fault === undefined) {
      await once();
      await pause(1);
    }
  })();
  return async () => {
    over = true;
    await running;
    if (fault === undefined) await once();
    return { calls, fault };
  };
}
