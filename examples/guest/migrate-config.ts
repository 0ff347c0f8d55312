// With types, as models often write: they are taken out before it runs.
interface Config {
  name: string;
  version: number;
  servers?: string[];
}

async function migrate(path: string): Promise<Config | undefined> {
  const config = JSON.parse(await E(workspace).readText(path)) as Config & { server?: string };
  if (config.version >= 2) return undefined;
  const { server, ...rest } = config;
  const next: Config = { ...rest, version: 2, servers: server === undefined ? [] : [server] };
  await E(workspace).write(path, `${JSON.stringify(next, null, 2)}\n`);
  return next;
}

const seen = new Map<string, Config>();
for (const path of (await E(workspace).glob('config/*.json')) as string[]) {
  const migrated = await migrate(path);
  if (migrated !== undefined) seen.set(path, migrated);
}
return Object.fromEntries(seen);
