/**
 * A systemd user unit for `hob serve`.
 *
 * Promise: each word of the command line reaches the program as it is here, whatever is in it. The unit sets nothing
 * that a sandbox needs to be without.
 */
import { terminalLine } from '@hob/host/line';
import { Mistake } from './mistake.ts';

/** A state that is broken stays so. A database comes back, however long it is away. */
const limitOf = (command: readonly string[]): string =>
  command.includes('--store') ? 'StartLimitIntervalSec=0' : 'StartLimitIntervalSec=60\nStartLimitBurst=5';

/** The unit that runs this command line. Errors: `Mistake` (a word that a unit cannot hold). */
export const unitText = (command: readonly string[]): string => `[Unit]
Description=Hob, an object-capability host for agents
${limitOf(command)}

[Service]
Type=exec
ExecStart=${command.map((word, n) => unitWord(word, n === 0)).join(' ')}
Restart=on-failure
RestartSec=2
TimeoutStopSec=15
UMask=0077
LimitCORE=0
NoNewPrivileges=yes
Delegate=memory pids
DelegateSubgroup=host

[Install]
WantedBy=default.target
`;

/** A word of `ExecStart=`. In the first one systemd replaces no variables, so its `$` stays single. */
function unitWord(word: string, isFirst: boolean): string {
  // It would be printed in another form.
  if (terminalLine(word) !== word)
    throw new Mistake('a path with a character that a terminal does not show cannot stand in a unit: use another path');
  const specifiers = word.replaceAll('%', '%%');
  const text = isFirst ? specifiers : specifiers.replaceAll('$', () => '$$');
  return /^[\w@%+=:,./$-]+$/.test(text) ? text : `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
