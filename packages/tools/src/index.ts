/** The public face of `@hob/tools`. */
export type { Schema } from './arguments.ts';
export { CUTOFF, tooClose } from './likeness.ts';
export { shown } from './shown.ts';
export type { Described, Holder, ObjectSchema, Result, ToolsOptions } from './toolbox.ts';
export { Toolbox } from './toolbox.ts';
export type {
  AgentsTool,
  AiSdkTool,
  AnthropicCall,
  AnthropicResult,
  AnthropicTool,
  LangGraphFunction,
  LangGraphTool,
  OpenAICall,
  OpenAIResult,
  OpenAITool,
  ResponsesCall,
  ResponsesResult,
  ResponsesTool,
} from './tools.ts';
export { of, Tools } from './tools.ts';
export type { Args, Kind, Verb, VerbOptions } from './verbs.ts';
export {
  COMMAND,
  count,
  DIRECTORY,
  EDIT,
  ENTRIES,
  LAUNCH,
  MKDIR,
  READ,
  READ_ONLY,
  RUN,
  SEARCH,
  SHELL,
  verb,
  WRITE,
} from './verbs.ts';
