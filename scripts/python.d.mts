export declare const BRIDGE: string;
/** `{python}`: one that has everything; or `{missing}`: why there is none. */
export declare function setUpPython(): Promise<{ readonly python?: string; readonly missing?: string }>;
