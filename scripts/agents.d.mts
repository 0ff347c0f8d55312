/** The hosts that can be installed, by the names of their recipes. */
export declare const AGENT_NAMES: readonly ['claude', 'opencode', 'gemini'];
/** The program of a host, or why it is not there. Installs nothing. */
export declare function agentProgram(name: string): { readonly program?: string; readonly missing?: string };
/** Installs those that are named, or all. Answers why one is missing; undefined when all are there. */
export declare function setUpAgents(names?: readonly string[]): Promise<string | undefined>;
