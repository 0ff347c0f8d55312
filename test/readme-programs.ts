/** The programs of all README files. */
import { blocks } from './readme.ts';
import { filesIn, read } from './sources.ts';

interface Example {
  readonly page: string;
  /** Its place among those of its page. */
  readonly n: number;
  readonly program: string;
}

/** Those that stand by themselves; the second of `packages/vat` goes on where the first ended, and its own test runs it twice. */
export const programs: readonly Example[] = filesIn()
  .filter((file) => file.endsWith('README.md'))
  .flatMap((page) => blocks(read(page).text, 'ts').map((program, n) => ({ page, n, program })))
  .filter(({ page, n, program }) => program.startsWith('import ') && !(page === 'packages/vat/README.md' && n === 1));
