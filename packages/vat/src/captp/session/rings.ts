/**
 * Noticing a ring: promises of several vats, each of which is to become the next one.
 *
 * Nobody sees all of it, and nothing in it ever settles. So who makes a promise that a peer waits for into one that another decides asks
 * that one: `__ring__`, with a word that stands for the promise and that nobody can guess. Whoever is asked asks on, who decides his own
 * by now, and again where that changes. Where the question comes to the promise of the word the answer is yes. It goes back the way that it
 * came by, and who asked first breaks his promise with `cycle`; so the others do.
 *
 * Promise: through however many vats, in whatever dialect, a ring breaks. A yes counts only from who decides the promise when it comes: he could
 * break it anyway, so a lie breaks nothing more, and who has let go of a promise has no say in it any more. A word passes a promise once,
 * however often it comes by. What waits for an answer is gone with the connection that it came by.
 *
 * Not every such promise needs a question. Two kinds cannot make a ring by themselves: a question that answers one which was heard before it
 * was asked (each of a ring of those would be older than itself), and somebody's promise that is passed on after it came. Calls that are
 * forwarded are the first kind, and most of all.
 */
import { noChain } from '../../causes.ts';
import { mutant } from '../../drivers/mutant.ts';
import { systemRandom } from '../../drivers/random.ts';
import { CapError } from '../../errors.ts';
import { type Answer, Message, type Target } from '../../message.ts';
import type { Account } from '../../meter.ts';
import { Vow } from '../../vow.ts';
import { type Exit, ImportedPromise, Question, Remote, ringMethod } from './imports.ts';

const neverLooks = mutant('captp-rings');
const saysYes = mutant('captp-ring-mark');
const believesLater = mutant('captp-ring-late');
const asksAgain = mutant('captp-ring-again');
const stays = mutant('captp-ring-moves');
const asksAnything = mutant('captp-ring-calls');

const wordBytes = 16;
const longestWord = 64;
/** How often a promise that moves on is asked for anew: with more a chain of 4,000 promises in one frame costs more than 50 ms. */
const mostMoves = 1;
const words = new WeakMap<Vow, string>();

/** What a peer waits for: its question, or a promise that it was given, and when that was. */
export interface Awaited {
  readonly kind: 'answer' | 'promise';
  readonly born: number;
  /** Its peer is told at once, in another way, where this becomes one of its own. */
  readonly told?: Exit;
}

/** Is told whether the promise waits for the one that he asked about. */
type Asker = (waits: boolean) => void;

/** What was asked of one promise. */
interface Inquiry {
  /** By word: who wants to know. */
  readonly askers: Map<string, Asker[]>;
  /** Who was asked. */
  decider: Target | undefined;
  /** How often it was another one. */
  moves: number;
}

export class Rings {
  readonly #account: Account;
  readonly #inquiries = new Map<Vow, Inquiry>();
  /** A promise that never settles must not keep a session that is over. */
  readonly #self = new WeakRef(this);
  #over = false;

  constructor(account: Account) {
    this.#account = account;
  }

  /** The peer waits for `vow`: looks for a ring whenever that becomes one that somebody else decides. */
  awaits(vow: Vow, awaited: Awaited, known?: Target, moves = 0): void {
    const self = this.#self;
    vow.watchDecider(() => self.deref()?.look(vow, awaited, moves), known);
  }

