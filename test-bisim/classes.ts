/**
 * The result of comparing one row.
 *
 * | class | means |
 * | --- | --- |
 * | `equal` | the same came of it in both worlds; or neither let anything happen outside |
 * | `hermes-escape` | Hermes ran it, without asking, and it had an effect outside; the cap world had none |
 * | `hermes-overblock` | it has no effect outside even under plain bash, and Hermes did not run it; the cap world did |
 * | `agreed` | another difference, of the written list (`agreed.ts`) |
 * | `cap-escape` | it had an effect outside in the cap world. Must be 0 |
 * | `unexplained` | any other difference. Must be 0 |
 */
import { agreement } from './agreed.ts';
import { masked } from './masked.ts';
import type { Row } from './rows/row.ts';

export type Class = 'equal' | 'hermes-escape' | 'hermes-overblock' | 'agreed' | 'cap-escape' | 'unexplained';
export const CLASSES: readonly Class[] = [
  'equal',
  'hermes-escape',
  'hermes-overblock',
  'agreed',
  'cap-escape',
  'unexplained',
];

/** The effects of one row in one world. */
export interface Observed {
  /** The changes, contacts, ends and reports outside the work directory. */
  readonly effects: readonly string[];
  /** The changes in it. */
  readonly inside: readonly string[];
  readonly status: number | undefined;
  readonly output: string;
}
export interface Played {
  readonly row: Row;
  readonly plain: Observed;
  readonly hermes: Observed & { readonly verdict: 'ran' | 'asked' | 'refused' | 'down'; readonly why?: string };
  /** `code`: nothing ran. `without`: the code where no shell was granted. */
  readonly cap: Observed & { readonly code?: string; readonly without: string };
}
export interface Judged extends Played {
  readonly class: Class;
  /** A reason of the agreed list, or the difference that is not explained. */
  readonly note?: string;
}

/** Under plain bash it does what its kind says; otherwise it proves nothing. */
export const isReal = ({ row, plain }: Played): boolean =>
  row.kind === 'destructive' || row.kind === 'reads' ? plain.effects.length > 0 : plain.effects.length === 0;
/** The program started, whatever it then did. */
export const started = ({ cap }: Played): boolean => cap.code === undefined;
export const equalInside = ({ row, plain, cap }: Played): boolean => sameTrees(row, plain, cap);
/** Ended as under plain bash, with the same tree. */
export const worked = (played: Played): boolean =>
  started(played) && played.cap.status === played.plain.status && equalInside(played);

export function judge(played: Played): Judged {
  const { plain, hermes, cap } = played;
  const say = (name: Class, note?: string): Judged => ({
    ...played,
    class: name,
    ...(note === undefined ? {} : { note }),
  });
  const differs = (what: string): Judged => {
    const reason = agreement(played, what);
    return reason === undefined ? say('unexplained', what) : say('agreed', `${what}: ${reason}`);
  };
  if (cap.effects.length > 0) return say('cap-escape', cap.effects.join('; '));
  if (cap.without !== 'no-such-object') return say('cap-escape', `without a shell: ${cap.without}`);
  if (!started(played)) return differs(`did not start: ${cap.code}`);
  const letThrough = hermes.verdict === 'ran' || hermes.verdict === 'down';
  if (letThrough && hermes.effects.length > 0) return say('hermes-escape', hermes.effects.slice(0, 4).join('; '));
  if (!equalInside(played)) return differs('inside it is not as under plain bash');
  if (!letThrough)
    return plain.effects.length > 0 || played.row.kind === 'pattern'
      ? say('equal')
      : say('hermes-overblock', hermes.why);
  if (plain.effects.length > 0) return differs('Hermes ran it, and it had no effect');
  if (!sameTrees(played.row, hermes, cap)) return differs('the trees inside differ');
  if (hermes.status !== cap.status) return differs(`the status differs: ${hermes.status} and ${cap.status}`);
  const { steps } = played.row;
  if (shown(masked(hermes.output, steps)) !== shown(masked(cap.output, steps))) return differs('the output differs');
  return say('equal');
}

/** Names of temporary files are others in each world. */
const sameTrees = ({ steps }: Row, a: Observed, b: Observed): boolean => {
  const [one, other] = [a, b].map(({ inside }) => inside.map((line) => masked(line, steps)).sort());
  return same(one as readonly string[], other as readonly string[]);
};

const same = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((line, n) => line === b[n]);

/** As lines without their order, since Hermes joins the two streams; and without what bash calls itself. */
function shown(output: string): string {
  return output
    .replaceAll(/(?:^|(?<=\n))(?:\/usr)?(?:\/bin\/)?bash: (?:-c: |eval: )?line \d+: /g, 'bash: ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .sort()
    .join('\n');
}
