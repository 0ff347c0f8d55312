/** Options that several verbs share. `limits.ts` reads their values. */
import type { VerbOption } from './verb.ts';

/** The state of the host that a verb works on. */
export const STATE: VerbOption = {
  flags: '--state <dir>',
  about: 'the state of the host (default: $HOB_STATE, or hob/state in $XDG_STATE_HOME, or in ~/.local/state)',
};
/** Which host a granter's verb reaches: over its socket, or anywhere with the granter's secret. */
export const REACH: readonly VerbOption[] = [
  STATE,
  {
    flags: '--url <url>',
    about: 'the address of a host. The verb asks for the granter’s secret, or reads it from the standard input',
  },
];
/** Where the sentinel of a state is. */
export const SENTINEL: VerbOption = {
  flags: '--sentinel <dir>',
  about: 'where the sentinel of the state is (default: hob/sentinels in $XDG_STATE_HOME, or in ~/.local/state)',
};
/** Where the store is, if not in the folder of the state. */
export const STORE: VerbOption = {
  flags: '--store <file>',
  about: 'the state is in a PostgreSQL database, which this private file names (url, password, ca, schema, lease)',
};
/** Names the file of a machine, for the verbs of `hob cluster`. */
export const CLUSTER: VerbOption = {
  flags: '--cluster <file>',
  about: 'the file of this machine of a cluster (default: hob/cluster.yaml in $XDG_CONFIG_HOME, or in ~/.config)',
};
/** How `hob serve` tells people about requests. */
export const TELLING: readonly VerbOption[] = [
  { flags: '--notify', about: 'shows each request on the desktop, with notify-send or osascript' },
  { flags: '--notify-with <program>', about: 'the same with a program of yours: PROGRAM -- TITLE TEXT' },
  { flags: '--webhook <url>', about: 'posts each request, signed, to an https URL or one of this machine' },
  { flags: '--webhook-key-file <file>', about: 'the key that signs: whsec_ and 24 to 64 bytes in base64' },
];
/** The key of the secrets. */
export const SECRETS_KEY: VerbOption = {
  flags: '--secrets-key <place>',
  about: 'the file with the key of the secrets, or fd:N (default: beside the state, STATE.secrets.key)',
};
/** Which session. */
export const SESSION: VerbOption = { flags: '--session <session>', about: 'of this session: S12, or its whole id' };
/** Limits of a grant. */
export const LIMITS: readonly VerbOption[] = [
  { flags: '--uses <n>', about: 'for so many calls' },
  { flags: '--for <time>', about: 'for so long: 15m, 8h, 30d' },
];
/** Terms of a grant. */
export const TERMS: readonly VerbOption[] = [
  ...LIMITS,
  { flags: '--until <date>', about: 'until that day or moment: 2027-01-31' },
  { flags: '--methods <list>', about: 'only these methods: readText,list' },
];
/** The other layers over or under a manifest. */
export const LAYERS = {
  flags: '--layer <layer=file>',
  about: 'a manifest of another layer: org, machine, user, project, local or flags',
  many: true,
} as const;
/** Which manifest. */
export const MANIFEST: VerbOption = {
  flags: '--manifest <file>',
  about: 'the manifest that governs (default: hob/hob.yaml in $XDG_CONFIG_HOME, or in ~/.config)',
};
