/** The mechanisms of `packages/vat/src/captp/session`, each with the source text that leaves it out: see `../mutant.ts`. */
import type { Mutant } from '../mutant.ts';

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'captp-over-limit',
    breaks: 'a peer that is refused again and again is read as fast as others',
    file: 'packages/vat/src/captp/session/session.ts',
    find: '    this.#outbound.refusing(error);\n',
    replace: '',
    tests: ['packages/vat/src/captp/hostile.test.ts'],
  },
  {
    name: 'captp-ahead',
    breaks: 'a peer is read although thousands of its messages wait in memory',
    file: 'packages/vat/src/captp/session/session.ts',
    find: 'if (!outbound.closesIfOverspent()) outbound.holdIfAhead();',
    replace: 'outbound.closesIfOverspent();',
    tests: ['packages/vat/src/captp/hostile.test.ts'],
  },
  {
    name: 'captp-ahead-ever',
    breaks: 'a peer is not read because calls wait for its promise, which only its next frame can resolve',
    file: 'packages/vat/src/captp/session/outbound.ts',
    find: 'if (account.queued > mostQueued)',
    replace: 'if (account.messages > mostQueued)',
    tests: ['packages/vat/src/captp/hostile.test.ts'],
  },
  {
    name: 'captp-over-frame',
    breaks: 'a peer that asks again and again for a result larger than a frame is read as fast as others',
    file: 'packages/vat/src/captp/session/session.ts',
    find: '      this.#outbound.refusing(why);\n',
    replace: '',
    tests: ['packages/vat/src/captp/hostile.test.ts'],
  },
  {
    name: 'captp-over-limit-of-others',
    breaks: 'an object of one session slows the sessions that call it',
    file: 'packages/vat/src/captp/session/session.ts',
    find: '    this.#outbound.heard(error);\n    this.#questions.refuse',
    replace: '    this.#questions.refuse',
    tests: ['packages/vat/src/captp/hostile.test.ts'],
  },
  {
    name: 'captp-fence',
    breaks: 'an error in an entry of a session ends the process',
    file: 'packages/vat/src/captp/session/fence.ts',
    find: `        this.fence.fault(error);
        return otherwise(this, a, b, c, d, e);`,
    replace: '        throw error;',
    tests: ['packages/vat/src/captp/fence.test.ts', 'packages/vat/src/captp/faults.test.ts'],
  },
  {
    name: 'captp-fence-callbacks',
    breaks: 'an error in a callback of a session ends the process',
    file: 'packages/vat/src/captp/session/fence.ts',
    find: `        body(...args);
      } catch (error) {
        this.fault(error);`,
    replace: `        body(...args);
      } catch (error) {
        throw error;`,
    tests: ['packages/vat/src/captp/fence.test.ts'],
  },
  {
    name: 'captp-fence-told',
    breaks: 'a call whose question was just struck off is never answered after a fault',
    file: 'packages/vat/src/captp/session/questions.ts',
    find: `    this.#connection.fence.run(() => {
      this.#outbound.addBytes(-weights.question);`,
    replace: `    const run = (body: () => void): void => body();
    run(() => {
      this.#outbound.addBytes(-weights.question);`,
    tests: ['packages/vat/src/captp/fence.test.ts'],
  },
  {
    name: 'fence-transports',
    breaks: 'an error in a listener of a transport ends the process',
    file: 'packages/vat/src/captp/session/duplex.ts',
    find: `        body(...args);
      } catch (error) {
        this.fault(error);`,
    replace: `        body(...args);
      } catch (error) {
        throw error;`,
    tests: ['packages/vat/src/captp/transport/websocket.test.ts', 'packages/vat/src/captp/transport/child.test.ts'],
  },
  {
    name: 'captp-promises',
    breaks: 'a frame may bring as many new promises as there is room for',
    file: 'packages/vat/src/captp/session/import-table.ts',
    find: `      if (this.#newPromises > promisesPerFrame)
        throw new CapError('limit', \`a frame may bring \${promisesPerFrame} new promises: send less at a time\`);`,
    replace: '',
    tests: ['packages/vat/src/captp/attack.test.ts'],
  },
  {
    name: 'captp-redrop',
    breaks: 'a promise that is dropped and mentioned again is waited for once more each time',
    file: 'packages/vat/src/captp/session/exports.ts',
    find: 'const again = this.#watching.has(promise);',
    replace: 'const again = false;',
    also: [
      {
        file: 'packages/vat/src/captp/session/exports.ts',
        find: 'if (entry === undefined || entry.told) return undefined;',
        replace: 'if (entry === undefined) return undefined;',
      },
    ],
    tests: ['packages/vat/src/captp/keeping.test.ts'],
  },
  {
    name: 'captp-ring',
    breaks: 'a ring of promises through two vats waits for itself for ever',
    file: 'packages/vat/src/captp/session/exports.ts',
    find: `    if (this.#outbound.dialect.shortens && (!again || promise.path !== undefined))
      this.#connection.fence.watchShortening(promise, () => self.deref()?.tellShortened(promise));`,
    replace: '',
    tests: ['packages/vat/src/captp/settled.test.ts'],
  },
  {
    name: 'captp-ring-answer',
    breaks:
      'two peers make an answer and a promise wait for each other, and the next one who asks runs in circles for ever',
    file: 'packages/vat/src/captp/session/questions.ts',
    find: 'const closes = becoming !== undefined && question.answer.awaitedBy?.(becoming) === true;',
    replace: 'const closes = false;',
    tests: ['packages/vat/src/captp/settled.test.ts'],
  },
  {
    name: 'captp-send-only',
    breaks: 'a call without an answer that goes on to another peer becomes a question there',
    file: 'packages/vat/src/captp/session/answer.ts',
    find: `const wanted = (answer: ResultSink | undefined): ResultSink | undefined =>
  answer instanceof Answer && answer.question === 0 ? undefined : answer;`,
    replace: 'const wanted = (answer: ResultSink | undefined): ResultSink | undefined => answer;',
    tests: ['packages/vat/src/captp/third-party.test.ts'],
  },
  {
    name: 'captp-sink-end',
    breaks: 'a sink whose writer has vanished is told nothing, and stays open',
    file: 'packages/vat/src/captp/session/streams.ts',
    find: "return hasMethods(value, 'write', 'close', 'abort') ? 'abort' : undefined;",
    replace: 'return undefined;',
    tests: ['packages/vat/src/captp/stream-ends.test.ts'],
  },
  {
    name: 'captp-stream-end',
    breaks: 'the source of a stream whose reader vanished is left open',
    file: 'packages/vat/src/captp/session/streams.ts',
    find: 'if ((readers.get(target) ?? 0) > 0 || over.has(target)) return;',
    replace: 'return;',
    tests: ['packages/vat/src/captp/stream-ends.test.ts'],
  },
  {
    name: 'captp-encoded',
    breaks: 'an answer that could not be carried takes calls all the same',
    file: 'packages/vat/src/captp/session/answer.ts',
    find: 'if (why === undefined) return;',
    replace: 'return;',
    tests: ['packages/vat/src/captp/hostile.test.ts'],
  },
  {
    name: 'captp-owned-kept',
    breaks: 'the memory of bytes that were given away and sent waits for the garbage collector',
    file: 'packages/vat/src/captp/session/owned.ts',
    find: `#freeUnused(): void {
    if (this.#written && this.#done) free(this.#bytes);
  }`,
    replace: '#freeUnused(): void {}',
    tests: ['packages/vat/src/captp/session/owned.test.ts'],
  },
  {
    name: 'captp-owned-unwritten',
    breaks: 'the memory of bytes goes back before the transport has written it',
    file: 'packages/vat/src/captp/session/owned.ts',
    find: '#written: boolean = false;',
    replace: '#written: boolean = true;',
    tests: ['packages/vat/src/captp/session/owned.test.ts'],
  },
  {
    name: 'captp-owned-named',
    breaks: 'the memory of bytes goes back while the peer may still name their answer',
    file: 'packages/vat/src/captp/session/owned.ts',
    find: '#done: boolean = false;',
    replace: '#done: boolean = true;',
    tests: ['packages/vat/src/captp/session/owned.test.ts'],
  },
  {
    name: 'captp-embargo',
    breaks: 'what is sent to an object overtakes what was sent to the promise of it',
    file: 'packages/vat/src/captp/session/questions.ts',
    find: `    if (question.sent > 0 && this.#ours(value) && !closes) {
      question.answer.hold?.(becoming);
      return this.#afterFlush(question, (error) => {
        this.#finish(question, true);
        if (error === undefined) behind(after, () => question.answer.fulfil(value));
        else question.answer.break(error);
      });
    }`,
    replace: '',
    also: [
      {
        file: 'packages/vat/src/captp/session/questions.ts',
        find: `    if (promise.sent > 0 && this.#ours(value) && promised(value)?.waitsFor(promise.vatPromise) !== true) {
      promise.vatPromise.hold(promised(value));
      return this.#afterFlush(promise, (error) =>
        this.#resolved(promise, () =>
          error === undefined ? behind(after, () => promise.vatPromise.fulfil(value)) : promise.vatPromise.break(error),
        ),
      );
    }`,
        replace: '',
      },
    ],
    tests: [
      'packages/vat/src/captp/captp.test.ts',
      'packages/vat/src/captp/random.test.ts',
      'packages/vat/src/captp/scenarios.test.ts',
    ],
  },
  {
    name: 'captp-flush',
    breaks:
      'whether what was sent before has arrived is answered before it has: a third party’s messages are overtaken',
    file: 'packages/vat/src/captp/session/flush.ts',
    find: 'try {',
    replace: `return answer.fulfil(undefined);
  try {`,
    tests: ['packages/vat/src/captp/order.test.ts'],
  },
  {
    name: 'captp-take-closed',
    breaks: 'a session that ended in the middle of a frame takes in what comes after',
    file: 'packages/vat/src/captp/session/session.ts',
    find: `    // An answer to an earlier operation of this frame may have closed the session. The rest is not taken in.
    if (this.closed !== undefined) throw new Violation('the session has ended');`,
    replace: '',
    tests: ['packages/vat/src/captp/keeping.test.ts'],
  },
  {
    name: 'captp-memory-answers',
    breaks: 'what a peer asked for in one frame is answered whole before anybody looks whether it reads',
    file: 'packages/vat/src/captp/session/outbound.ts',
    find: `answered(): void {
    if (this.#closed !== undefined) return;`,
    replace: `answered(): void {
    return;`,
    tests: ['packages/vat/src/captp/keeping.test.ts'],
  },
  {
    name: 'captp-memory-socket',
    breaks: 'what waits in the socket of a peer that does not read is kept on top of what it may make us keep',
    file: 'packages/vat/src/captp/session/outbound.ts',
    find: 'const waits = this.#link.buffered;',
    replace: 'const waits = 0;',
    tests: ['packages/vat/src/captp/keeping.test.ts'],
  },
  {
    name: 'endo-answers',
    breaks: 'an Endo peer’s answers are kept after it has given back the objects that they are',
    file: 'packages/vat/src/captp/session/exports.ts',
    find: '      return this.#dropped(entry.value);',
    replace: '      return;',
    tests: ['packages/vat/src/captp/endo-drops.test.ts'],
  },
  {
    name: 'captp-outliving',
    breaks: 'calls that a connection leaves behind are counted for nobody, so who connects again keeps more each time',
    file: 'packages/vat/src/captp/session/answers.ts',
    find: '    this.#session.account.outliving += this.#running;',
    replace: '',
    tests: ['packages/vat/src/captp/keeping.test.ts'],
  },
  {
    name: 'captp-zero',
    breaks: 'a peer can give its bootstrap’s number to a promise',
    file: 'packages/vat/src/captp/session/import-table.ts',
    find: 'if (id === 0 || this.#objects.has(id))',
    replace: 'if (this.#objects.has(id))',
    tests: ['packages/vat/src/captp/hostile.test.ts'],
  },
  {
    name: 'captp-mentions',
    breaks: 'a drop forgets an export whose mention crossed with it',
    file: 'packages/vat/src/captp/session/export-table.ts',
    find: '    if (known.mentions > 0) return false;',
    replace: '',
    tests: ['packages/vat/src/captp/settled.test.ts', 'packages/vat/src/captp/random.test.ts'],
  },
  {
    name: 'captp-crossing',
    breaks: 'a promise that was settled, dropped and mentioned on the way is never heard of again',
    file: 'packages/vat/src/captp/session/exports.ts',
    find: 'if (!entry.told || !isPromise(entry)) return;',
    replace: 'return;',
    tests: ['packages/vat/src/captp/settled.test.ts', 'packages/vat/src/captp/random.test.ts'],
  },
  {
    name: 'captp-disconnect',
    breaks: 'when the connection ends, calls and promises go on waiting',
    file: 'packages/vat/src/captp/session/questions.ts',
    find: `return (why) => {
      breakSome(this.#connection.fence, questions, promises, why);
    };`,
    replace: 'return (why) => {};',
    tests: ['packages/vat/src/captp/reentry.test.ts', 'packages/vat/src/captp/random.test.ts'],
  },
  {
    name: 'captp-drop',
    breaks: 'what a peer has given back is kept until the connection closes',
    file: 'packages/vat/src/captp/session/exports.ts',
    find: 'if (entry === undefined || id === 0 || mentions === 0) return;',
    replace: 'return;',
    tests: ['packages/vat/src/captp/captp.test.ts'],
  },
  {
    name: 'captp-memory',
    breaks: 'a peer can make a connection keep as much as it likes',
    file: 'packages/vat/src/captp/session/outbound.ts',
    find: '    if (this.#bytes + this.dialectSession.kept + waits + outliving <= this.limits.memoryBytes) return false;',
    replace: '    return false;',
    tests: ['packages/vat/src/captp/hostile.test.ts', 'packages/vat/src/captp/endo.test.ts'],
  },
  {
    name: 'captp-send-before-commit',
    breaks: 'what a turn sends to a peer leaves before the turn is on the disk',
    file: 'packages/vat/src/captp/session/imports.ts',
    find: 'if (after === undefined || after.durable) return this.connection.call(this, message);',
    replace: 'return this.connection.call(this, message);',
    tests: ['packages/vat/src/captp/commit.test.ts'],
  },
  {
    name: 'sever-told',
    breaks: 'nobody is told when a connection has ended',
    file: 'packages/vat/src/captp/session/session.ts',
    find: '    this.fence.run(() => this.#severance?.end(why));\n',
    replace: '',
    tests: ['packages/vat/src/captp/sever.test.ts'],
  },
  {
    name: 'sever-late',
    breaks: 'who asks after the end of a connection waits for ever',
    file: 'packages/vat/src/captp/session/severance.ts',
    find: 'if (why !== undefined) this.end(why);',
    replace: '',
    tests: ['packages/vat/src/captp/sever.test.ts'],
  },
  {
    name: 'sever-rest',
    breaks: 'only the first few thousand who wait are told that a connection has ended',
    file: 'packages/vat/src/captp/session/severance.ts',
    find: 'if (this.#waiting.length > 0) this.#fence.onceOthersRan(() => this.end(why));',
    replace: '',
    tests: ['packages/vat/src/captp/sever.test.ts'],
  },
];
