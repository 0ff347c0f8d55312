/** `hob version`: the versions of Hob and of Node. */
import { version as hobVersion } from '@hob/host/line';
import type { Verb } from '../line/verb.ts';

/** `hob version` */
export const version: Verb = {
  name: 'version',
  about: 'prints the version of Hob',
  examples: ['hob version --json'],
  json: '{ "hob": string }',
  codes: {},
  async run(_given, { line, json }) {
    line(`hob ${hobVersion}`);
    json({ hob: hobVersion });
    return 0;
  },
};
