/** The order in which test files begin. Long ones begin early: otherwise one of them would run alone at the end. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { earlyFiles, filesOf, firstFiles } from './tiers.ts';

const listed = (list: readonly string[]): ReadonlySet<string> => new Set(filesOf(undefined, list));
const [first, early] = [listed(firstFiles), listed(earlyFiles)];

/**
 * Puts `firstFiles` first, and the projects of `plain` last, with `earlyFiles` at their head. All other files stay in
 * the order of Vitest: it keeps the files of a project together, because they share processes.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const root = `${this.ctx.config.root}/`;
    const rank = ({ moduleId, project }: TestSpecification): number => {
      const file = moduleId.slice(root.length);
      if (first.has(file)) return 0;
      if (!project.name.startsWith('plain')) return 1;
      return early.has(file) ? 2 : 3;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
