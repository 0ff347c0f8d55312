/**
 * Keeps `@endo/marshal` from writing to the host's console.
 *
 * It logs each error that it sends ("Temporary logging of sent error"), so a peer could fill the host's terminal and log with
 * calls that fail. `@endo/captp` has no option for it. Everything else that is logged passes.
 */
export function quietMarshal(): void {
  const log = console.log.bind(console);
  console.log = (...said: unknown[]): void => {
    if (said[0] !== 'Temporary logging of sent error') log(...said);
  };
}
