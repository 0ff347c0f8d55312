/** An agent on OpenAI's responses, with the tools of its session. */
import '@hob/vat/lockdown';
import type { AgentPowers, SessionFace } from '@hob/host';
import * as tools from '@hob/tools';
import { connect } from '@hob/vat';
import OpenAI from 'openai';

export default async function agent({ url, secret, say }: AgentPowers): Promise<void> {
  const session = await connect<SessionFace>(url, { secret });
  const made = await tools.of(session.bootstrap);
  const client = new OpenAI();
  const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Sum up notes.txt.' }];
  for (;;) {
    const answer = await client.responses.create({ model: 'gpt-5.1', input, tools: made.responses(), store: false });
    input.push(...(answer.output as OpenAI.Responses.ResponseInput));
    const calls = answer.output.filter((item) => item.type === 'function_call');
    if (calls.length === 0) return say(answer.output_text);
    for (const call of calls) input.push(await made.responsesResult(call));
  }
}