  look(vow: Vow, awaited: Awaited, moves: number): void {
    if (this.#over || vow.settled !== undefined || neverLooks) return;
    const decider = deciderOf(vow);
    if (decider === undefined || !mayLeadBack(awaited, decider))
      return moves < mostMoves ? this.awaits(vow, awaited, vow.decider, moves + 1) : undefined;
    let word = words.get(vow);
    if (word === undefined) {
      word = Buffer.from(systemRandom(wordBytes)).toString('hex');
      words.set(vow, word);
    }
    this.#ask(vow, word, (waits) => {
      if (waits) Vow.end(vow).break(cycle());
    });
  }

  /** The peer asks whether `target` waits for the promise of this word; undefined where it is data, or broken. */
  asked(target: Target | undefined, word: unknown, asker: Asker): void {
    if (!(target instanceof Vow) || target.settled !== undefined || this.#over) return asker(false);
    if (typeof word !== 'string' || word.length > longestWord) return asker(false);
    if (words.get(target) === word || saysYes) return asker(true);
    this.#ask(target, word, asker);
  }

  /** Asks who decides `vow`, now and whenever that changes. */
  #ask(vow: Vow, word: string, asker: Asker): void {
    const inquiry = this.#inquiries.get(vow) ?? this.#open(vow);
    const { askers } = inquiry;
    const known = askers.get(word);
    if (known !== undefined) known.push(asker);
    else askers.set(word, [asker]);
    if (known === undefined || asksAgain) this.#send(vow, word, inquiry.decider);
  }

  #open(vow: Vow): Inquiry {
    const inquiry: Inquiry = { askers: new Map(), decider: deciderOf(vow), moves: 0 };
    this.#inquiries.set(vow, inquiry);
    const self = this.#self;
    const over = (): void => self.deref()?.settled(vow);
    vow.watch(over, over);
    this.#follow(vow, vow.decider);
    return inquiry;
  }

  #follow(vow: Vow, known: Target | undefined): void {
    const self = this.#self;
    vow.watchDecider(() => self.deref()?.moved(vow), known);
  }

  moved(vow: Vow): void {
    const inquiry = this.#inquiries.get(vow);
    if (inquiry === undefined || stays) return;
    const decider = deciderOf(vow);
    inquiry.moves += 1;
    if (inquiry.moves < mostMoves) this.#follow(vow, vow.decider);
    if (decider === inquiry.decider) return;
    inquiry.decider = decider;
    for (const word of [...inquiry.askers.keys()]) this.#send(vow, word, decider);
  }

  #send(vow: Vow, word: string, decider: Target | undefined): void {
    if (decider === undefined) return;
    const self = this.#self;
    const told = (waits: boolean): void => {
      if (waits) self.deref()?.waits(vow, word, decider);
    };
    if (decider instanceof Vow) return this.asked(decider, word, told);
    // What broke says nothing, like one who does not look.
    const answer: Answer = { fulfil: (said) => told(said === true), break: () => {} };
    try {
      this.#account.charge('messages', 1);
      vow.post(new Message(vow, ringMethod, Object.freeze([word]), false, answer, this.#account, noChain, undefined, undefined)); // biome-ignore format: one line
    } catch {
      // Whose budget is spent waits in its ring: nothing of others hangs on it.
    }
  }

  /** `decider` says that `vow` waits for the promise of this word. */
  waits(vow: Vow, word: string, decider: Target): void {
    const inquiry = this.#inquiries.get(vow);
    const askers = inquiry?.askers.get(word);
    if (askers === undefined || vow.settled !== undefined) return;
    if (deciderOf(vow) !== decider && !believesLater) return;
    inquiry?.askers.delete(word);
    for (const asker of askers) asker(true);
  }

  settled(vow: Vow): void {
    const inquiry = this.#inquiries.get(vow);
    this.#inquiries.delete(vow);
    for (const askers of inquiry?.askers.values() ?? []) for (const asker of askers) asker(false);
  }

  /** The connection is over: nobody waits for anything here. */
  end(): void {
    this.#over = true;
    this.#inquiries.clear();
  }
}

/**
 * Who can be asked. What else messages may go along by is an object of ours that stands for what a forwarder will answer: a question to that
 * would be a call of the grant, with a line.
 */
function deciderOf(vow: Vow): Target | undefined {
  const { decider } = vow;
  return decider instanceof Remote || decider instanceof Vow || asksAnything ? decider : undefined;
}

function mayLeadBack({ kind, born, told }: Awaited, decider: Target): boolean {
  if (!(decider instanceof Remote)) return true;
  if (decider.exit === told) return false;
  if (kind === 'answer') return !(decider instanceof Question && decider.born > born);
  return !(decider instanceof ImportedPromise && born > decider.born);
}

const cycle = (): CapError =>
  new CapError('cycle', 'a promise was resolved to itself, through other vats: resolve it to something else');
