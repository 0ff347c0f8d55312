/** `hob unit`: a systemd user unit. */
import { MANIFEST, STATE, STORE } from '../../line/options.ts';
import { textOf, type Verb } from '../../line/verb.ts';

/** `hob unit` */
export const unit: Verb = {
  name: 'unit',
  about: 'prints a systemd user unit that runs hob serve as it is installed here. Its log goes to the journal',
  options: [MANIFEST, STATE, STORE],
  examples: ['hob unit > ~/.config/systemd/user/hob.service', 'systemctl --user enable --now hob'],
  json: '{ unit: string }',
  codes: { 1: 'a path cannot stand in a unit' },
  async run(given, { line, json }) {
    const { unitText } = await import('../../line/unit-text.ts');
    const { ownCommand } = await import('../../drivers/own-code.ts');
    const { absolute, stateOf, usualManifest } = await import('../../drivers/places.ts');
    const manifest = absolute(textOf(given, 'manifest') ?? usualManifest());
    const store = textOf(given, 'store');
    const more = store === undefined ? [] : ['--store', absolute(store), '--standby'];
    const text = unitText([...ownCommand(), 'serve', '--manifest', manifest, '--state', stateOf(given), ...more]);
    for (const each of text.trimEnd().split('\n')) line(each);
    json({ unit: text });
    return 0;
  },
};
