/** Prepares a thread that speaks to a server. The client library reads the environment, and throws outside of calls. */
import { loseAll } from './connection.ts';

/** Call it once, when the thread begins. Not in the main thread of a program: it changes the environment. */
export function prepareThread(): void {
  // The client reads options that it is not given from these variables. The thread has its own copy of the environment.
  for (const name of Object.keys(process.env)) if (name.startsWith('PG')) delete process.env[name];
  // The client throws some errors of a connection where no caller can catch them.
  for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, loseAll);
}
