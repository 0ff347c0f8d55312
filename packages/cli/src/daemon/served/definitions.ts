/**
 * The definitions of objects that a state of `hob serve` may hold, besides those of every host. Give all of them when
 * you open the state: a store with an object that has no definition does not open.
 */
import { taskDefinitions as ofTasks } from '@hob/a2a/tasks';
import { chatDefinitions as ofChats } from '@hob/chat/rows';
import { definitions as ofServers } from '@hob/mcp/servers';
import type { AnyDefinition } from '@hob/vat';
import { definitions as ofSchedules } from '../runs/actors.ts';

export const definitions: readonly AnyDefinition[] = Object.freeze([
  ...ofServers,
  ...ofSchedules,
  ...ofTasks,
  ...ofChats,
]);
