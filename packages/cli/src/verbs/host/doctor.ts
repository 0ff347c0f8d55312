/** `hob doctor`: what this machine can do. */
import type { Verb } from '../../line/verb.ts';

/** `hob doctor` */
export const doctor: Verb = {
  name: 'doctor',
  about: 'builds a sandbox, and says what this machine lacks for commands and shells',
  examples: ['hob doctor'],
  json: '{ ok: boolean, layers: { name: string, ok: boolean, errno?: string, remedy?: string }[] }',
  codes: { 1: 'programs cannot be confined here: the message has the remedy' },
  hardened: true,
  async run(_given, { line, json }) {
    const { probe } = await import('@hob/caps-shell');
    const { ok, layers } = await probe();
    for (const layer of layers)
      line(
        layer.ok ? `ok       ${layer.name}` : `MISSING  ${layer.name} (${layer.errno ?? '?'}): ${layer.remedy ?? ''}`,
      );
    line(ok ? 'programs can be confined here' : 'programs cannot be confined here: commands and shells do not start');
    json({ ok, layers });
    return ok ? 0 : 1;
  },
};
