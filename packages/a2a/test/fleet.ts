/** The three agents of the fleet that the proposal for Hermes names, and cards as its builder made them. */
import type { CardParts } from '../src/index.ts';

const DESCRIPTION = 'Sovereign AI agent — orchestration, code, research';

/** Timmy, Allegro and Ezra. */
export const FLEET: readonly CardParts[] = ['Timmy', 'Allegro', 'Ezra'].map((name) => ({
  name,
  description: DESCRIPTION,
  version: '1.0.0',
  url: `https://${name.toLowerCase()}.local:9443/a2a`,
  skills: [],
}));

/** A `SKILL.md` of its tests. */
export const SKILL = `---
name: Code Implementation
description: Implement and patch code
tags: [python, gitea]
category: discovery
---
# Code Implementation
`;

/** A card of A2A 0.x as its builder made it. 1.0 refuses it. */
export const CARD_OF_0X: object = {
  name: 'Timmy',
  description: DESCRIPTION,
  url: 'https://timmy.local:9443/a2a',
  version: '0.9.0',
  capabilities: { streaming: true, pushNotifications: false, stateTransitionHistory: true },
  defaultInputModes: ['text/plain', 'application/json'],
  defaultOutputModes: ['text/plain', 'application/json'],
  skills: [
    { id: 'code', name: 'Code Implementation', description: 'Implement and patch code', tags: ['python', 'gitea'] },
  ],
  metadata: { fleet: 'one' },
};
