/** An agent on Anthropic's messages, with the tools of its session. ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL as usual. */
import '@hob/vat/lockdown';
import Anthropic from '@anthropic-ai/sdk';
import type { AgentPowers, SessionFace } from '@hob/host';
import * as tools from '@hob/tools';
import { connect } from '@hob/vat';

export default async function agent({ url, secret, say }: AgentPowers): Promise<void> {
  const session = await connect<SessionFace>(url, { secret });
  const made = await tools.of(session.bootstrap);
  const client = new Anthropic();
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Sum up notes.txt.' }];
  for (;;) {
    const request = { model: 'claude-sonnet-5-5', max_tokens: 4096, messages, tools: made.anthropic() };
    const { content } = await client.messages.create(request);
    messages.push({ role: 'assistant', content });
    const calls = content.filter((block) => block.type === 'tool_use');
    if (calls.length === 0) return say(content.map((block) => (block.type === 'text' ? block.text : '')).join(''));
    messages.push({ role: 'user', content: await Promise.all(calls.map((call) => made.anthropicResult(call))) });
  }
}
