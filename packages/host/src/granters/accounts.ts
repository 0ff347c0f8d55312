/** The granters of a host, and the secrets that they enter with. Only a hash of a secret is kept. */
import { CapError, spawn } from '@hob/vat';
import type { HostState } from '../state/host-state.ts';
import { granterNamed } from '../state/lookups.ts';
import type { HostTables } from '../state/records.ts';
import { GranterActor } from './granter.ts';

/**
 * In a turn. Returns the granter as the program that runs the host holds it. Errors: `invalid` (the name is
 * taken).
 */
export function addGranter(tables: HostTables, hostState: HostState, name: string, secretHash: string): object {
  if (tables.granters.has(name)) throw new CapError('invalid', `there is a granter called "${name}" already`);
  const program = spawn(GranterActor(name, 'program', hostState));
  const wire = spawn(GranterActor(name, 'wire', hostState));
  tables.granters.set(name, { name, secret: secretHash, program, wire });
  tables.secretOwners.set(secretHash, { granter: name });
  return program;
}

/** In a turn. Errors: `no-such-object`, `invalid`. */
export function granterOn(tables: HostTables, hostState: HostState, name: string, surface?: string): object {
  const { program } = granterNamed(tables, name);
  if (surface === undefined) return program;
  if (!/^[a-z]{1,20}$/.test(surface) || surface === 'program')
    throw new CapError('invalid', 'a surface is a word such as "chat"');
  return spawn(GranterActor(name, surface, hostState));
}

/** In a turn: the old secret opens nothing from now on. Errors: `no-such-object`. */
export function replaceGranterSecret(tables: HostTables, name: string, secretHash: string): void {
  const granter = granterNamed(tables, name);
  tables.secretOwners.delete(granter.secret);
  tables.secretOwners.set(secretHash, { granter: name });
  tables.granters.set(name, { ...granter, secret: secretHash });
}
