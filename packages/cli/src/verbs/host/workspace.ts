/** `hob workspace`: a session on a directory, without a manifest. */
import { SENTINEL, STATE } from '../../line/options.ts';
import { isGiven, textOf, type Verb, type VerbOption } from '../../line/verb.ts';

/** In the order of the help. */
const OPTIONS: readonly VerbOption[] = [
  { flags: '--root <dir>', about: 'the directory to open a session on (default: this one)' },
  STATE,
  SENTINEL,
  {
    flags: '--checkpoints <file|url>',
    about: 'where a signed checkpoint of the ledger goes each hour: appended, or sent by POST',
  },
  { flags: '--port <n>', about: 'where to listen on 127.0.0.1 (default: any free port)' },
  { flags: '--uses <n>', about: 'how many calls the session’s grants allow (default: 1000)' },
  { flags: '--for <time>', about: 'how long they last: 15m, 8h, 30d, or a number of minutes (default: 1h)' },
  { flags: '--read-only', about: 'the directory may be read, and not changed' },
  {
    flags: '--gate [methods]',
    about:
      'each call waits for a granter’s yes, or each call of these methods of the directory: changes (all that change something), or names such as write,remove',
  },
  { flags: '--code', about: 'grants "code", too: programs of the agent’s own, over what the session holds' },
  { flags: '--shell', about: 'grants "shell", too: programs over the directory, in a sandbox without network' },
  {
    flags: '--new-session',
    about: 'ends the session of an earlier start, and opens a new one with new grants',
  },
  { flags: '--fresh', about: 'the same' },
  { flags: '--new-secrets', about: 'makes new ones for the session and its granter' },
  {
    flags: '--secrets-to <dir|fd:n>',
    about:
      'where new secrets go: two new files in DIR, for you alone, or a line of JSON to a descriptor of whoever starts the host. Without it they are shown on a terminal, and nowhere else',
  },
];

/** `hob workspace` */
export const workspace: Verb = {
  name: 'workspace',
  about: 'serves one session on a directory until it is stopped, without a manifest. In a checkout npm start is this',
  options: OPTIONS,
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
