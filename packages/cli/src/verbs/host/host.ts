/** `hob host`: a host for the program that starts it. */
import { SENTINEL, STATE } from '../../line/options.ts';
import { textOf, type Verb } from '../../line/verb.ts';

/** `hob host` */
export const hostVerb: Verb = {
  name: 'host',
  about:
    'runs a host without a manifest for the program that starts it, and ends with its standard input: hob.Host of the Python package does this',
  options: [STATE, SENTINEL],
  examples: ['hob host --state ./state --json'],
  json: '{ pid: number, url: string, granter: string }',
  codes: {
    0: 'its standard input ended, or it was ended by a signal',
    1: 'it did not start: another process has the state; or its store is gone',
  },
  hardened: true,
  async run(given, { line, say, json }) {
    const { serveProgram } = await import('../../daemon/drivers/program-host.ts');
    const { absolute, stateOf } = await import('../../drivers/places.ts');
    const sentinel = textOf(given, 'sentinel');
    const status = await serveProgram({
      state: stateOf(given),
      sentinel: sentinel === undefined ? undefined : absolute(sentinel),
      say,
    });
    line(`the host of process ${status.pid} serves sessions at ${status.url}`);
    json(status);
    // The process ends with its standard input, or with a signal.
    return await new Promise<never>(() => {});
  },
};
