/** An agent on OpenAI's chat completions, with the tools of its session. OPENAI_API_KEY, OPENAI_BASE_URL as usual. */
import '@hob/vat/lockdown';
import type { AgentPowers, SessionFace } from '@hob/host';
import * as tools from '@hob/tools';
import { connect } from '@hob/vat';
import OpenAI from 'openai';

export default async function agent({ url, secret, say }: AgentPowers): Promise<void> {
  const session = await connect<SessionFace>(url, { secret });
  const made = await tools.of(session.bootstrap);
  const client = new OpenAI();
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Sum up notes.txt.' }];
  for (;;) {
    const answer = await client.chat.completions.create({ model: 'gpt-5.1', messages, tools: made.openai() });
    const message = answer.choices[0]!.message;
    messages.push(message);
    if (message.tool_calls === undefined) return say(message.content ?? '');
    for (const call of message.tool_calls) messages.push(await made.openaiResult(call));
  }
}
