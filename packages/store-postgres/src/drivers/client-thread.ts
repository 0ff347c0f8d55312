/** Prepares a thread that speaks to a server. The client of the server has habits that a program does not expect. */
import { loseAll } from './connection.ts';

/** Called once, when the thread begins. Not for the thread of a program: it changes the environment. */
export function prepareThread(): void {
  // The client reads options that it is not given from these variables. The thread has its own copy of the environment.
  for (const name of Object.keys(process.env)) if (name.startsWith('PG')) delete process.env[name];
  // The client throws some errors of a connection where no caller can catch them.
  for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, loseAll);
}
