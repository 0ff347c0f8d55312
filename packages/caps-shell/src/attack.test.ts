/** A part of `npm run attack:shell`: every sixteenth attack and benign command, outside and inside. */
import { expect } from 'vitest';
import { needs, requires } from '../../../test/needs.ts';
import { playAll } from '../attack/suite.ts';

const test = requires('linux', 'cc', 'userns', 'python', 'unprivileged');

for (const name of needs('root') ? (['root', 'user'] as const) : (['user'] as const))
  test(`as ${name}: what gets through under plain bash does not get through here, and what works there works here`, async () => {
    const { attacks, real, ...found } = await playAll(name, (index) => index % 16 === 3);
    expect(real).toBeGreaterThanOrEqual(0.85 * attacks);
    const { escapes, exposures, limitsLost, benignFailures } = found;
    expect({ escapes, exposures, limitsLost, benignFailures }).toEqual({
      escapes: [],
      exposures: [],
      limitsLost: [],
      benignFailures: [],
    });
  }, 120_000);
