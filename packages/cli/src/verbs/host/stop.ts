/** `hob stop`: the emergency stop. */
import { STATE } from '../../line/options.ts';
import { textOf, type Verb } from '../../line/verb.ts';

/** `hob stop` */
export const stop: Verb = {
  name: 'stop',
  about: 'revokes all grants and ends the host, even if it hangs',
  options: [{ flags: '--wait <time>', about: 'how long it may take to end before it is killed (default: 10s)' }, STATE],
  examples: ['hob stop'],
  json: '{ said: string[] }',
  codes: { 0: 'the host has ended, or none was running', 1: 'the host could not be ended' },
  hardened: true,
  async run(given, { line, json }) {
    const { stopHost } = await import('@hob/host/client');
    const { stateOf } = await import('../../drivers/places.ts');
    const { durationOf } = await import('../../line/limits.ts');
    const said: string[] = [];
    const code = await stopHost(stateOf(given), durationOf('--wait', textOf(given, 'wait') ?? '10s'), (text) => {
      said.push(text);
      line(text);
    });
    json({ said });
    return code;
  },
};
