/** `hob workspace`: a session on a directory, without a manifest. */
import { isGiven, textOf, type Verb } from '../../line/verb.ts';
import { WORKSPACE_OPTIONS } from '../../line/workspace-line.ts';

/** `hob workspace` */
export const workspace: Verb = {
  name: 'workspace',
  about: 'serves one session on a directory until it is stopped, without a manifest. In a checkout npm start is this',
  options: WORKSPACE_OPTIONS,
  examples: [
    'hob workspace --root ~/project --secrets-to ~/hob-secrets',
    'hob workspace --root ~/project --for 8h --gate changes --shell',
  ],
  codes: {
    0: 'it was ended by Ctrl-C, SIGTERM, SIGHUP or hob stop',
    1: 'it did not start: a place that cannot be used, a port that is taken, a state that another process has open, or no sandbox for --code or --shell',
  },
  hardened: true,
  async run(given) {
    const { serveWorkspace } = await import('@hob/host/workspace');
    const { commandWords, ownCode } = await import('../../drivers/own-code.ts');
    const { absolute, stateOf } = await import('../../drivers/places.ts');
    const { sessionOf } = await import('../../line/workspace-line.ts');
    const pathOf = (name: string): string | undefined => {
      const text = textOf(given, name);
      return text === undefined ? undefined : absolute(text);
    };
    await serveWorkspace({
      ...sessionOf(given),
      root: absolute(textOf(given, 'root') ?? '.'),
      state: stateOf(given),
      sentinel: pathOf('sentinel'),
      checkpoints: textOf(given, 'checkpoints'),
      newSecrets: isGiven(given, 'newSecrets'),
      fresh: isGiven(given, 'fresh') || isGiven(given, 'newSession'),
      secretsTo: textOf(given, 'secretsTo'),
      ownCode: ownCode(),
      words: { ...commandWords(), state: stateOf({ operands: [], options: {} }) },
    });
    // The process ends with a signal.
    return await new Promise<never>(() => {});
  },
};
