/** Calls with an option that nobody reads: each is refused, and the message names the option that was meant. */
import { expect } from 'vitest';

/** The call, the name that it gives, and the name that it means. */
export type Misspelt = Readonly<Record<string, readonly [call: () => unknown, given: string, meant: string]>>;

export async function expectRefused(calls: Misspelt): Promise<void> {
  for (const [name, [call, given, meant]] of Object.entries(calls)) {
    // A call may throw at once.
    const error = await new Promise<unknown>((resolve) => resolve(call())).then(
      () => ({ code: 'ok', message: '' }),
      (thrown: unknown) => thrown as { readonly code: string; readonly message: string },
    );
    expect([name, error.code]).toEqual([name, 'invalid']);
    expect(error.message).toMatch(
      new RegExp(`has no [a-z]* ?"${given}": did you mean "${meant}"[?] there (is|are) .*${meant}`),
    );
  }
}
