/**
 * Checks data against a schema that a stranger wrote, for a limited time.
 *
 * A schema or a pattern can be made to be checked for years. `vm` interrupts the check, also within a regular
 * expression. The checker is the library's; it makes no code at run time.
 */
import { createContext, Script } from 'node:vm';
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/client/validators/cf-worker';

/** How long the check of one result may take. */
const CHECK_MS = 250;
const check = new Script('check()');

/** Whether `value` fits `schema`. Undefined if that cannot be told in time, or the schema is none. */
export function fitsSchema(schema: object, value: unknown): boolean | undefined {
  const slot: { check: () => void; fits?: boolean } = { check: () => {} };
  slot.check = () => {
    slot.fits = new CfWorkerJsonSchemaValidator().getValidator(schema as never)(value).valid;
  };
  try {
    check.runInContext(createContext(slot), { timeout: CHECK_MS });
  } catch {
    return undefined;
  }
  return slot.fits;
}
