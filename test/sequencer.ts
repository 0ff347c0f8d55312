/** The order in which test files begin: those that take longest begin early, so that none is left alone at the end. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { earlyFiles, filesOf, firstFiles } from './tiers.ts';

const listed = (list: readonly string[]): ReadonlySet<string> => new Set(filesOf(undefined, list));
const [first, early] = [listed(firstFiles), listed(earlyFiles)];

/** Vitest sorts by project and by size. Files of one project share processes, so the projects stay together. */
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
