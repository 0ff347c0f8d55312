/** The public names of `@hob/caps-shell`. */
export type { ArgForms, ArgSpec } from './argv.ts';
export { makeCommandCap } from './command.ts';
export { heldWay } from './door/ways.ts';
export { type Confined, spawnConfined } from './drivers/confined.ts';
export { type Layer, type Probed, probe } from './drivers/probe.ts';
export type { ShellCode } from './errors.ts';
export { makeShellCap } from './shell.ts';
export type {
  CommandCap,
  Ended,
  Job,
  Less,
  RunOptions,
  SentJob,
  ShellCap,
  ShellDescription,
  ShellLimits,
  SignalName,
  SpawnOptions,
  World,
} from './shell-cap.ts';
export { type ProgramOptions, startProgram } from './start-program.ts';
