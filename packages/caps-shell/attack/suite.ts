/** Plays attacks and benign commands, outside and inside, and counts. */
import { type Starter, starter, USER } from '../test/as.ts';
import { builds } from '../test/builds.ts';
import { ATTACKS, type Attack, BENIGN } from './rows.ts';
import { openScene } from './scene.ts';

export interface Figures {
  readonly name: 'root' | 'user';
  readonly attacks: number;
  /** How many of those get through under plain bash. The others prove nothing. */
  readonly real: number;
  readonly unreal: readonly string[];
  readonly escapes: readonly string[];
  readonly exposures: readonly string[];
  readonly limitsLost: readonly string[];
  readonly benign: number;
  readonly benignFailures: readonly string[];
  /** Benign commands that do not even work outside. */
  readonly benignOutside: readonly string[];
}

export async function playAll(
  name: 'root' | 'user',
  pick: (index: number) => boolean = () => true,
  told: (line: string) => void = () => {},
): Promise<Figures> {
  const { tool } = builds();
  const uid = name === 'root' ? 0 : process.getuid?.() === 0 ? USER : (process.getuid?.() ?? USER);
  const who: Starter = await starter(name, tool);
  const scene = await openScene(who, uid, tool);
  const unreal: string[] = [];
  const [escapes, exposures, limitsLost, benignFailures, benignOutside] = [[], [], [], [], []] as string[][];
  const rows = ATTACKS.filter((row, i) => pick(i) && (name === 'root' || row.root === undefined));
  try {
    for (const row of rows) {
      const outside = await scene.play(row, 'outside');
      if (outside === undefined) unreal.push(row.text);
      const inside = await scene.play(row, 'inside');
      told(
        `${inside === undefined ? 'held' : 'THROUGH'}  outside: ${outside ?? 'not even there'}  ${row.family}: ${row.text}`,
      );
      if (inside !== undefined) listOf(row)?.push(`${row.text} (${inside})`);
    }
    for (const text of BENIGN.filter((_, i) => pick(i))) {
      const outside = await scene.work(text, 'outside');
      if (outside.code !== 0) benignOutside?.push(text);
      const inside = await scene.work(text, 'inside');
      told(`${inside.code === 0 ? 'works' : `FAILS (${inside.code})`}  outside: ${outside.code}  ${text}`);
      if (inside.code !== 0 && outside.code === 0) benignFailures?.push(`${text} (${inside.code}: ${inside.said})`);
    }
  } finally {
    await scene.close();
    await who.close();
  }
  function listOf(row: Attack): string[] | undefined {
    return row.limit ? limitsLost : row.exposure ? exposures : escapes;
  }
  return {
    name,
    attacks: rows.length,
    real: rows.length - unreal.length,
    unreal,
    escapes: escapes ?? [],
    exposures: exposures ?? [],
    limitsLost: limitsLost ?? [],
    benign: BENIGN.filter((_, i) => pick(i)).length,
    benignFailures: benignFailures ?? [],
    benignOutside: benignOutside ?? [],
  };
}
