/**
 * A part of `npm run attack:shell`: every 48th attack and benign command (in the deep run every sixteenth),
 * outside and inside.
 */
import { expect } from 'vitest';
import { volume } from '../../../test/depth.ts';
import { needs, requires } from '../../../test/needs.ts';
import { playAll } from '../attack/suite.ts';

const test = requires('linux', 'cc', 'userns', 'python', 'unprivileged');

for (const name of needs('root') ? (['root', 'user'] as const) : (['user'] as const))
  test(`as ${name}: attacks that work under plain bash fail here, and ordinary commands work here too`, async () => {
    const { attacks, real, ...found } = await playAll(name, (index) => index % volume(48, 16) === 3);
    expect(real).toBeGreaterThanOrEqual(0.85 * attacks);
    const { escapes, exposures, limitsLost, benignFailures } = found;
    expect({ escapes, exposures, limitsLost, benignFailures }).toEqual({
      escapes: [],
      exposures: [],
      limitsLost: [],
      benignFailures: [],
    });
  }, 120_000);
