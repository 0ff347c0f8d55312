/** The face of MCP of two hosts in one process, as tenants of a machine have it. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFsCap } from '@hob/caps-fs';
import { type Granter, openHost } from '@hob/host';
import { E, type Far, systemRandom } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { callOverHttp } from '../../test/mcp-client.ts';
import { mcpFace } from './mcp-face.ts';

/** A host whose sessions have the same ids as those of any other one: the part that chance gives them is fixed. */
async function tenant(name: string): Promise<{ readonly id: string; read(): Promise<string> }> {
  const folder = mkdtempSync(join(tmpdir(), 'hob-face-'));
  mkdirSync(join(folder, 'root'));
  writeFileSync(join(folder, 'root/whose.txt'), `of ${name}`);
  const random = (bytes: number): Uint8Array => (bytes === 5 ? new Uint8Array(5) : systemRandom(bytes));
  const host = await openHost({ stateDir: join(folder, 'state'), random });
  const directory = await openFsCap(join(folder, 'root'));
  onTestFinished(async () => {
    await host.close();
    await directory.close();
    rmSync(folder, { recursive: true });
  });
  await host.offer('notes', directory);
  const { granter } = (await host.ensureGranter('ann')) as { readonly granter: Far<Granter> };
  const session = await host.openSession({ name: 'agent', granters: ['ann'] });
  await E(granter).grant(session.id, 'notes', 'notes', { for: 600_000 });
  const { url } = await host.serve({}, { '/mcp': mcpFace() });
  const read = (): Promise<string> => callOverHttp({ url, secret: session.secret }, 'read', { cap: 'notes', path: 'whose.txt' }); // biome-ignore format: one line
  return { id: session.id, read };
}

test('a session of a tenant reaches itself, and not the session of another tenant with the same id', async () => {
  const [acme, globex] = [await tenant('acme'), await tenant('globex')];
  expect(acme.id).toBe(globex.id);
  for (const [name, { read }] of Object.entries({ acme, globex })) expect(await read(), name).toContain(`of ${name}`);
});
