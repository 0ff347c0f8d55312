/** An agent on the Vercel AI SDK, with the tools of its session. Any provider of the SDK will do. */
import '@hob/vat/lockdown';
import { openai } from '@ai-sdk/openai';
import type { AgentPowers, SessionFace } from '@hob/host';
import * as tools from '@hob/tools';
import { connect } from '@hob/vat';
import * as ai from 'ai';

export default async function agent({ url, secret, say }: AgentPowers): Promise<void> {
  const session = await connect<SessionFace>(url, { secret });
  const made = await tools.of(session.bootstrap);
  const { text } = await ai.generateText({
    model: openai.chat('gpt-5.1'),
    prompt: 'Sum up notes.txt.',
    tools: made.aiSdk(ai),
    stopWhen: ai.stepCountIs(20),
  });
  say(text);
}
