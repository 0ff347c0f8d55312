/** `hob card`: the agent card of a manifest. */
import type { Plan } from '@hob/manifest';
import { LAYERS } from '../../line/options.ts';
import { isGiven, listOf, textOf, type Verb } from '../../line/verb.ts';

const VALID = 'this is a card of A2A 1.0';

/** `hob card` */
export const card: Verb = {
  name: 'card',
  operands: '[file]',
  about:
    'prints the agent card (A2A 1.0) of a manifest and its skills. Without a file, of all layers that hob serve reads',
  options: [
    LAYERS,
    {
      flags: '--name <name>',
      about: 'the name of the agent (then HOB_AGENT_NAME, AGENT_NAME, the manifest, the machine)',
    },
    {
      flags: '--description <text>',
      about: 'what the agent is for (then HOB_AGENT_DESCRIPTION, AGENT_DESCRIPTION, the manifest)',
    },
    { flags: '--url <url>', about: 'where the agent takes tasks (then HOB_A2A_URL, A2A_URL, the manifest)' },
    { flags: '--sign-with <file>', about: 'signs it with this private key in PEM: ed25519, or EC on P-256 or P-384' },
    { flags: '--public-key', about: 'prints the public key of --sign-with as a JWK, and no card' },
    {
      flags: '--token',
      about:
        'prints a token for one request to the agent at --url, in the next minute, and no card: for the header authorization: Bearer',
    },
    {
      flags: '--validate [card]',
      about: 'says that the card is valid; of a file with a card of anybody, what is wrong',
    },
  ],
  examples: [
    'hob card --url https://timmy.local:9443/a2a',
    'hob card app.yaml --name Timmy --json > card.json',
    'hob card --validate card.json',
    'hob card --sign-with card.pem --public-key',
    'hob card --sign-with card.pem --token --url https://timmy.local:9443/a2a',
  ],
  json: 'the card; with --validate { "errors": string[] }; with --public-key the JWK; with --token { "token": string }',
  codes: { 1: 'the card cannot be built, or is not valid; the manifest has mistakes' },
  async run(given, output) {
    const { line, say, json } = output;
    const file = textOf(given, 'validate');
    if (file !== undefined) return await validated(file, output);
    const [{ cardKey, peerToken, signAgentCard }, { agentCard }, { textOfFile }, { machine }] = await Promise.all([
      import('@hob/a2a'),
      import('../../drivers/card.ts'),
      import('../../drivers/layers.ts'),
      import('../../drivers/machine.ts'),
    ]);
    const keyFile = textOf(given, 'signWith');
    const key = keyFile === undefined ? undefined : textOfFile(keyFile);
    const print = (value: unknown): void => {
      for (const text of JSON.stringify(value, undefined, 2).split('\n')) line(text);
      json(value);
    };
    if (isGiven(given, 'publicKey')) {
      if (key === undefined) {
        say('--public-key is of a key: give --sign-with FILE');
        return 1;
      }
      print(await cardKey(key));
      return 0;
    }
    if (isGiven(given, 'token')) {
      const audience = textOf(given, 'url');
      if (key === undefined || audience === undefined) {
        say('--token is signed for one agent: give --sign-with FILE and --url with the address in its card');
        return 1;
      }
      const token = await peerToken({ pem: key, audience, now: machine.now });
      line(token);
      json({ token });
      return 0;
    }
    const plan = await planOf(given.operands[0], listOf(given, 'layer'), say);
    if (plan === undefined) return 1;
    const flags = { name: textOf(given, 'name'), description: textOf(given, 'description'), url: textOf(given, 'url') };
    const made = agentCard(plan.a2a, flags);
    print(key === undefined ? made : await signAgentCard(made, key));
    // No other card is ever made.
    if (isGiven(given, 'validate')) say(VALID);
    return 0;
  },
};

/** The plan of the layers. Undefined: there are mistakes, which were said. */
async function planOf(
  file: string | undefined,
  named: readonly string[],
  say: (line: string) => void,
): Promise<Plan | undefined> {
  const [{ check, lineOf }, { readLayers, servedLayers, surroundings }, { usualPlaces }] = await Promise.all([
    import('@hob/manifest'),
    import('../../drivers/layers.ts'),
    import('../../drivers/places.ts'),
  ]);
  const { given, lost } = file === undefined ? servedLayers(usualPlaces(undefined), named) : readLayers(file, named);
  const { plan, mistakes } = lost.length > 0 ? { plan: undefined, mistakes: lost } : check(given, surroundings());
  for (const mistake of mistakes) say(lineOf(mistake));
  return plan;
}

async function validated(file: string, { line, json }: Parameters<Verb['run']>[1]): Promise<number> {
  const [{ validateAgentCard }, { textOfFile }] = await Promise.all([
    import('@hob/a2a'),
    import('../../drivers/layers.ts'),
  ]);
  const text = textOfFile(file);
  let errors: readonly string[];
  try {
    errors = validateAgentCard(JSON.parse(text));
  } catch {
    errors = ['this is no JSON'];
  }
  for (const error of errors) line(error);
  if (errors.length === 0) line(VALID);
  json({ errors });
  return errors.length === 0 ? 0 : 1;
}
