/**
 * Counts for `npm test`: what passed, failed and was skipped, and why.
 *
 * Promise: a skip without a reason is a failure, so that a test cannot disappear quietly. (Use `requires` of needs.ts, or
 * `context.skip('reason')`.) A run that is narrowed by a name pattern leaves tests out on purpose: those count nowhere.
 */
import { writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { relative } from 'node:path';
import type { Reporter, TestModule, Vitest } from 'vitest/node';

interface Skip {
  file: string;
  name: string;
  regime: string;
  reason: string;
}

/** Files of `npm run check` take under 2.5 s of processor time; beside others on two cores that is this. */
const SLOW_MS = 5_000;

export default class Counts implements Reporter {
  readonly #report: string;
  #vitest: Vitest | undefined;

  constructor({ report }: { report: string }) {
    this.#report = report;
  }

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const narrowed = this.#vitest?.getGlobalTestNamePattern() !== undefined;
    const skips: Skip[] = [];
    const nameless: string[] = [];
    const failures: Record<string, string> = {};
    let passed = 0;
    let failed = unhandled.length;
    for (const module of modules) {
      const file = relative(process.cwd(), module.moduleId);
      let failedHere = 0;
      for (const test of module.children.allTests()) {
        const result = test.result();
        if (result.state === 'passed') passed += 1;
        if (result.state === 'failed') {
          failedHere += 1;
          failures[test.fullName] = result.errors.map((error) => error.message).join('\n');
        }
        if (result.state !== 'skipped' && result.state !== 'pending') continue;
        const reason = 'note' in result ? result.note : undefined;
        if (reason !== undefined) skips.push({ file, name: test.fullName, regime: module.project.name, reason });
        else if (!narrowed) nameless.push(`${file} > ${test.fullName} (${module.project.name})`);
      }
      // A file that does not load, or a suite whose hook fails, has no failed test.
      failed += failedHere === 0 && module.state() === 'failed' ? 1 : failedHere;
    }
    if (process.env['HOB_TIER'] === 'check') nameSlow(modules);
    else nameLongest(modules);
    for (const test of nameless) console.error(`skipped without a reason, which counts as a failure: ${test}`);
    writeFileSync(this.#report, JSON.stringify({ passed, failed: failed + nameless.length, skips, failures }));
  }
}

/** Prints the files that took longest. Files run at the same time, so their times add up to more than the run takes. */
function nameLongest(modules: readonly TestModule[]): void {
  const longest = [...modules].sort((a, b) => b.diagnostic().duration - a.diagnostic().duration).slice(0, 24);
  const seconds = (module: TestModule): string => (module.diagnostic().duration / 1000).toFixed(0);
  const rows = longest.map((module) => `  ${seconds(module)} s ${relative(process.cwd(), module.moduleId)}`);
  console.log(`\nThe files that took longest\n${rows.join('\n')}`);
}

/** A busy machine makes files slow, so this is advice: it fails nothing. Where much else runs it says nothing. */
function nameSlow(modules: readonly TestModule[]): void {
  if ((loadavg()[0] ?? 0) > 3 * availableParallelism()) return;
  const slow = modules.filter((module) => module.diagnostic().duration > SLOW_MS);
  for (const module of slow) {
    const seconds = (module.diagnostic().duration / 1000).toFixed(1);
    console.log(
      `${relative(process.cwd(), module.moduleId)} took ${seconds} s; if it does so on an idle machine, name it in test/tiers.ts`,
    );
  }
}
