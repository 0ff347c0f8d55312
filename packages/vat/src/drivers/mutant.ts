/**
 * Which mechanism, if any, this process leaves out, so that a test can prove that something notices.
 *
 * The one place that reads `HOB_MUTANT`, once, at load: nothing can switch a mechanism off in a running host. Exactly one
 * name. Packing replaces this file by a constant, and outside tests and `--demo` the host refuses to start while
 * `mutantName()` answers a name.
 */
const chosen: string | undefined = process.env['HOB_MUTANT'] || undefined;

export function mutant(name: string): boolean {
  return chosen === name;
}

export function mutantName(): string | undefined {
  return chosen;
}
