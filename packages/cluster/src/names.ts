/**
 * Names of tenants and hosts. They are checked where they enter.
 *
 * The name of a tenant is part of the name of a schema, of a folder and of an address. So it has only small letters,
 * digits and `_`.
 */
import { CapError } from '@hob/vat';

const TENANT = /^[a-z][a-z0-9_]{0,39}$/;
const HOST = /^[\w.-]{1,40}$/;
const ADDRESS = /^[\w.:[\]-]{1,255}$/;

/** Whether a row of the database has a name that a tenant may have. */
export const isTenantName = (name: unknown): name is string => typeof name === 'string' && TENANT.test(name);

/** Errors: `invalid`. */
export function checkTenant(name: unknown): asserts name is string {
  if (!isTenantName(name))
    throw new CapError(
      'invalid',
      'the name of a tenant has 1 to 40 small letters, digits and _, and begins with a letter',
    );
}

/** Errors: `invalid`. */
export function checkHost(name: unknown): asserts name is string {
  if (!(typeof name === 'string' && HOST.test(name)))
    throw new CapError('invalid', 'the name of a host has 1 to 40 letters, digits and . _ -');
}

/** Errors: `invalid`. */
export function checkAddress(address: unknown): asserts address is string {
  if (!(typeof address === 'string' && ADDRESS.test(address)))
    throw new CapError('invalid', 'address is the host and port at which other machines reach this one');
}

/** The schema of the store of a tenant. No tenant has the schema of the cluster itself. */
export const schemaOf = (tenant: string): string => `hob_tenant_${tenant}`;
