/**
 * Whether a card is one of A2A 1.0. What an earlier version wrote, and 1.0 does not know, is an error with
 * the new place.
 */
import * as z from 'zod';

const said = (error: string): { readonly error: string } => ({ error });
const filled = said('must be a non-empty string');
const text = z.string(filled).refine((one) => one.trim() !== '', filled);
const flag = z.boolean(said('must be a boolean')).optional();

function isWebAddress(given: string): boolean {
  return URL.canParse(given) && /^https?:$/.test(new URL(given).protocol) && new URL(given).host !== '';
}
const url = z.string(filled).refine(isWebAddress, said('must be an absolute http/https URL'));
const mode = z
  .string(said('entries must be MIME types'))
  .regex(/^[\w.+-]+\/[\w.+*-]+(?:\s*;.*)?$/, said('entries must be MIME types'));
const modes = z
  .array(mode, said('must be a non-empty list of MIME types'))
  .min(1, said('must be a non-empty list of MIME types'));

const at = z.looseObject(
  {
    url,
    protocolBinding: text,
    protocolVersion: text,
    tenant: z.string(said('must be a string')).optional(),
  },
  said('must be an object'),
);
const skill = z.looseObject(
  {
    id: z.string(said('missing id')).refine((one) => one.trim() !== '', said('missing id')),
    name: z.string(said('missing name')).refine((one) => one.trim() !== '', said('missing name')),
    description: text,
    tags: z.array(text, said('must be a list')),
    examples: z.array(z.string(), said('must be a list of strings')).optional(),
    inputModes: z.array(mode, said('must be a list of MIME types')).optional(),
    outputModes: z.array(mode, said('must be a list of MIME types')).optional(),
  },
  said('must be an object'),
);
const signature = z.looseObject({ protected: text, signature: text }, said('must be an object'));

const card = z.looseObject(
  {
    name: text,
    description: text,
    version: text,
    supportedInterfaces: z
      .array(at, said('must be a non-empty list of {url, protocolBinding, protocolVersion}'))
      .min(1, said('must be a non-empty list of {url, protocolBinding, protocolVersion}')),
    capabilities: z.looseObject(
      {
        streaming: flag,
        pushNotifications: flag,
        extendedAgentCard: flag,
        extensions: z.array(z.looseObject({ uri: text }), said('must be a list of {uri}')).optional(),
      },
      said('must be an object'),
    ),
    defaultInputModes: modes,
    defaultOutputModes: modes,
    skills: z.array(skill, said('must be a list')),
    provider: z.looseObject({ organization: text, url }, said('must be {organization, url}')).optional(),
    documentationUrl: url.optional(),
    iconUrl: url.optional(),
    securitySchemes: z.record(z.string(), z.looseObject({}), said('must be an object')).optional(),
    securityRequirements: z.array(z.looseObject({}), said('must be a list')).optional(),
    signatures: z.array(signature, said('must be a list')).optional(),
  },
  said('the card must be an object'),
);

/** Keys of cards of A2A 0.x, each with its place in 1.0. */
const EARLIER: Readonly<Record<string, string>> = {
  url: 'is of A2A 0.x: write supportedInterfaces',
  protocolVersion: 'is of A2A 0.x: it belongs to each of supportedInterfaces',
  preferredTransport: 'is of A2A 0.x: write the binding in supportedInterfaces',
  additionalInterfaces: 'is of A2A 0.x: write supportedInterfaces',
  supportsAuthenticatedExtendedCard: 'is of A2A 0.x: write capabilities.extendedAgentCard',
  security: 'is of A2A 0.x: write securityRequirements',
  metadata: 'is not of A2A 1.0: write an extension in capabilities.extensions',
};

/** The modes and the path that the fleet of the mission asks of its members, beyond A2A 1.0. */
const FLEET_MODES: readonly string[] = ['text/plain', 'application/json'];

/** Rules beyond A2A 1.0. */
export interface CardRules {
  /** Also the rules of one's own fleet: both modes are there, and each interface is an endpoint `/a2a`. */
  readonly fleet?: boolean;
}

/** Each error of a card, such as `skills[0] missing id`. An empty list: the card is valid. Throws nothing. */
export function validateAgentCard(given: unknown, { fleet = false }: CardRules = {}): readonly string[] {
  const read = card.safeParse(given);
  const errors = (read.error?.issues ?? []).map(({ path, message }) => `${placeOf(path)}${message}`);
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return errors;
  const own = given as Readonly<Record<string, unknown>>;
  for (const [key, why] of Object.entries(EARLIER)) if (Object.hasOwn(own, key)) errors.push(`${key} ${why}`);
  const { capabilities } = own;
  if (
    typeof capabilities === 'object' &&
    capabilities !== null &&
    Object.hasOwn(capabilities, 'stateTransitionHistory')
  )
    errors.push('capabilities.stateTransitionHistory is of A2A 0.x: remove it');
  if (fleet && read.success) errors.push(...ofFleet(read.data));
  return errors;
}

function ofFleet(read: z.output<typeof card>): readonly string[] {
  const lacking = (['defaultInputModes', 'defaultOutputModes'] as const).flatMap((key) =>
    FLEET_MODES.filter((one) => !read[key].includes(one)).map((one) => `${key} must include ${one}`),
  );
  const elsewhere = read.supportedInterfaces.flatMap((one, n) =>
    new URL(one.url).pathname.replace(/\/+$/, '').endsWith('/a2a')
      ? []
      : [`supportedInterfaces[${n}].url must point to the /a2a endpoint`],
  );
  return [...lacking, ...elsewhere];
}

/** `skills[0].tags `, as a person writes it. */
const placeOf = (path: readonly PropertyKey[]): string =>
  path.length === 0
    ? ''
    : `${path.map((key, n) => (typeof key === 'number' ? `[${key}]` : n === 0 ? String(key) : `.${String(key)}`)).join('')} `;
