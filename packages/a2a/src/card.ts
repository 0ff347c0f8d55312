/**
 * The card of an agent, as A2A 1.0 writes it: who it is, where it is reached, and what it can do.
 *
 * Promise: a card that is not valid is not made. There is no card in its place, and the error says what to give.
 */
import { CapError } from '@hob/vat';
import { validateAgentCard } from './validate.ts';

/** A skill on the card. Its tags hold its category. */
export interface CardSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
}

/** The parts of a card. */
export interface CardParts {
  readonly name: string;
  readonly description: string;
  /** The version of the agent. That of the protocol stands in the card. */
  readonly version: string;
  /** Other agents send tasks to this address. */
  readonly url: string;
  readonly skills: readonly CardSkill[];
  /** The endpoint returns a stream of events. */
  readonly streaming?: boolean | undefined;
  /** Says that an agent that sends tasks signs its requests (`peerToken`). */
  readonly signed?: boolean | undefined;
  readonly provider?: { readonly organization: string; readonly url: string } | undefined;
}

/** A signature of a card: a flattened JWS without its payload, which is the card. */
export interface CardSignature {
  readonly protected: string;
  readonly signature: string;
}

/** The JSON of a card. */
export interface AgentCard {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly supportedInterfaces: readonly {
    readonly url: string;
    readonly protocolBinding: string;
    readonly protocolVersion: string;
  }[];
  readonly capabilities: { readonly streaming: boolean; readonly pushNotifications: boolean };
  readonly defaultInputModes: readonly string[];
  readonly defaultOutputModes: readonly string[];
  readonly skills: readonly CardSkill[];
  readonly provider?: { readonly organization: string; readonly url: string };
  readonly securitySchemes?: Readonly<Record<string, object>>;
  readonly securityRequirements?: readonly object[];
  readonly signatures?: readonly CardSignature[];
}

/** How a peer shows who it is, as A2A writes it. */
const SIGNED = Object.freeze({
  securitySchemes: {
    peer: {
      httpAuthSecurityScheme: {
        scheme: 'Bearer',
        bearerFormat: 'JWT',
        description: 'A JWT for each request: signed with a key that this agent knows, kid its thumbprint, aud the url of this card, exp at most 60 s after iat, jti new',
      },
    },
  },
  securityRequirements: [{ schemes: { peer: { list: [] } } }],
}); // biome-ignore format: one line

const MODES: readonly string[] = Object.freeze(['text/plain', 'application/json']);

/** Makes a card. Throws `invalid` with each fault, if something is missing or wrong. */
export function buildAgentCard(parts: CardParts): AgentCard {
  const { name, description, version, url, skills, streaming = false, signed = false, provider } = parts;
  const card: AgentCard = {
    ...{ name, description, version },
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: { streaming, pushNotifications: false },
    ...{ defaultInputModes: MODES, defaultOutputModes: MODES },
    skills: mergeSkills(skills),
    ...(provider === undefined ? {} : { provider }),
    ...(signed ? SIGNED : {}),
  };
  const errors = validateAgentCard(card);
  if (errors.length > 0) throw new CapError('invalid', `this is no agent card: ${errors.join('; ')}`);
  return card;
}

/** Skills in the order of their ids. Of several with one id the first one stays. */
export function mergeSkills(skills: readonly CardSkill[]): readonly CardSkill[] {
  const byId = new Map<string, CardSkill>();
  for (const skill of skills) if (!byId.has(skill.id)) byId.set(skill.id, skill);
  return [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/**
 * The first text that is there, without spaces around it: of a flag, the environment, the configuration, the
 * machine.
 */
export const firstOf = (...texts: readonly (string | undefined)[]): string | undefined =>
  texts.map((text) => text?.trim()).find((text) => text !== undefined && text !== '');
