/** The mechanisms of `host`, each with the source text that leaves it out: see `mutant.ts`. */
import type { Mutant } from './mutant.ts';

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'code-holder',
    breaks: 'a child session that was handed `code` runs programs over what its parent holds',
    file: 'packages/host/src/code.ts',
    find: 'const own: Kept | undefined = grants[0];',
    replace: 'const own: Kept | undefined = grants.at(-1);',
    tests: ['packages/host/src/code.test.ts'],
  },
  {
    name: 'code-revoke',
    breaks: 'a program goes on when the grant of `code` has ended',
    file: 'packages/host/src/code.ts',
    find: 'const signal = { signal: watch.signal };',
    replace: 'const signal = {};',
    tests: ['packages/host/src/code.test.ts'],
  },
  {
    name: 'approval-stricter',
    breaks: 'an approval grants what it says, also where that is more than was asked',
    file: 'packages/host/src/powerbox/answers.ts',
    find: 'const given = stricter(asked, said.grant, wallTime());',
    replace: 'const given = wallTime() > 0 ? said.grant : stricter(asked, said.grant, 0);',
    tests: ['packages/host/src/powerbox/stricter.test.ts'],
  },
  {
    name: 'approval-bounds',
    breaks: 'an approval widens the bounds that were asked',
    file: 'packages/host/src/powerbox/stricter.ts',
    find: 'const narrower = above === undefined ? bound : narrowerBound(above, bound);',
    replace: 'const narrower = above === undefined ? bound : (narrowerBound(above, bound) ?? bound);',
    tests: ['packages/host/src/powerbox/stricter.test.ts'],
  },
  {
    name: 'command-strict',
    breaks: 'a command ignores options that it does not take',
    file: 'packages/host/src/command-line.ts',
    find: 'allowPositionals: true, tokens: true }',
    replace: 'allowPositionals: true, tokens: true, strict: false }',
    tests: ['packages/host/src/command-line.test.ts'],
  },
  {
    name: 'answer-digest',
    breaks: 'an answer counts whatever digest it names',
    file: 'packages/host/src/powerbox/answers.ts',
    find: `throw new CapError('invalid', 'an answer is {grant: {…}} or {refuse: "why"}, and may name the digest of what was shown: {…, digest}'); // biome-ignore format: one line
  if (said.digest !== undefined && said.digest !== pending.digest)
    throw new CapError('denied', 'this answers something else than what is asked now: look at the request again');`,
    replace: `throw new CapError(
      'invalid',
      'an answer is {grant: {…}} or {refuse: "why"}, and may name the digest of what was shown: {…, digest}',
    );`,
    tests: ['packages/host/src/powerbox/request.test.ts', 'packages/host/src/powerbox/gate.test.ts'],
  },
  {
    name: 'answer-granter',
    breaks: 'a granter can answer requests of sessions that do not name them',
    file: 'packages/host/src/powerbox/answers.ts',
    find: 'if (pending === undefined || !names(book.rooms.get(pending.session)))',
    replace: 'if (pending === undefined)',
    tests: ['packages/host/src/powerbox/request.test.ts'],
  },
  {
    name: 'answer-late',
    breaks: 'an answer counts after the request’s deadline',
    file: 'packages/host/src/powerbox/answers.ts',
    find: `  if (vatTime() >= pending.deadline)
    throw new CapError('expired', 'nobody answered this in time: it will be asked again if it is still needed');`,
    replace: '',
    tests: ['packages/host/src/powerbox/request.test.ts'],
  },
  {
    name: 'answer-live',
    breaks: 'a call of a grant that has ended is let go on',
    file: 'packages/host/src/powerbox/answers.ts',
    find: `const state = kept === undefined ? 'revoked' : stateOf(book, kept);
    if (state !== 'live' && state !== 'exhausted')
      throw new CapError(state === 'suspended' ? 'unavailable' : state, \`the grant that it was asked under has ended (\${state})\`); // biome-ignore format: one line`,
    replace: "const state = kept === undefined ? 'revoked' : stateOf(book, kept); // biome-ignore format: one line",
    tests: ['packages/host/src/powerbox/gate.test.ts'],
  },
  {
    name: 'answer-stale',
    breaks: 'a yes counts although the file has changed since it was shown',
    file: 'packages/host/src/powerbox/answers.ts',
    find: '      if (!same) return changed(now, still);',
    replace: '',
    tests: ['packages/host/src/powerbox/gate.test.ts'],
  },
  {
    name: 'judge-grants',
    breaks: 'a proposal of a judge is a yes',
    file: 'packages/host/src/powerbox/judge.ts',
    find: 'checkTerms(scoped(terms).terms); // biome-ignore format: one line',
    replace: `checkTerms(scoped(terms).terms);
        return answer(house, names, { by: name, surface: 'judge' }, request, { grant: terms, digest: pending.digest }) as never; // biome-ignore format: one line`,
    also: [
      {
        file: 'packages/host/src/powerbox/judge.ts',
        find: 'import { type Names, pendingOf, refuse }',
        replace: 'import { answer, type Names, pendingOf, refuse }',
      },
    ],
    tests: ['packages/host/src/powerbox/judge.test.ts'],
  },
  {
    name: 'request-alone',
    breaks: 'a request stays although nobody waits for it any more',
    file: 'packages/host/src/powerbox/powerbox.ts',
    find: "      if (pending !== undefined && of?.count === 0) withdraw(book, pending, 'revoked', 'nobody waits for it any more');",
    replace: '',
    tests: ['packages/host/src/powerbox/gate.test.ts'],
  },
  {
    name: 'request-asker',
    breaks: 'requests outlive the session that asked',
    file: 'packages/host/src/powerbox/pending.ts',
    find: "withdrawAll(book, asker, 'revoked', 'this session has ended: ask for a new one');",
    replace: `return;
  withdrawAll(book, asker, 'revoked', 'this session has ended: ask for a new one');`,
    tests: ['packages/host/src/powerbox/request.test.ts'],
  },
  {
    name: 'request-deadline',
    breaks: 'a request never runs out',
    file: 'packages/host/src/powerbox/powerbox.ts',
    find: 'if (pending === undefined || vatTime() < pending.deadline) return;',
    replace: 'return;',
    tests: ['packages/host/src/powerbox/request.test.ts'],
  },
  {
    name: 'request-digest',
    breaks: 'all requests have the same digest',
    file: 'packages/host/src/powerbox/digest.ts',
    find: 'const whole = [cap, method, data, seen];',
    replace: 'const whole = [];',
    tests: ['packages/host/src/powerbox/request.test.ts', 'packages/host/src/powerbox/gate.test.ts'],
  },
  {
    name: 'request-group',
    breaks: 'the same is asked many times over',
    file: 'packages/host/src/powerbox/pending.ts',
    find: 'const same = book.asked.get(key);',
    replace: 'const same = undefined;',
    tests: ['packages/host/src/powerbox/request.test.ts'],
  },
  {
    name: 'request-lasting',
    breaks: 'a lasting no lasts until it is asked again',
    file: 'packages/host/src/powerbox/pending.ts',
    find: 'const no = book.refusals.get(key);',
    replace: 'const no = undefined;',
    tests: ['packages/host/src/powerbox/request.test.ts'],
  },
  {
    name: 'request-limit',
    breaks: 'a session may ask as often as it likes',
    file: 'packages/host/src/powerbox/pending.ts',
    find: '    if (there.count >= askingLimits.together) throw asSaid;',
    replace: '',
    also: [
      {
        file: 'packages/host/src/powerbox/pending.ts',
        find: '  if (counted.asked >= askingLimits.hourly) throw tooOften;',
        replace: '',
      },
      {
        file: 'packages/host/src/powerbox/pending.ts',
        find: '  if (before.pending >= askingLimits.pending) throw tooMany;',
        replace: '',
      },
    ],
    tests: ['packages/host/src/powerbox/request.test.ts'],
  },
  {
    name: 'request-mark',
    breaks: 'the agent’s words stand there as if they were ours',
    file: 'packages/host/src/powerbox/inbox.ts',
    find: "why: why === '' ? '' : `the agent says: ${quoted(why, longestWhyShown)}`,",
    replace: "why: why === '' ? '' : why,",
    tests: ['packages/host/src/powerbox/request.test.ts'],
  },
  {
    name: 'request-once',
    breaks: 'a request stays open after its answer',
    file: 'packages/host/src/powerbox/pending.ts',
    find: 'book.requests.delete(id);',
    replace: `return;
  book.requests.delete(id);`,
    tests: ['packages/host/src/powerbox/request.test.ts'],
  },
  {
    name: 'request-pin',
    breaks: 'a write goes on whatever has become of the file since the yes',
    file: 'packages/host/src/powerbox/gate.ts',
    find: '    if (preview.pinned !== undefined) return { with: preview.pinned };',
    replace: '',
    tests: ['packages/host/src/powerbox/gate.test.ts'],
  },
  {
    name: 'request-restart',
    breaks: 'requests of an earlier process can be answered',
    file: 'packages/host/src/powerbox/powerbox.ts',
    find: 'for (const [, pending] of [...book.requests.entries()]) {',
    replace: `return;
  for (const [, pending] of [...book.requests.entries()]) {`,
    tests: ['packages/host/src/powerbox/restart.test.ts'],
  },
  {
    name: 'request-stale',
    breaks: 'what cannot be pinned is not looked at again after the yes',
    file: 'packages/host/src/powerbox/gate.ts',
    find: 'if (preview.seen.length === 0) return true;',
    replace: 'return true;',
    tests: ['packages/host/src/powerbox/gate.test.ts'],
  },
  {
    name: 'request-versions',
    breaks: 'the digest does not tell one version of a file from another',
    file: 'packages/host/src/powerbox/digest.ts',
    find: 'const whole = [cap, method, data, seen];',
    replace: 'const whole = [cap, method, data, []];',
    tests: ['packages/host/src/powerbox/gate.test.ts'],
  },
  {
    name: 'words-escape',
    breaks: 'the words of others are shown as they came',
    file: 'packages/host/src/powerbox/words.ts',
    find: "let out = '';",
    replace: `return text;
  let out = '';`,
    tests: [
      'packages/host/src/powerbox/words.test.ts',
      'packages/host/src/powerbox/request.test.ts',
      'packages/host/src/powerbox/gate.test.ts',
    ],
  },
  {
    name: 'words-lookalike',
    breaks: 'letters that pass for others are not pointed out',
    file: 'packages/host/src/powerbox/words.ts',
    find: '  for (const [word] of part.matchAll(/[\\p{L}\\p{N}\\p{M}]+/gu)) flags.push(...oddities(word, part));',
    replace: '',
    tests: ['packages/host/src/powerbox/words.test.ts'],
  },
  {
    name: 'stop-at-open',
    breaks: 'a stop that the host could not carry out is forgotten',
    file: 'packages/host/src/stop.ts',
    find: 'if (why === undefined) return undefined;',
    replace: 'return undefined;',
    tests: ['packages/host/src/stop.test.ts'],
  },
  {
    name: 'session-end',
    breaks: 'what a session was granted goes on when it has ended',
    file: 'packages/host/src/sessions.ts',
    find: `for (const [key, { grant }] of held) {
      const kept = book.grants.get(grant);
      if (kept !== undefined) stops.push(kept.gate.end());`,
    replace: `for (const [key, { grant }] of held) {
      const kept = book.grants.get(grant);`,
    also: [
      {
        file: 'packages/host/src/sessions.ts',
        find: `for (const grant of forgetSturdyrefs(book, one.id)) {
      const kept = book.grants.get(grant);
      if (kept !== undefined) stops.push(kept.gate.end());`,
        replace: `for (const grant of forgetSturdyrefs(book, one.id)) {
      const kept = book.grants.get(grant);`,
      },
    ],
    tests: ['packages/host/src/sessions.test.ts'],
  },
  {
    name: 'rotate',
    breaks: 'an old secret opens although the new one was used',
    file: 'packages/host/src/sessions.ts',
    find: '    book.bearers.delete(room.secret);',
    replace: '',
    tests: ['packages/host/src/sessions.test.ts'],
  },
  {
    name: 'sturdyref-rotate',
    breaks: 'an old sturdyref opens although the new one was used',
    file: 'packages/host/src/sturdyrefs.ts',
    find: '    book.bearers.delete(row.secret);',
    replace: '',
    tests: ['packages/host/src/sturdyrefs.test.ts'],
  },
  {
    name: 'sturdyref-ended',
    breaks: 'a sturdyref lets in although its grant is over',
    file: 'packages/host/src/sturdyrefs.ts',
    find: "  if (state !== 'live' && state !== 'suspended') return undefined;",
    replace: '',
    tests: ['packages/host/src/sturdyrefs.test.ts'],
  },
  {
    name: 'delegate',
    breaks: 'a child is handed what its parent holds, without a forwarder of its own',
    file: 'packages/host/src/delegation.ts',
    find: 'hold(book, child, as, cap, kept);',
    replace: 'hold(book, child, as, holding.cap, kept);',
    also: [
      {
        file: 'packages/host/src/delegation.ts',
        find: 'const { kept, cap } = grantBelow(',
        replace: 'const { kept, cap, holding } = grantBelow(',
      },
    ],
    tests: ['packages/host/src/delegation.test.ts'],
  },
  {
    name: 'granter-apart',
    breaks: "a granter sees and ends another's sessions",
    file: 'packages/host/src/grants.ts',
    find: 'const names = (room: Room | undefined): room is Room => room?.granters.includes(name) === true; // biome-ignore format: one line',
    replace:
      'const names = (room: Room | undefined): room is Room => room?.granters.includes(name) === true || (room !== undefined); // biome-ignore format: one line',
    tests: ['packages/host/src/grants.test.ts'],
  },
  {
    name: 'ledger-apart',
    breaks: "a granter reads the lines of another's sessions",
    file: 'packages/host/src/ledger-reader.ts',
    find: 'if (line.seq < from || !this.#mayRead(granter, line)) continue;',
    replace: 'if (line.seq < from) continue;',
    tests: ['packages/host/src/grants.test.ts'],
  },
  {
    name: 'look-alike',
    breaks: 'a petname that looks like another is bound beside it',
    file: 'packages/host/src/names.ts',
    find: 'return name',
    replace: `return name;
  return name`,
    tests: ['packages/host/src/names.test.ts'],
  },
  {
    name: 'url-time',
    breaks: 'an object URL never runs out',
    file: 'packages/host/src/urls.ts',
    find: 'const over = found === undefined || vatTime() >= found.deadline || wallTime() >= found.wallDeadline;',
    replace: 'const over = found === undefined;',
    tests: ['packages/host/src/object-call.test.ts'],
  },
  {
    name: 'origin',
    breaks: 'a web page can enter',
    file: 'packages/host/src/entry.ts',
    find: `  if (origin !== undefined && !authorities.some((authority) => origin === \`http://\${authority}\`))
    return 'web pages of other origins may not enter';`,
    replace: '',
    tests: ['packages/host/src/entry.test.ts'],
  },
  {
    name: 'roots',
    breaks: 'a granted root may hold the host’s own state and code',
    file: 'packages/host/src/drivers/roots.ts',
    find: `for (const directory of own)
    if (overlap(place, placeOf(directory), table))
      throw new CapError(
        'E_ROOT_CONTAINS_HOST_STATE',
        'that directory is, contains or lies inside the state or the code of the host: grant another, or move the state with --state',
      );`,
    replace: `for (const directory of own) {
  }`,
    tests: ['packages/host/src/drivers/roots.test.ts'],
  },
];
