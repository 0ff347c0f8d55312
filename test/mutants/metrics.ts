/** The mutants of metrics: the counts of `@hob/vat` and `@hob/host`, and how `hob` shows them. */
import type { Mutant } from './mutant.ts';

const vatTests = ['packages/vat/src/vats/counts.test.ts'];
const meterTests = ['packages/host/src/door/session-meters.test.ts'];
const textTests = ['packages/cli/src/line/open-metrics.test.ts'];
const serveTests = ['packages/cli/src/daemon/metrics/metrics.test.ts'];
const storeTests = ['packages/cli/src/daemon/served/store.test.ts'];
const text = 'packages/cli/src/line/open-metrics.ts';
const door = 'packages/cli/src/daemon/drivers/metrics-door.ts';

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'metrics-lost-commits',
    breaks: 'calls of a commit that failed count as calls that were let through',
    file: 'packages/vat/src/durable/output-commit.ts',
    find: '    this.counts.failed();',
    replace: '    this.counts.committed(0, batch.lines);',
    tests: vatTests,
  },
  {
    name: 'metrics-buckets',
    breaks: 'a commit is missing among those within a larger bound',
    file: 'packages/vat/src/durable/counts.ts',
    find: 'count: (count += this.#took[at] ?? 0)',
    replace: 'count: count + (this.#took[at] ?? 0)',
    tests: vatTests,
  },
  {
    name: 'metrics-turns',
    breaks: 'turns are not counted',
    file: 'packages/vat/src/vats/vats.ts',
    find: 'nextSeq: () => (this.#turns += 1),',
    replace: 'nextSeq: () => this.#turns + 1,',
    tests: vatTests,
  },
  {
    name: 'metrics-sessions-only',
    breaks: 'the use by granters counts as use by sessions',
    file: 'packages/host/src/door/session-meters.ts',
    find: 'if (!name.startsWith(PREFIX)) continue;',
    replace: '',
    tests: meterTests,
  },
  {
    name: 'session-meter-kept',
    breaks: 'the meter of each session that has ended stays in memory',
    file: 'packages/host/src/door/session-meters.ts',
    find: 'if (this.#meters.delete(name)) this.#vats.dropMeter(name);',
    replace: '',
    tests: meterTests,
  },
  {
    name: 'metrics-fullest',
    breaks: 'the metrics do not show that one session is at its limit',
    file: 'packages/host/src/door/session-meters.ts',
    find: 'Math.max(all.fullest ?? 0, used / limit)',
    replace: 'Math.min(all.fullest ?? 0, used / limit)',
    tests: meterTests,
  },
  {
    name: 'metrics-escaped',
    breaks: 'a quotation mark in a text breaks the metrics',
    file: text,
    find: `.replaceAll('"', '\\\\"')`,
    replace: '',
    tests: textTests,
  },
  {
    name: 'metrics-twice',
    breaks: 'the metrics have one sample twice, so a collector drops all samples',
    file: text,
    find: '.size !== samples.length)',
    replace: '.size > samples.length)',
    tests: textTests,
  },
  {
    name: 'metrics-bound',
    breaks: 'a bound is not written as the specification requires, so a collector takes it for another bound',
    file: text,
    find: 'Number.isInteger(bound) ? `${bound}.0` :',
    replace: 'Number.isNaN(bound) ? `${bound}.0` :',
    tests: textTests,
  },
  {
    name: 'metrics-page',
    breaks: 'a page in a browser can read the metrics',
    file: door,
    find: 'if (origin !== undefined || !/^(?:127\\.0\\.0\\.1|localhost)(?::\\d{1,5})?$/.test(host)) return 403;',
    replace: 'void [origin, host];',
    tests: serveTests,
  },
  {
    name: 'metrics-at-once',
    breaks: 'many requests at once make the host count once for each',
    file: door,
    find: 'underWay ??= metrics()',
    replace: 'underWay = metrics()',
    tests: serveTests,
  },
  {
    name: 'cli-store-loss',
    breaks: 'hob does not say that the store is lost with the disk of the database',
    file: 'packages/cli/src/line/store-lines.ts',
    find: "if (mode === 'synchronous') return undefined;",
    replace: "if (mode !== 'asynchronous') return undefined;",
    tests: storeTests,
  },
  {
    name: 'cli-store-silent',
    breaks: 'hob status fails when the database is silent, and does not say that it is',
    file: 'packages/cli/src/daemon/served/store.ts',
    find: 'return { wrong: error.message };',
    replace: 'throw error;',
    tests: storeTests,
  },
];
