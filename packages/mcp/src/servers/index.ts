/** `@hob/mcp/servers`: servers of tools in the sandbox, and their tools as sealed caps. */
export type { ServerCode } from './errors.ts';
export type { ServerLimits } from './limits.ts';
export { type MadeTool, makeTools } from './offer.ts';
export { type McpPlace, mcpPlace } from './place.ts';
export type { ToolContent, ToolResult } from './result.ts';
export type { ToolDefinition } from './seal.ts';
export {
  type CallOutcome,
  openServer,
  openServerAt,
  type PlaceOptions,
  type SealedDefinition,
  type ServerOptions,
  type ToolServer,
} from './server.ts';
export { definitions, type ToolCap, type ToolDescription } from './tool.ts';
