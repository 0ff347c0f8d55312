/** `probe.ts NAME …`: prints those needs that this machine has, as `HOB_REQUIRE` takes them. For `.ci/run`. */
import { NEEDS, needs } from '../test/probes.ts';
import { setUpAdapters } from './adapters.mjs';
import { setUpAgentdojo } from './agentdojo.mjs';
import { AGENT_NAMES, setUpAgents } from './agents.mjs';
import { setUpHermes } from './hermes.mjs';
import { setUpMcpCheckers, setUpMcpServers } from './mcp-servers.mjs';
import { setUpSdks } from './sdks.mjs';
import { setUpZig } from './zig.mjs';

const names = process.argv.slice(2);
const SET_UPS = {
  hermes: setUpHermes,
  adapters: setUpAdapters,
  sdks: setUpSdks,
  agentdojo: setUpAgentdojo,
  mcpServers: setUpMcpServers,
  mcpCheckers: setUpMcpCheckers,
  zig: setUpZig,
};
// What is asked for is installed first. If that fails, the probe says so. Most of the time goes into downloads.
await Promise.all([
  ...Object.entries(SET_UPS).flatMap(([name, setUp]) => (names.includes(name) ? [setUp()] : [])),
  setUpAgents(AGENT_NAMES.filter((name) => names.includes(name))),
]);
console.log(NEEDS.filter((need) => names.includes(need) && needs(need)).join(','));
