/** The JSON that a hook gets on its standard input. */
import type { HookedCall, HookedOutcome } from '@hob/host';
import type { ToolCallAssessment } from '../assess/assessment.ts';
import type { HookEvent } from './hook.ts';

/** A program that gets more than this is not run: what it cannot be shown it cannot judge. */
const longestInput: number = 1 << 20;

/** The folder that a hook runs in, as it sees it. */
const cwd = '/';

/** The name of the call in the words of other agents: the cap and its method. */
const toolName = ({ petname, method }: HookedCall): string => `${petname}.${method.slice(0, 64)}`;

/** The arguments in the words of other agents. A text that a shell runs is `command`, as their hooks look for it. */
function toolInput({ method, args }: HookedCall): Readonly<Record<string, unknown>> {
  const [first] = args;
  const isCommand = (method === 'run' || method === 'spawn') && typeof first === 'string';
  return { ...(isCommand ? { command: first } : {}), args };
}

/** The input of a hook as text. Undefined if it is too long. */
export function inputOf(
  on: HookEvent,
  call: HookedCall,
  assessment: ToolCallAssessment,
  outcome?: HookedOutcome,
): string | undefined {
  const text = JSON.stringify(fieldsOf(on, call, assessment, outcome), readable);
  return text.length <= longestInput ? text : undefined;
}

function fieldsOf(on: HookEvent, call: HookedCall, assessment: ToolCallAssessment, outcome?: HookedOutcome): object {
  const theirs = { hook_event_name: on, tool_name: toolName(call), tool_input: toolInput(call), session_id: call.session, cwd }; // biome-ignore format: one line
  if (on === 'pre_tool_call') return theirs;
  if (on === 'PreToolUse') return { ...theirs, transcript_path: '', permission_mode: 'default', tool_use_id: call.grant }; // biome-ignore format: one line
  const { session, petname, offer, method, args } = call;
  const ours = { hook_event_name: on, session_id: session, cap: petname, offer, method, args, assessment };
  return outcome === undefined ? ours : { ...ours, outcome };
}

/** Bytes and large numbers have no form in JSON. */
const readable = (_name: string, value: unknown): unknown => {
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString('base64') };
  return typeof value === 'bigint' ? { bigint: String(value) } : value;
};
