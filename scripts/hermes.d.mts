export declare const HERMES_VERSIONS: readonly string[];
/** `{python}`: the interpreter that has this version of Hermes; or `{missing}`: why there is none. Installs nothing. */
export declare function hermesPython(version: string): { readonly python?: string; readonly missing?: string };
/** Answers why Hermes is missing; undefined when both versions are there. */
export declare function setUpHermes(): Promise<string | undefined>;
