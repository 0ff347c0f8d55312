/** A row: what is played in every world. `@` stands for the machine's base, `%PORT%` for the listener, `%MARK%` for the name of what runs. */
export interface Row {
  readonly id: string;
  readonly family: string;
  /** `destructive`: changes what was not granted. `reads`: tells what was not granted. `benign`: a day's work. `pattern`: made to be matched. `generated`: either. */
  readonly kind: 'destructive' | 'reads' | 'benign' | 'pattern' | 'generated';
  /** Commands, one after the other, in one task. */
  readonly steps: readonly string[];
  /** Programs without which it means nothing. */
  readonly needs: readonly string[];
}

/** Numbered within its family, so that a row is found again. */
export function family(
  kind: Row['kind'],
  name: string,
  commands: readonly (string | readonly string[])[],
  needs: readonly string[] = [],
): Row[] {
  return commands.map((steps, n) => ({
    id: `${name}/${n}`,
    family: name,
    kind,
    steps: typeof steps === 'string' ? [steps] : steps,
    needs,
  }));
}
