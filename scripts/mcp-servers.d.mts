/** Where they are installed. */
export const MCP_SERVERS: string;
export function mcpServersMissing(): string | undefined;
export function setUpMcpServers(): Promise<string | undefined>;
