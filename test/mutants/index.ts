/** Every mutant of the repository. Add a row to the file of its package; `vat` and `host` have a file for each folder. */
import { MUTANTS as a2a } from './a2a.ts';
import { MUTANTS as acp } from './acp.ts';
import { MUTANTS as bridgePython } from './bridge-python.ts';
import { MUTANTS as capsFs } from './caps-fs.ts';
import { MUTANTS as capsNet } from './caps-net.ts';
import { MUTANTS as capsShell } from './caps-shell.ts';
import { MUTANTS as chat } from './chat.ts';
import { MUTANTS as cli } from './cli.ts';
import { MUTANTS as cluster } from './cluster.ts';
import { MUTANTS as consolePage } from './console.ts';
import { MUTANTS as firewall } from './firewall.ts';
import { MUTANTS as firewallServed } from './firewall-served.ts';
import { MUTANTS as guest } from './guest.ts';
import { MUTANTS as host } from './host/index.ts';
import { MUTANTS as imports } from './import.ts';
import { MUTANTS as link } from './link.ts';
import { MUTANTS as manifest } from './manifest.ts';
import { MUTANTS as mcp } from './mcp.ts';
import { MUTANTS as mcpServers } from './mcp-servers.ts';
import { MUTANTS as metrics } from './metrics.ts';
import type { Mutant } from './mutant.ts';
import { MUTANTS as packing } from './packing.ts';
import { MUTANTS as recipes } from './recipes.ts';
import { MUTANTS as revocable } from './revocable.ts';
import { MUTANTS as storePostgres } from './store-postgres.ts';
import { MUTANTS as tools } from './tools.ts';
import { MUTANTS as vat } from './vat/index.ts';

export const MUTANTS: readonly Mutant[] = [
  ...vat,
  ...revocable,
  ...capsFs,
  ...capsShell,
  ...capsNet,
  ...guest,
  ...manifest,
  ...metrics,
  ...imports,
  ...host,
  ...firewall,
  ...firewallServed,
  ...bridgePython,
  ...packing,
  ...tools,
  ...acp,
  ...chat,
  ...mcp,
  ...mcpServers,
  ...cli,
  ...consolePage,
  ...storePostgres,
  ...cluster,
  ...link,
  ...a2a,
  ...recipes,
];
