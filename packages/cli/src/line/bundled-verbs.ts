/**
 * Which bundle of a tarball has the verb of a command line. An agent, an editor or a script calls these often.
 *
 * A bundle has its own copy of the modules that it uses. So its verbs load nothing else of Hob.
 */

/** The verbs that only read files (`data-verbs.ts`). */
const DATA_VERBS = ['check', 'explain', 'version'] as const;
export type DataVerb = (typeof DATA_VERBS)[number];

/** The verbs that only talk to a host (`client-verbs.ts`). */
const CLIENT_VERBS = [
  'status',
  'metrics',
  'stop',
  'inbox',
  'grant',
  'refuse',
  'list',
  'revoke',
  'narrow',
  'renew',
  'give',
  'name',
  'sessions',
  'end',
  'confirm',
  'wishes',
  'accept',
  'ledger show',
] as const;
export type ClientVerb = (typeof CLIENT_VERBS)[number];

/** The one that a command line names first, if any. `--version` alone is the verb of that name. */
export function dataVerb([word, ...rest]: readonly string[]): DataVerb | undefined {
  if (word === '--version' && rest.length === 0) return 'version';
  return DATA_VERBS.find((name) => name === word);
}

/** The same. With `--store` a verb asks a database, whose package is not in the bundle. */
export function clientVerb(args: readonly string[]): ClientVerb | undefined {
  const [word, next = '-'] = args;
  if (args.some((each) => /^--store(?:=|$)/.test(each))) return undefined;
  // `hob ledger --grant G3` is `hob ledger show --grant G3`.
  if (word === 'ledger') return /^(?:-(?!-help$|h$).*|show)$/.test(next) ? 'ledger show' : undefined;
  return CLIENT_VERBS.find((name) => name === word);
}
