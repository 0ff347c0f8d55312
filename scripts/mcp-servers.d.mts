/** Where they are installed. */
export const MCP_SERVERS: string;
export function mcpServersMissing(): string | undefined;
export function setUpMcpServers(): Promise<string | undefined>;
/** Where the conformance suite and the inspector are installed. */
export const MCP_CHECKERS: string;
export function mcpCheckersMissing(): string | undefined;
export function setUpMcpCheckers(): Promise<string | undefined>;
