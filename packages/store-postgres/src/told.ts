/** The errors that a program gets when a statement failed. */
import { CapError } from '@hob/vat/errors';
import { ServerError } from './drivers/connection.ts';

const silent = (): CapError =>
  new CapError('unavailable', 'the database server does not answer: check that it runs and can be reached');

/** Turns an error of the server or its connection into the one that a program gets. */
export function told(error: unknown): CapError {
  if (error instanceof CapError) return error;
  if (!(error instanceof ServerError)) return silent();
  return error.state === '42501'
    ? new CapError(
        'invalid',
        'this user of the database may not do that: make it the owner of the schema, or let it create one',
      )
    : new CapError('unavailable', `the database server refused a statement (${error.state}): look into its log`);
}
