/** The flags of Node for a deep stack: none, or one. */
export declare function deepStack(): readonly string[];
