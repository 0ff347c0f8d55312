/** Answers why the agent frameworks of Python are missing; undefined when they are there. Installs nothing. */
export declare function adaptersMissing(): string | undefined;
/** The same, after an attempt to install them. */
export declare function setUpAdapters(): Promise<string | undefined>;
