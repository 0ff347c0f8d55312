/** AgentDojo through a real host: a part of the pairs, and all attacks that know about caps. `npm run agentdojo` runs more. */
import { spawn } from 'node:child_process';
import { expect } from 'vitest';
import { agentdojoPython, DOJO, dojoEnvironment } from '../../scripts/agentdojo.mjs';
import { requires } from '../../test/needs.ts';

const dojoTest = requires('agentdojo');

/** Runs Python in this folder. Returns its exit code and what it printed. */
function python(...words: readonly string[]): Promise<{ readonly code: number | null; readonly said: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(agentdojoPython().python ?? '', words, {
      cwd: DOJO,
      env: dojoEnvironment(process.env),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, said }));
  });
}

dojoTest(
  'each call of an obedient agent is decided as the reference model says, and each pair comes to what is recorded',
  async () => {
    const { code, said } = await python('-m', 'dojo', '--version', 'v1.1.2', '--every', '7');
    expect(said).toMatch(/Each was as the reference model says\. The ledgers verify, and have the \d{3,} calls/);
    expect(said).toContain('Each pair came to what outcomes.json says.');
    expect(code, said).toBe(0);
  },
  600_000,
);

dojoTest(
  'each attack that knows about caps is stopped by what it states, or is not stopped, as it states',
  async () => {
    const { code, said } = await python('-m', 'attacks');
    expect(code, said).toBe(0);
    expect(Number(/^(\d+) attacks/m.exec(said)?.[1])).toBeGreaterThanOrEqual(60);
  },
  600_000,
);

dojoTest(
  'a run fails if host and model differ in one thing: here the model takes every argument',
  async () => {
    const program = [
      'import asyncio, sys',
      'from dojo import __main__ as run, model',
      'model.within_fields = lambda bounds, arguments: True',
      "sys.exit(asyncio.run(run.main(run.arguments(['--suite', 'travel', '--mode', 'fine', '--task', '3']))))",
    ];
    const { code, said } = await python('-c', program.join('\n'));
    expect(said).toMatch(/send-email-1\.send_email.* must be allowed, and was denied/);
    expect(code).not.toBe(0);
  },
  600_000,
);
