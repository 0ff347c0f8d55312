/** An agent on LangGraph.js, with the tools of its session. Any chat model of LangChain will do. */
import '@hob/vat/lockdown';
import type { AgentPowers, SessionFace } from '@hob/host';
import * as tools from '@hob/tools';
import { connect } from '@hob/vat';
import * as sdk from '@langchain/core/tools';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';

export default async function agent({ url, secret, say }: AgentPowers): Promise<void> {
  const session = await connect<SessionFace>(url, { secret });
  const made = await tools.of(session.bootstrap);
  const llm = new ChatOpenAI({ model: 'gpt-5.1' });
  const worker = createReactAgent({ llm, tools: made.langgraph(sdk) });
  const { messages } = await worker.invoke({ messages: [{ role: 'user', content: 'Sum up notes.txt.' }] });
  say(String(messages.at(-1)?.content));
}
