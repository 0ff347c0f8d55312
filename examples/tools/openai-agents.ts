/** An agent on the OpenAI Agents SDK, with the tools of its session. */
import '@hob/vat/lockdown';
import type { AgentPowers, SessionFace } from '@hob/host';
import * as tools from '@hob/tools';
import { connect } from '@hob/vat';
import * as sdk from '@openai/agents';

export default async function agent({ url, secret, say }: AgentPowers): Promise<void> {
  // Traces go to OpenAI otherwise, with the texts that the tools read.
  sdk.setTracingDisabled(true);
  const session = await connect<SessionFace>(url, { secret });
  const made = await tools.of(session.bootstrap);
  const worker = new sdk.Agent({ name: 'worker', model: 'gpt-5.1', tools: made.openaiAgents(sdk) });
  // Otherwise a call of a tool that there is not ends the run.
  const options = { toolNotFoundBehavior: 'return_error_to_model' } as const;
  const { finalOutput } = await sdk.run(worker, 'Sum up notes.txt.', options);
  say(finalOutput ?? '');
}
