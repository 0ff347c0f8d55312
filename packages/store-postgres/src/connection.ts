/**
 * `@hob/store-postgres/connection`: for a package that keeps tables of its own beside the stores of a database.
 *
 * `connect` needs a thread of its own, which has called `prepareThread`.
 */
export { type Server, serverAt } from './address.ts';
export { prepareThread } from './drivers/client-thread.ts';
export { type Connection, connect, Lost, type Parameter, type Row, ServerError } from './drivers/connection.ts';
export { hostsOf } from './hosts.ts';
export { checkServer } from './server.ts';
export { told } from './told.ts';
