/**
 * Every mechanism, and the tests that notice when it is left out.
 *
 * A row is added with the mechanism: `mutant('NAME')` in the source (of the vat's `drivers/mutant.ts`) leaves it out when
 * `HOB_MUTANT=NAME`. `npm run mutants` fails for a row that no test catches, and for a mutant without a row.
 */
export interface Mutant {
  name: string;
  /** What is left out, and so what no longer holds. */
  breaks: string;
  /** Test files that should notice, relative to the repository. */
  tests: readonly string[];
}

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'guest-memory',
    breaks: 'a program may fill the memory of its process',
    tests: ['packages/guest/src/attack.test.ts'],
  },
  {
    name: 'guest-cpu',
    breaks: 'a loop runs as long as its process lives',
    tests: ['packages/guest/src/attack.test.ts'],
  },
  {
    name: 'guest-wall',
    breaks: 'a program may wait for ever',
    tests: ['packages/guest/src/attack.test.ts'],
  },
  {
    name: 'guest-output',
    breaks: 'a console prints without end',
    tests: ['packages/guest/src/attack.test.ts'],
  },
  {
    name: 'guest-abort',
    breaks: 'the signal of an evaluation is not heard',
    tests: ['packages/guest/src/guests.test.ts'],
  },
  {
    name: 'guest-reuse',
    breaks: 'a process runs the program of the next one, too',
    tests: ['packages/guest/src/guests.test.ts'],
  },
  {
    name: 'guest-shrink',
    breaks: 'as many processes wait for ever as were ever wanted at once',
    tests: ['packages/guest/src/guests.test.ts'],
  },
  {
    name: 'guest-unconfined',
    breaks: 'without a sandbox programs run without one',
    tests: ['packages/guest/src/guests.test.ts'],
  },
  {
    name: 'guest-inspect',
    breaks: 'a program’s own inspectors are called with the one of the process',
    tests: ['packages/guest/src/attack.test.ts'],
  },
  {
    name: 'guest-endowments',
    breaks: 'what the classes of the machine have beyond the standard is handed to programs',
    tests: ['packages/guest/src/attack.test.ts'],
  },
  {
    name: 'source-refuse',
    breaks: 'a program that loads modules is refused somewhere in it, not before it runs, and without a remedy',
    tests: ['packages/guest/src/source/prepare.test.ts'],
  },
  {
    name: 'actors-names',
    breaks: 'a module of actors that names what it was not given is loaded',
    tests: ['packages/guest/src/actors.test.ts'],
  },
  {
    name: 'actors-manifest',
    breaks: 'a module of actors gets powers that its manifest does not name',
    tests: ['packages/guest/src/actors.test.ts'],
  },
  {
    name: 'actors-frozen',
    breaks: 'a module of actors can change the words that other modules use',
    tests: ['packages/guest/src/actors.test.ts'],
  },
  {
    name: 'code-holder',
    breaks: 'a child session that was handed `code` runs programs over what its parent holds',
    tests: ['packages/host/src/code.test.ts'],
  },
  {
    name: 'code-revoke',
    breaks: 'a program goes on when the grant of `code` has ended',
    tests: ['packages/host/src/code.test.ts'],
  },
  {
    name: 'source-escape',
    breaks: 'a program fails because of the text in its strings',
    tests: ['packages/guest/src/source/prepare.test.ts'],
  },
  {
    name: 'pipe-junk',
    breaks: 'a line that is no JSON ends the process that reads it',
    tests: ['packages/vat/src/drivers/pipe.test.ts'],
  },
  {
    name: 'pipe-endless',
    breaks: 'a line without an end is kept for ever',
    tests: ['packages/vat/src/drivers/pipe.test.ts'],
  },
  {
    name: 'answer-digest',
    breaks: 'an answer counts whatever digest it names',
    tests: ['packages/host/src/powerbox/request.test.ts', 'packages/host/src/powerbox/gate.test.ts'],
  },
  {
    name: 'answer-granter',
    breaks: 'a granter can answer requests of sessions that do not name them',
    tests: ['packages/host/src/powerbox/request.test.ts'],
  },
  {
    name: 'answer-late',
    breaks: 'an answer counts after the request’s deadline',
    tests: ['packages/host/src/powerbox/request.test.ts'],
  },
  {
    name: 'answer-live',
    breaks: 'a call of a grant that has ended is let go on',
    tests: ['packages/host/src/powerbox/gate.test.ts'],
  },
  {
    name: 'answer-stale',
    breaks: 'a yes counts although the file has changed since it was shown',
    tests: ['packages/host/src/powerbox/gate.test.ts'],
  },
  {
    name: 'judge-grants',
    breaks: 'a proposal of a judge is a yes',
    tests: ['packages/host/src/powerbox/judge.test.ts'],
  },
  {
    name: 'request-alone',
    breaks: 'a request stays although nobody waits for it any more',
    tests: ['packages/host/src/powerbox/gate.test.ts'],
  },
  {
    name: 'request-asker',
    breaks: 'requests outlive the session that asked',
    tests: ['packages/host/src/powerbox/request.test.ts'],
  },
  {
    name: 'request-deadline',
    breaks: 'a request never runs out',
    tests: ['packages/host/src/powerbox/request.test.ts'],
  },
  {
    name: 'request-digest',
    breaks: 'all requests have the same digest',
    tests: ['packages/host/src/powerbox/request.test.ts', 'packages/host/src/powerbox/gate.test.ts'],
  },
  {
    name: 'request-group',
    breaks: 'the same is asked many times over',
    tests: ['packages/host/src/powerbox/request.test.ts'],
  },
  {
    name: 'request-lasting',
    breaks: 'a lasting no lasts until it is asked again',
    tests: ['packages/host/src/powerbox/request.test.ts'],
  },
  {
    name: 'request-limit',
    breaks: 'a session may ask as often as it likes',
    tests: ['packages/host/src/powerbox/request.test.ts'],
  },
  {
    name: 'request-mark',
    breaks: 'the agent’s words stand there as if they were ours',
    tests: ['packages/host/src/powerbox/request.test.ts'],
  },
  {
    name: 'request-once',
    breaks: 'a request stays open after its answer',
    tests: ['packages/host/src/powerbox/request.test.ts'],
  },
  {
    name: 'request-pin',
    breaks: 'a write goes on whatever has become of the file since the yes',
    tests: ['packages/host/src/powerbox/gate.test.ts'],
  },
  {
    name: 'request-restart',
    breaks: 'requests of an earlier process can be answered',
    tests: ['packages/host/src/powerbox/restart.test.ts'],
  },
  {
    name: 'request-stale',
    breaks: 'what cannot be pinned is not looked at again after the yes',
    tests: ['packages/host/src/powerbox/gate.test.ts'],
  },
  {
    name: 'request-versions',
    breaks: 'the digest does not tell one version of a file from another',
    tests: ['packages/host/src/powerbox/gate.test.ts'],
  },
  {
    name: 'words-escape',
    breaks: 'the words of others are shown as they came',
    tests: [
      'packages/host/src/powerbox/words.test.ts',
      'packages/host/src/powerbox/request.test.ts',
      'packages/host/src/powerbox/gate.test.ts',
    ],
  },
  {
    name: 'words-lookalike',
    breaks: 'letters that pass for others are not pointed out',
    tests: ['packages/host/src/powerbox/words.test.ts'],
  },
  {
    name: 'captp-digits',
    breaks: 'a frame may hold any number of long bigints',
    tests: ['packages/vat/src/captp/attack.test.ts'],
  },
  {
    name: 'captp-empty',
    breaks: 'empty binary frames cost their sender nothing',
    tests: ['packages/vat/src/captp/attack.test.ts', 'packages/vat/src/captp/hostile.test.ts'],
  },
  {
    name: 'captp-held',
    breaks: 'calls that wait for the bootstrap are not counted',
    tests: ['packages/vat/src/captp/keeping.test.ts'],
  },
  {
    name: 'captp-keys',
    breaks: 'new names of keys count for no more than any other',
    tests: ['packages/vat/src/captp/attack.test.ts'],
  },
  {
    name: 'captp-loss',
    breaks: 'a connection on which nothing waited goes on after a commit that failed',
    tests: ['packages/vat/src/captp/commit.test.ts'],
  },
  {
    name: 'captp-promises',
    breaks: 'a frame may bring as many new promises as there is room for',
    tests: ['packages/vat/src/captp/attack.test.ts'],
  },
  {
    name: 'captp-redrop',
    breaks: 'a promise that is dropped and mentioned again is waited for once more each time',
    tests: ['packages/vat/src/captp/keeping.test.ts'],
  },
  {
    name: 'captp-ring',
    breaks: 'a ring of promises through two vats waits for itself for ever',
    tests: ['packages/vat/src/captp/settled.test.ts'],
  },
  {
    name: 'captp-ring-answer',
    breaks:
      'two peers make an answer and a promise wait for each other, and the next one who asks runs in circles for ever',
    tests: ['packages/vat/src/captp/settled.test.ts'],
  },
  {
    name: 'captp-room',
    breaks: 'an answer is measured only when all of it was written',
    tests: ['packages/vat/src/captp/dialects/room.test.ts'],
  },
  {
    name: 'captp-send-only',
    breaks: 'a call without an answer that goes on to another peer becomes a question there',
    tests: ['packages/vat/src/captp/third-party.test.ts'],
  },
  {
    name: 'captp-slice',
    breaks: 'a text that was cut off keeps the whole frame',
    tests: ['packages/vat/src/captp/keeping.test.ts'],
  },
  {
    name: 'captp-sink-end',
    breaks: 'a sink whose writer has vanished is told nothing, and stays open',
    tests: ['packages/vat/src/captp/stream-ends.test.ts'],
  },
  {
    name: 'captp-stream-end',
    breaks: 'the source of a stream whose reader vanished is left open',
    tests: ['packages/vat/src/captp/stream-ends.test.ts'],
  },
  {
    name: 'captp-symbols',
    breaks: 'each name of a symbol is kept for ever',
    tests: ['packages/vat/src/captp/attack.test.ts'],
  },
  {
    name: 'vat-shared-data',
    breaks: 'data that is shared all the way down costs 2 to its depth',
    tests: ['packages/vat/src/values.test.ts'],
  },
  {
    name: 'vat-hand-over',
    breaks: 'a driver keeps the bytes that it gave away',
    tests: ['packages/vat/src/hand-over.test.ts'],
  },
  {
    name: 'vat-turn-promise',
    breaks: 'a promise that is delivered again is waited for once more each time',
    tests: ['packages/vat/src/turn-promise.test.ts'],
  },
  {
    name: 'vat-time',
    breaks: 'vat time begins anew with each process',
    tests: ['packages/vat/src/durable/vat-time.test.ts'],
  },
  {
    name: 'sweep-at-open',
    breaks: 'what an earlier process left behind stays until somebody asks',
    tests: ['packages/vat/src/durable/sweep.test.ts'],
  },
  {
    name: 'sleep',
    breaks: 'an actor that fell asleep forgets its state',
    tests: ['packages/vat/src/durable/sleep.test.ts'],
  },
  {
    name: 'suspended',
    breaks: 'limited grants of a store that was put back go on by themselves',
    tests: ['packages/revocable/src/durable.test.ts'],
  },
  {
    name: 'sentinel',
    breaks: 'a store that was put back passes for the latest',
    tests: ['packages/vat/src/store/history.test.ts'],
  },
  {
    name: 'vat-rollback-state',
    breaks: 'a turn that throws keeps its becomes and spawns',
    tests: ['packages/vat/src/turn.test.ts', 'packages/vat/src/model.test.ts'],
  },
  {
    name: 'vat-rollback-sends',
    breaks: 'a turn that throws still sends',
    tests: ['packages/vat/src/turn.test.ts', 'packages/vat/src/model.test.ts'],
  },
  {
    name: 'vat-rollback-rows',
    breaks: 'a turn that throws keeps its table writes',
    tests: ['packages/vat/src/table.test.ts', 'packages/vat/src/model.test.ts'],
  },
  {
    name: 'table-walk',
    breaks: 'a walk over a table does not notice that keys came or went: it leaves rows out, or gives them twice',
    tests: ['packages/vat/src/table.test.ts'],
  },
  {
    name: 'vat-savepoint',
    breaks: 'attempt undoes nothing',
    tests: ['packages/vat/src/turn.test.ts', 'packages/vat/src/model.test.ts'],
  },
  {
    name: 'vat-become-identity',
    breaks: 'a become token of another actor, or of an earlier call, counts',
    tests: ['packages/vat/src/actor.test.ts'],
  },
  {
    name: 'vat-async-behaviour',
    breaks: 'a behaviour may answer with a promise of its own',
    tests: ['packages/vat/src/actor.test.ts'],
  },
  {
    name: 'vat-near',
    breaks: 'a reference to another vat can be called at once',
    tests: ['packages/vat/src/eventual.test.ts', 'packages/vat/src/model.test.ts'],
  },
  {
    name: 'vat-outside',
    breaks: 'a stream behind a forwarder that was never read is told nothing when its reader has vanished',
    tests: ['packages/vat/src/captp/stream-ends.test.ts', 'packages/revocable/src/streams.test.ts'],
  },
  {
    name: 'vat-resolved-bytes',
    breaks: 'data in which a promise became bytes is handed on as it is',
    tests: ['packages/vat/src/values.test.ts'],
  },
  {
    name: 'vat-frozen-data',
    breaks: 'what was passed can be changed by its receiver',
    tests: ['packages/vat/src/values.test.ts'],
  },
  {
    name: 'vat-thrown',
    breaks: 'what was thrown leaves the turn as it is',
    tests: ['packages/vat/src/values.test.ts'],
  },
  {
    name: 'vat-link-order',
    breaks: 'messages that wait at a promise lose their place when it becomes another promise',
    tests: ['packages/vat/src/order.test.ts', 'packages/vat/src/vow.test.ts'],
  },
  {
    name: 'vat-cycle',
    breaks: 'a promise resolved to itself is left pending',
    tests: ['packages/vat/src/model.test.ts'],
  },
  {
    name: 'vat-settle-in-turn',
    breaks: 'promises settle by recursion, so a long chain fills the stack',
    tests: ['packages/vat/src/vow.test.ts'],
  },
  {
    name: 'vat-halt',
    breaks: 'messages that waited are delivered in a halted vat',
    tests: ['packages/vat/src/vat.test.ts', 'packages/vat/src/model.test.ts'],
  },
  {
    name: 'vat-fairness',
    breaks: 'a meter runs until its queue is empty',
    tests: ['packages/vat/src/scheduler.test.ts'],
  },
  {
    name: 'vat-cut',
    breaks: 'messages under an ended cause are delivered',
    tests: ['packages/vat/src/driver.test.ts'],
  },
  {
    name: 'vat-limit',
    breaks: 'no budget has a limit',
    tests: ['packages/vat/src/meter.test.ts', 'packages/vat/src/table.test.ts', 'packages/vat/src/vow.test.ts'],
  },
  {
    name: 'vat-sealed',
    breaks: 'a reference leads to its class, whose statics open it',
    tests: ['packages/vat/src/reference.test.ts'],
  },
  {
    name: 'sync-normal',
    breaks: 'a commit is written, not synced (SQLite synchronous=NORMAL)',
    tests: ['packages/vat/crash/crash.test.ts'],
  },
  {
    name: 'no-dir-fsync',
    breaks: 'the names of a new store never reach the disk',
    tests: ['packages/vat/crash/crash.test.ts'],
  },
  {
    name: 'send-before-commit',
    breaks: 'what a turn sends and answers leaves before its lines are committed',
    tests: ['packages/vat/crash/crash.test.ts'],
  },
  {
    name: 'ledger',
    breaks: 'a line does not name the one before it',
    tests: ['packages/vat/src/ledger/ledger.test.ts', 'packages/vat/src/ledger/crash.test.ts'],
  },
  {
    name: 'signature',
    breaks: 'a checkpoint counts whoever signed it',
    tests: ['packages/vat/src/ledger/checkpoint.test.ts'],
  },
  {
    name: 'redaction',
    breaks: 'redacted arguments stay in the store',
    tests: ['packages/vat/src/ledger/arguments.test.ts'],
  },
  {
    name: 'redaction-log',
    breaks: 'redacted arguments stay in the write-ahead log',
    tests: ['packages/vat/src/ledger/arguments.test.ts'],
  },
  {
    name: 'coalescing',
    breaks: 'a refusal is counted twice',
    tests: ['packages/vat/src/ledger/runs.test.ts'],
  },
  {
    name: 'line-budget',
    breaks: 'a session writes as many ledger lines as it likes',
    tests: ['packages/vat/src/ledger/budget.test.ts'],
  },
  {
    name: 'reserve',
    breaks: 'on a full disk nothing can be revoked for good',
    tests: ['packages/vat/src/store/reserve.test.ts'],
  },
  { name: 'revoker', breaks: 'a revoked grant goes on', tests: ['packages/revocable/src/grant.test.ts'] },
  { name: 'limit', breaks: 'a grant of N uses is one of any number', tests: ['packages/revocable/src/grant.test.ts'] },
  {
    name: 'stack-charge',
    breaks: 'of stacked forwarders one is charged although another refuses',
    tests: ['packages/revocable/src/stacking.test.ts'],
  },
  { name: 'narrow', breaks: 'to narrow can widen', tests: ['packages/revocable/src/change.test.ts'] },
  {
    name: 'backup-once',
    breaks: 'a backup gives up where a write is under way as it begins',
    tests: ['packages/vat/src/drivers/sqlite.test.ts'],
  },
  {
    name: 'durable-batch',
    breaks: 'turns run on while the disk is behind, and commits grow with what waits',
    tests: ['packages/vat/src/durable/batch.test.ts'],
  },
  {
    name: 'first',
    breaks: 'messages and alarms of the last process go on before what was to run first',
    tests: ['packages/vat/src/durable/first.test.ts'],
  },
  {
    name: 'stop-at-open',
    breaks: 'a stop that the host could not carry out is forgotten',
    tests: ['packages/host/src/stop.test.ts'],
  },
  {
    name: 'session-end',
    breaks: 'what a session was granted goes on when it has ended',
    tests: ['packages/host/src/sessions.test.ts'],
  },
  {
    name: 'rotate',
    breaks: 'an old secret opens although the new one was used',
    tests: ['packages/host/src/sessions.test.ts'],
  },
  {
    name: 'sturdyref-rotate',
    breaks: 'an old sturdyref opens although the new one was used',
    tests: ['packages/host/src/sturdyrefs.test.ts'],
  },
  {
    name: 'sturdyref-ended',
    breaks: 'a sturdyref lets in although its grant is over',
    tests: ['packages/host/src/sturdyrefs.test.ts'],
  },
  {
    name: 'delegate',
    breaks: 'a child is handed what its parent holds, without a forwarder of its own',
    tests: ['packages/host/src/delegation.test.ts'],
  },
  {
    name: 'granter-apart',
    breaks: "a granter sees and ends another's sessions",
    tests: ['packages/host/src/grants.test.ts'],
  },
  {
    name: 'ledger-apart',
    breaks: "a granter reads the lines of another's sessions",
    tests: ['packages/host/src/grants.test.ts'],
  },
  {
    name: 'look-alike',
    breaks: 'a petname that looks like another is bound beside it',
    tests: ['packages/host/src/names.test.ts'],
  },
  { name: 'url-time', breaks: 'an object URL never runs out', tests: ['packages/host/src/object-call.test.ts'] },
  { name: 'origin', breaks: 'a web page can enter', tests: ['packages/host/src/entry.test.ts'] },
  {
    name: 'fs-mount-terms',
    breaks: 'a directory with except, a quota or a choice of operations is mounted all the same',
    tests: ['packages/caps-fs/src/mountable.test.ts'],
  },
  {
    name: 'fs-mount-hold',
    breaks: 'a cap is closed before whoever mounted it has let go',
    tests: ['packages/caps-fs/src/mountable.test.ts'],
  },
  {
    name: 'fs-openat2-links',
    breaks: 'the one system call of the native backend follows links and leaves the directory',
    tests: ['packages/caps-fs/src/drivers/native.test.ts', 'packages/caps-fs/src/escapes.test.ts'],
  },
  {
    name: 'fs-openat2-mounts',
    breaks: 'the one system call of the native backend goes into other mounts',
    tests: ['packages/caps-fs/src/escapes.test.ts'],
  },
  {
    name: 'fs-floor',
    breaks: 'a holder of a directory fills the disk to the last byte',
    tests: ['packages/caps-fs/src/room.test.ts'],
  },
  {
    name: 'fs-except',
    breaks: 'an excepted name can be opened',
    tests: ['packages/caps-fs/src/terms.test.ts'],
  },
  {
    name: 'fs-thread-line',
    breaks: 'a search whose cap is closed waits for those of others',
    tests: ['packages/caps-fs/src/seek.test.ts'],
  },
  {
    name: 'fs-thread-end',
    breaks: 'a search goes on when its cap is closed',
    tests: ['packages/caps-fs/src/seek.test.ts'],
  },
  {
    name: 'fs-breath',
    breaks: 'a loop over small files is the only thing that the process does',
    tests: ['packages/caps-fs/src/life.test.ts'],
  },
  {
    name: 'fs-commit-place',
    breaks: 'a write lands in a directory that was renamed away meanwhile',
    tests: ['packages/caps-fs/src/parallel.test.ts'],
  },
  {
    name: 'fs-remove-in-place',
    breaks: 'a recursive removal is seen in pieces',
    tests: ['packages/caps-fs/src/parallel.test.ts'],
  },
  {
    name: 'fs-append-order',
    breaks: 'a file is renamed while an append writes to it',
    tests: ['packages/caps-fs/src/order.test.ts'],
  },
  {
    name: 'fs-copy-source',
    breaks: 'a copy shows a file that its source no longer names',
    tests: ['packages/caps-fs/src/order.test.ts'],
  },
  {
    name: 'fs-close-deep',
    breaks: 'what was made deep enough from a cap is used after it was closed',
    tests: ['packages/caps-fs/src/life.test.ts'],
  },
  {
    name: 'fs-line-bytes',
    breaks: 'writes that wait for their turn take all memory',
    tests: ['packages/caps-fs/src/life.test.ts'],
  },
  {
    name: 'fs-except-weight',
    breaks: 'patterns of except make each name take as long as a holder likes',
    tests: ['packages/caps-fs/src/terms.test.ts'],
  },
  {
    name: 'fs-close-keeps',
    breaks: 'of each cap that was closed something stays in memory for ever',
    tests: ['packages/caps-fs/src/life.test.ts'],
  },
  {
    name: 'fs-line-end',
    breaks: 'what stood in line when a cap was closed is still done',
    tests: ['packages/caps-fs/src/life.test.ts'],
  },
  {
    name: 'fs-edit-here',
    breaks: 'an edit that takes long holds everybody up',
    tests: ['packages/caps-fs/src/edit.test.ts'],
  },
  {
    name: 'fs-at-once',
    breaks: 'a search of a large tree holds everybody up',
    tests: ['packages/caps-fs/src/at-once.test.ts'],
  },
  {
    name: 'fs-sweep',
    breaks: 'what a killed write left stays for ever',
    tests: ['packages/caps-fs/src/sweep.test.ts'],
  },
  {
    name: 'driver-lasts',
    breaks: 'files and streams that came out of a grant stay open when it ends',
    tests: ['packages/host/src/directory.test.ts'],
  },
  {
    name: 'fs-nofollow',
    breaks: 'a swap of a directory with a link between two looks leads out',
    tests: ['packages/caps-fs/src/escapes.test.ts'],
  },
  {
    name: 'fs-mount',
    breaks: 'a mount beneath the root is entered',
    tests: ['packages/caps-fs/src/escapes.test.ts'],
  },
  {
    name: 'fs-device',
    breaks: 'a FIFO or a device is opened',
    tests: ['packages/caps-fs/src/escapes.test.ts'],
  },
  {
    name: 'fs-sticky',
    breaks: 'a stranger’s link in a sticky directory is followed',
    tests: ['packages/caps-fs/src/escapes.test.ts'],
  },
  {
    name: 'fs-dotdot',
    breaks: 'a path may go upwards',
    tests: ['packages/caps-fs/src/escapes.test.ts'],
  },
  {
    name: 'fs-trailing-slash',
    breaks: 'a file is found by a name that says directory',
    tests: ['packages/caps-fs/src/escapes.test.ts'],
  },
  {
    name: 'fs-atomic',
    breaks: 'a reader meets no file while it is replaced',
    tests: ['packages/caps-fs/src/draft.test.ts', 'packages/caps-fs/src/memory.test.ts'],
  },
  {
    name: 'fs-write-order',
    breaks: 'a small write goes ahead of an append that is under way',
    tests: ['packages/caps-fs/src/memory.test.ts'],
  },
  {
    name: 'fs-in-memory',
    breaks: 'everybody waits for the disk when a small file is written',
    tests: ['packages/caps-fs/src/memory.test.ts'],
  },
  {
    name: 'fs-durable',
    breaks: 'a durable write does not wait until its name is on the disk',
    tests: ['packages/caps-fs/src/traps.test.ts'],
  },
  {
    name: 'fs-size',
    breaks: 'a file that says 0 bytes is empty',
    tests: ['packages/caps-fs/src/traps.test.ts'],
  },
  {
    name: 'fs-retry',
    breaks: 'a name that changes while it is looked at is given up at once',
    tests: ['packages/caps-fs/src/traps.test.ts'],
  },
  {
    name: 'fs-handle',
    breaks: 'a descriptor is closed while another operation uses it',
    tests: ['packages/caps-fs/src/life.test.ts'],
  },
  {
    name: 'fs-quota',
    breaks: 'a quota is not charged',
    tests: ['packages/caps-fs/src/terms.test.ts'],
  },
  {
    name: 'fs-read-only',
    breaks: 'a read-only directory is written',
    tests: ['packages/caps-fs/src/terms.test.ts'],
  },
  { name: 'symlink', breaks: 'a link leads out of the directory', tests: ['packages/caps-fs/src/escapes.test.ts'] },
  {
    name: 'captp-note',
    breaks: 'an error whose text does not leave is noted nowhere',
    tests: ['packages/vat/src/captp/faults.test.ts'],
  },
  {
    name: 'captp-encoded',
    breaks: 'an answer that could not be carried takes calls all the same',
    tests: ['packages/vat/src/captp/hostile.test.ts'],
  },
  {
    name: 'captp-quoted',
    breaks: 'a long text is written as if no letter of it needed a backslash',
    tests: ['packages/vat/src/captp/dialects/quoted.test.ts'],
  },
  {
    name: 'captp-owned-kept',
    breaks: 'the memory of bytes that were given away and sent waits for the garbage collector',
    tests: ['packages/vat/src/captp/session/owned.test.ts'],
  },
  {
    name: 'captp-owned-unwritten',
    breaks: 'the memory of bytes goes back before the transport has written it',
    tests: ['packages/vat/src/captp/session/owned.test.ts'],
  },
  {
    name: 'captp-owned-named',
    breaks: 'the memory of bytes goes back while the peer may still name their answer',
    tests: ['packages/vat/src/captp/session/owned.test.ts'],
  },
  {
    name: 'captp-embargo',
    breaks: 'what is sent to an object overtakes what was sent to the promise of it',
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
    tests: ['packages/vat/src/captp/order.test.ts'],
  },
  {
    name: 'captp-take-closed',
    breaks: 'a session that ended in the middle of a frame takes in what comes after',
    tests: ['packages/vat/src/captp/keeping.test.ts'],
  },
  {
    name: 'captp-memory-answers',
    breaks: 'what a peer asked for in one frame is answered whole before anybody looks whether it reads',
    tests: ['packages/vat/src/captp/keeping.test.ts'],
  },
  {
    name: 'captp-memory-socket',
    breaks: 'what waits in the socket of a peer that does not read is kept on top of what it may make us keep',
    tests: ['packages/vat/src/captp/keeping.test.ts'],
  },
  {
    name: 'captp-mentions',
    breaks: 'a drop forgets an export whose mention crossed with it',
    tests: ['packages/vat/src/captp/settled.test.ts', 'packages/vat/src/captp/random.test.ts'],
  },
  {
    name: 'captp-crossing',
    breaks: 'a promise that was settled, dropped and mentioned on the way is never heard of again',
    tests: ['packages/vat/src/captp/settled.test.ts', 'packages/vat/src/captp/random.test.ts'],
  },
  {
    name: 'captp-disconnect',
    breaks: 'when the connection ends, calls and promises go on waiting',
    tests: ['packages/vat/src/captp/reentry.test.ts', 'packages/vat/src/captp/random.test.ts'],
  },
  {
    name: 'captp-drop',
    breaks: 'what a peer has given back is kept until the connection closes',
    tests: ['packages/vat/src/captp/captp.test.ts'],
  },
  {
    name: 'captp-memory',
    breaks: 'a peer can make a connection keep as much as it likes',
    tests: ['packages/vat/src/captp/hostile.test.ts', 'packages/vat/src/captp/endo.test.ts'],
  },
  {
    name: 'captp-send-before-commit',
    breaks: 'what a turn sends to a peer leaves before the turn is on the disk',
    tests: ['packages/vat/src/captp/commit.test.ts'],
  },
  {
    name: 'captp-mask',
    breaks: 'what goes to another machine is not masked',
    tests: ['packages/vat/src/drivers/websocket.test.ts'],
  },
  {
    name: 'captp-gather',
    breaks: 'bytes and the frame that names them wake the peer twice',
    tests: ['packages/vat/src/drivers/websocket.test.ts'],
  },
  {
    name: 'captp-ping',
    breaks: 'a peer that is gone without a word is waited for',
    tests: ['packages/vat/src/drivers/websocket.test.ts'],
  },
  {
    name: 'pragma-to-its-end',
    breaks: 'a switch to the write-ahead log that failed goes unseen: the last commit is lost with the power',
    tests: ['packages/vat/crash/faults.test.ts'],
  },
  {
    name: 'durable-undo',
    breaks: 'what a failed commit did not write stays in memory',
    tests: ['packages/vat/crash/faults.test.ts'],
  },
  {
    name: 'durable-reopen',
    breaks: 'after one failed commit nothing is committed any more',
    tests: ['packages/vat/crash/faults.test.ts'],
  },
  {
    name: 'store-stale',
    breaks: 'a commit is done though the one that it follows was not',
    tests: ['packages/vat/crash/follower.test.ts'],
  },
  {
    name: 'thread-bell',
    breaks: 'a read of the store is answered with what another one asked',
    tests: ['packages/vat/crash/thread.test.ts'],
  },
  {
    name: 'durable-send-before-commit',
    breaks: 'what a turn sends to a driver leaves before the turn is on the disk',
    tests: ['packages/vat/src/durable/attacks.test.ts'],
  },
  {
    name: 'durable-read-only',
    breaks: 'a turn that only read answers before what it read is on the disk',
    tests: ['packages/vat/src/durable/attacks.test.ts', 'packages/vat/src/durable/edge.test.ts'],
  },
  {
    name: 'durable-outbox',
    breaks: 'a message on its way inside the store is lost with the process',
    tests: ['packages/vat/src/durable/attacks.test.ts'],
  },
  {
    name: 'durable-consume',
    breaks: 'a message is delivered again after a restart',
    tests: ['packages/vat/src/durable/restart.test.ts', 'packages/vat/src/durable/attacks.test.ts'],
  },
  {
    name: 'durable-kind-check',
    breaks: 'a store with objects that nobody defines is opened all the same',
    tests: ['packages/vat/src/durable/restart.test.ts', 'packages/vat/src/durable/attacks.test.ts'],
  },
  {
    name: 'roots',
    breaks: 'a granted root may hold the host’s own state and code',
    tests: ['packages/host/src/drivers/roots.test.ts'],
  },
  {
    name: 'frame',
    breaks: 'frames are parsed whatever they cost',
    tests: ['packages/vat/src/captp/dialects/endo.test.ts', 'packages/vat/src/captp/dialects/hob.test.ts'],
  },
  {
    name: 'durable-sweep',
    breaks: 'the sweep deletes what somebody holds',
    tests: ['packages/vat/src/durable/sweep.test.ts'],
  },
  {
    name: 'wake-restart',
    breaks: 'what an actor wanted to be woken for is forgotten at a restart',
    tests: ['packages/vat/src/wake.test.ts'],
  },
  {
    name: 'wake-undo',
    breaks: 'a wake that an undone turn set comes all the same',
    tests: ['packages/vat/src/wake.test.ts'],
  },
  {
    name: 'passing-cut',
    breaks: 'a caller waits for an object behind that does not end, though the grant has',
    tests: ['packages/revocable/src/forward.test.ts'],
  },
  {
    name: 'passing-next',
    breaks: 'calls on an answer that is not there yet wait for it before they pass a membrane',
    tests: ['packages/revocable/src/membrane.test.ts'],
  },
  {
    name: 'tell-anyway',
    breaks: 'who calls near and undoes the turn makes a forwarder forget that it expired',
    tests: ['packages/revocable/src/forward.test.ts'],
  },
  {
    name: 'near-charge',
    breaks: 'a counted cap can be called near, and the charge undone',
    tests: ['packages/revocable/src/revocable.test.ts', 'packages/revocable/src/forward.test.ts'],
  },
  {
    name: 'refund',
    breaks: 'a call that fails gives its use back',
    tests: ['packages/revocable/src/revocable.test.ts'],
  },
  {
    name: 'wrap',
    breaks: 'what comes out of a grant is bare',
    tests: ['packages/revocable/src/revocable.test.ts', 'packages/revocable/src/membrane.test.ts'],
  },
  {
    name: 'late-result',
    breaks: 'what an object answers after the end is passed on',
    tests: ['packages/revocable/src/grant.test.ts'],
  },
  {
    name: 'grace',
    breaks: 'results of calls that were made in time are dropped at the deadline',
    tests: ['packages/revocable/src/grant.test.ts', 'packages/revocable/src/revocable.test.ts'],
  },
  {
    name: 'latch',
    breaks: 'a wall clock that is set back revives an expired grant',
    tests: ['packages/revocable/src/grant.test.ts'],
  },
  {
    name: 'wall-only',
    breaks: 'a grant lasts as long as the wall clock says',
    tests: ['packages/revocable/src/grant.test.ts'],
  },
  {
    name: 'boot',
    breaks: 'a grant of so many ms outlives the boot of the machine',
    tests: ['packages/revocable/src/durable.test.ts', 'packages/revocable/src/scopes.test.ts'],
  },
  {
    name: 'facet',
    breaks: 'a method that was not named passes',
    tests: ['packages/revocable/src/forward.test.ts', 'packages/revocable/src/grant.test.ts'],
  },
  {
    name: 'bound-data',
    breaks: 'arguments are compared by their text',
    tests: ['packages/revocable/src/bounds.test.ts'],
  },
  {
    name: 'bound-extra',
    breaks: 'arguments that no bound speaks of pass',
    tests: ['packages/revocable/src/bounds.test.ts'],
  },
  {
    name: 'gated-below',
    breaks: 'what comes out of a gated cap waits for nobody, or nobody is told where it came from',
    tests: ['packages/revocable/src/gated.test.ts'],
  },
  {
    name: 'gated-data',
    breaks: 'gated arguments may be objects and promises, which can change after approval',
    tests: ['packages/revocable/src/gated.test.ts', 'packages/revocable/src/forward.test.ts'],
  },
  {
    name: 'gated',
    breaks: 'a call goes on whatever was answered',
    tests: ['packages/revocable/src/forward.test.ts'],
  },
  {
    name: 'reveal',
    breaks: 'the host sees through a forwarder that filters or counts',
    tests: ['packages/revocable/src/reveal.test.ts'],
  },
  {
    name: 'membrane-home',
    breaks: 'a face that comes home stays a face',
    tests: ['packages/revocable/src/membrane.test.ts'],
  },
  {
    name: 'membrane-identity',
    breaks: 'an object has a new face each time',
    tests: ['packages/revocable/src/membrane.test.ts', 'packages/revocable/src/durable.test.ts'],
  },
  {
    name: 'membrane-promise',
    breaks: 'a promise goes through a membrane as it is',
    tests: ['packages/revocable/src/membrane.test.ts'],
  },
  {
    name: 'membrane-back',
    breaks: 'a callback goes through a membrane as it is',
    tests: ['packages/revocable/src/membrane.test.ts'],
  },
  {
    name: 'shell-limit-raise',
    breaks: 'a job or an attenuated shell has higher limits than its cap',
    tests: ['packages/caps-shell/src/mounts.test.ts'],
  },
  {
    name: 'shell-attenuate',
    breaks: 'a shell of fewer mounts has all of them',
    tests: ['packages/caps-shell/src/mounts.test.ts'],
  },
  {
    name: 'shell-read-only',
    breaks: 'a read-only shell writes',
    tests: ['packages/caps-shell/src/mounts.test.ts'],
  },
  {
    name: 'shell-mount-rights',
    breaks: 'a directory that was granted for reading is mounted for writing',
    tests: ['packages/caps-shell/src/mounts.test.ts'],
  },
  {
    name: 'shell-mount-end',
    breaks: 'a job keeps the directory that was closed or revoked',
    tests: ['packages/caps-shell/src/mounts.test.ts', 'packages/caps-shell/src/granted.test.ts'],
  },
  {
    name: 'shell-backpressure',
    breaks: 'what a slow reader has not read piles up in the host',
    tests: ['packages/caps-shell/src/shell.test.ts'],
  },
  {
    name: 'shell-keep',
    breaks: 'all that a program writes is kept',
    tests: ['packages/caps-shell/src/shell.test.ts', 'packages/caps-shell/src/output.test.ts'],
  },
  {
    name: 'shell-queue',
    breaks: 'as many jobs run as anybody asks for',
    tests: ['packages/caps-shell/src/shell.test.ts'],
  },
  {
    name: 'shell-timeout',
    breaks: 'a job runs on when its time is over',
    tests: ['packages/caps-shell/src/shell.test.ts'],
  },
  {
    name: 'shell-grace',
    breaks: 'who traps TERM runs on when its time is over',
    tests: ['packages/caps-shell/src/shell.test.ts'],
  },
  {
    name: 'shell-output',
    breaks: 'a job writes more than it may',
    tests: ['packages/caps-shell/src/shell.test.ts'],
  },
  {
    name: 'shell-revoke',
    breaks: 'a job goes on when its grant ends',
    tests: ['packages/caps-shell/src/granted.test.ts', 'packages/caps-shell/src/shell.test.ts'],
  },
  {
    name: 'shell-revoke-wait',
    breaks: 'who revokes a grant does not wait for its jobs',
    tests: ['packages/caps-shell/src/granted.test.ts', 'packages/caps-shell/src/mounts.test.ts'],
  },
  {
    name: 'shell-ledger',
    breaks: 'the ledger says nothing of jobs',
    tests: ['packages/caps-shell/src/granted.test.ts'],
  },
  {
    name: 'shell-holders',
    breaks: 'holders of one shell find and close each other’s jobs',
    tests: ['packages/caps-shell/src/granted.test.ts'],
  },
  {
    name: 'shell-argv',
    breaks: 'a command runs with arguments that nobody described',
    tests: ['packages/caps-shell/src/command.test.ts'],
  },
  {
    name: 'shell-argv-dash',
    breaks: 'a value where a path is wanted is taken for an option',
    tests: ['packages/caps-shell/src/command.test.ts'],
  },
  {
    name: 'shell-exec-changed',
    breaks: 'a program that was replaced or changed runs in place of the granted one',
    tests: ['packages/caps-shell/src/command.test.ts'],
  },
  {
    name: 'shell-give-back',
    breaks: 'what a program writes is freed when the collector comes',
    tests: ['packages/caps-shell/src/kill.test.ts'],
  },
];
