/** `@hob/a2a`: the agent card of A2A 1.0, checked and signed, and a door for tasks of other agents. */
export {
  type AgentCard,
  buildAgentCard,
  type CardParts,
  type CardSignature,
  type CardSkill,
  firstOf,
  mergeSkills,
} from './card.ts';
export { cardKey, isSignedBy, signAgentCard } from './drivers/sign.ts';
export { readSkills } from './drivers/skill-files.ts';
export { type Know, type KnownPeers, knowPeers, peerToken, type TokenRequest } from './drivers/token.ts';
export { type SkillChoice, type SkillFile, skillsOf } from './skills.ts';
export { type CardRules, validateAgentCard } from './validate.ts';
