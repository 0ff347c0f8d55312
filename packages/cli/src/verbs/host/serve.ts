/** `hob serve`: serves the sessions of a manifest. */
import { Mistake } from '../../line/mistake.ts';
import { LAYERS, MANIFEST, SECRETS_KEY, SENTINEL, STATE, STORE, TELLING } from '../../line/options.ts';
import { portOf } from '../../line/port.ts';
import { type Given, isGiven, listOf, textOf, type Verb } from '../../line/verb.ts';

/** `hob serve` */
export const serve: Verb = {
  name: 'serve',
  about:
    'serves the manifest until it is stopped. Agents get sessions with hob start; their requests arrive in hob inbox',
  options: [
    MANIFEST,
    LAYERS,
    STATE,
    SENTINEL,
    STORE,
    { flags: '--standby', about: 'with --store: waits for as long as another host has the database, and then serves' },
    {
      flags: '--log <file>',
      about: 'where the log goes: rotated at 1 MiB, with 4 older files (default: the standard error)',
    },
    { flags: '--port <n>', about: 'where it listens on 127.0.0.1 for agents and for --url (default: any free port)' },
    {
      flags: '--metrics <n>',
      about: 'a port of 127.0.0.1 where a program collects metrics: http://127.0.0.1:N/metrics (default: nowhere)',
    },
    ...TELLING,
    SECRETS_KEY,
  ],
  examples: [
    'hob serve',
    'hob serve --manifest ~/.config/hob/hob.yaml --log ~/.local/state/hob/serve.log &',
    'hob serve --layer org=org.yaml --layer flags=today.yaml',
    'hob serve --notify',
    'hob serve --webhook https://hooks.example.org/hob --webhook-key-file ~/.config/hob/webhook.key',
  ],
  json:
    '{ url: string, pid: number, manifest: string, layers: { layer: string, file: string }[], mode: string,\n' +
    '  firewall?: "observe" | "enforce", caps: { [name]: "mint" | "ask" }, since: number }',
  codes: {
    0: 'it was ended by Ctrl-C, SIGTERM, SIGHUP or hob stop',
    1: 'it did not start: the manifest has mistakes, or another process has the state; or its store is gone',
  },
  hardened: true,
  async run(given, { line, say, json }) {
    const { serve: start } = await import('../../daemon/drivers/serve.ts');
    const { absolute, secretsKeyOf, stateOf } = await import('../../drivers/places.ts');
    const { storeOf } = await import('../../drivers/store-file.ts');
    const [log, webhook, keyFile, sentinel] = ['log', 'webhook', 'webhookKeyFile', 'sentinel'].map((name) => textOf(given, name)); // biome-ignore format: one line
    const tell = {
      notify: isGiven(given, 'notify'),
      notifyWith: textOf(given, 'notifyWith'),
      webhook,
      webhookKeyFile: keyFile === undefined ? undefined : absolute(keyFile),
    };
    const status = await start({
      manifest: textOf(given, 'manifest'),
      layers: listOf(given, 'layer'),
      state: stateOf(given),
      sentinel: sentinel === undefined ? undefined : absolute(sentinel),
      store: storeOf(given),
      standby: standbyOf(given),
      log: log === undefined ? undefined : absolute(log),
      port: portOf(given, 'port'),
      metrics: portOf(given, 'metrics'),
      say,
      tell,
      secretsKey: secretsKeyOf(given),
    });
    line(`hob serves ${status.manifest}, in the mode ${status.mode}`);
    if (status.firewall !== undefined) line(`  a firewall assesses each call, and is set to ${status.firewall}`);
    if (status.layers.length > 1) for (const { layer, file } of status.layers) line(`  layer ${layer}: ${file}`);
    for (const [name, how] of Object.entries(status.caps))
      line(how === 'mint' ? `  ${name}` : `  ${name}, after a person said yes`);
    line('start an agent:    hob start -- PROGRAM');
    line('see its requests:  hob inbox');
    json(status);
    // The process ends with a signal.
    return await new Promise<never>(() => {});
  },
};

/** Errors: `Mistake`. */
function standbyOf(given: Given): boolean {
  const standby = isGiven(given, 'standby');
  if (standby && textOf(given, 'store') === undefined)
    throw new Mistake('--standby waits for a database: it comes with --store FILE', 2);
  return standby;
}
