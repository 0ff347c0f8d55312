/** `examples/agentdojo`. */
export declare const DOJO: string;
/** `{python}`: the interpreter that has AgentDojo; or `{missing}`: why there is none. Installs nothing. */
export declare function agentdojoPython(): { readonly python?: string; readonly missing?: string };
/** Answers why AgentDojo is missing; undefined when it is there. */
export declare function setUpAgentdojo(): Promise<string | undefined>;
/** The environment for `python -m dojo`, from that of this process. */
export declare function dojoEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv;
