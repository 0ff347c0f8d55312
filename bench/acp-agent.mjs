/** An agent of ACP that says as many updates as its prompt asks for. */
import { createInterface } from 'node:readline';

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'a few words of an answer' } };
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') send({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
  if (method === 'session/new') send({ id, result: { sessionId: 'bench' } });
  if (method !== 'session/prompt') continue;
  for (let n = Number(params.prompt[0].text); n > 0; n -= 1)
    send({ method: 'session/update', params: { sessionId: 'bench', update } });
  send({ id, result: { stopReason: 'end_turn' } });
}
