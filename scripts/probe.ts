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
// Asked for, it is brought first; a machine that cannot have it is told so by the probe.
if (names.includes('hermes')) await setUpHermes();
if (names.includes('adapters')) await setUpAdapters();
if (names.includes('sdks')) await setUpSdks();
if (names.includes('agentdojo')) await setUpAgentdojo();
if (names.includes('mcpServers')) await setUpMcpServers();
if (names.includes('mcpCheckers')) await setUpMcpCheckers();
await setUpAgents(AGENT_NAMES.filter((name) => names.includes(name)));
if (names.includes('zig')) await setUpZig();
console.log(NEEDS.filter((need) => names.includes(need) && needs(need)).join(','));
