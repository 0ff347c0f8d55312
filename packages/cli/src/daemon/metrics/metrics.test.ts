/** `hob metrics`, and the door of `hob serve --metrics` for a program that collects them. */
import { get, request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../../../test/needs.ts';
import { agentIn, hobHome } from '../../../test/hob.ts';
import { faultOf, valueIn } from '../../../test/open-metrics.ts';
import { openMetrics } from '../../line/open-metrics.ts';
import { openMetricsDoor } from '../drivers/metrics-door.ts';
import { storeFamilies } from './families.ts';

const test = requires('linux');

interface Reply {
  readonly status: number | undefined;
  readonly type: string | undefined;
  readonly text: string;
}

const ask = (url: string, options: Parameters<typeof request>[1] = {}): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const sent = request(url, options as object, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode, type: response.headers['content-type'], text }));
    });
    sent.once('error', reject);
    sent.end();
  });

test('the numbers of a host count what it does, in OpenMetrics text, and say no name, no text and no folder', async () => {
  const hob = hobHome();
  await hob.serve();
  const before = (await hob.line('metrics')).out;
  expect(faultOf(before)).toBeUndefined();
  expect(valueIn(before, 'hob_calls_admitted_total')).toBe(0);
  const agent = hob.start('start', '--', ...agentIn(hob.folder));
  await agent.shows(/reads one/);
  const after = (await hob.line('metrics')).out;
  expect(faultOf(after)).toBeUndefined();
  const grown = (name: string): number => (valueIn(after, name) ?? 0) - (valueIn(before, name) ?? 0);
  expect(grown('hob_calls_admitted_total')).toBeGreaterThan(0);
  expect(grown('hob_sessions')).toBe(1);
  expect(grown('hob_grants')).toBeGreaterThan(0);
  for (const name of [
    'hob_turns_total',
    'hob_ledger_lines_total',
    'hob_commit_seconds_count',
    'hob_commit_seconds_sum',
    'hob_session_turn_seconds_total',
  ])
    expect(grown(name), name).toBeGreaterThan(0);
  expect(valueIn(after, 'hob_ledger_entries_total{kind="grant"}')).toBeGreaterThan(0);
  expect(valueIn(after, 'hob_budget_used{budget="connections"}')).toBe(1);
  expect(valueIn(after, 'hob_budget_fullest_ratio{budget="rows"}')).toBeGreaterThan(0);
  expect(valueIn(after, 'hob_commit_seconds_bucket{le="+Inf"}')).toBe(valueIn(after, 'hob_commit_seconds_count'));
  // Kinds of lines and names of budgets are words of ours. The petnames and roots of the manifest are not there.
  expect(after).not.toMatch(/project|src|edit|\/|hob1_/);
}, 60_000);

test('a program of this machine reads them at the port that the person named, and can do nothing else there', async () => {
  const port = await freePort();
  const hob = hobHome();
  const host = hob.start('serve', '--manifest', join(hob.folder, 'config/hob.yaml'), '--metrics', String(port));
  await host.shows(/see its requests/);
  const url = `http://127.0.0.1:${port}/metrics`;
  expect(host.err).toContain(`metrics are at ${url}`);
  const good = await ask(url);
  expect([good.status, good.type]).toEqual([200, 'application/openmetrics-text; version=1.0.0; charset=utf-8']);
  expect(faultOf(good.text)).toBeUndefined();
  expect((await ask(url, { method: 'HEAD' })).text).toBe('');
  const refused: readonly (readonly [number, string, object])[] = [
    [403, url, { headers: { host: 'evil.example' } }],
    [403, url, { headers: { host: `evil.example:${port}` } }],
    [403, url, { headers: { origin: 'http://evil.example' } }],
    [404, `http://127.0.0.1:${port}/`, {}],
    [404, `${url}?x`, {}],
    [405, url, { method: 'POST' }],
    [405, url, { method: 'DELETE' }],
  ];
  for (const [status, at, options] of refused) {
    const reply = await ask(at, options);
    expect([reply.status, reply.text], JSON.stringify(options)).toEqual([status, '']);
  }
  // A caller that says nothing holds up no end.
  const silent = get(url, { headers: { expect: '100-continue' }, agent: false }).on('error', () => {});
  host.child.kill('SIGTERM');
  expect(await host.ended).toBe(0);
  silent.destroy();
  expect((await hob.line('serve', '--metrics', '70000')).code).toBe(2);
}, 60_000);

test('however many ask at a time, the host counts once, and again for those who ask later', async () => {
  const { promise: goOn, resolve } = Promise.withResolvers<void>();
  let counted = 0;
  const { url, close } = await openMetricsDoor(0, async () => {
    counted += 1;
    await goOn;
    if (counted > 1) throw new Error('the store is gone');
    return '# EOF\n';
  });
  onTestFinished(close);
  const all = Array.from({ length: 12 }, () => ask(url));
  await expect.poll(() => counted).toBe(1);
  // The others may still be on their way.
  await new Promise((then) => setTimeout(then, 300));
  resolve();
  expect(new Set((await Promise.all(all)).map(({ status, text }) => `${status} ${text}`))).toEqual(
    new Set(['200 # EOF\n']),
  );
  expect(counted).toBe(1);
  expect(await ask(url)).toMatchObject({ status: 503, text: '' });
  expect(counted).toBe(2);
});

test('the lag is that of the standby of the server that is furthest behind; a silent database has none', () => {
  const standby = { name: 'one', state: 'streaming', sync: 'async', unsentBytes: 0, unflushedBytes: 7 };
  const behind = { ...standby, unflushedBytes: 4096, flushMs: 1500 };
  const holder = { leaseMs: 2500, connected: true };
  const replication = { mode: 'asynchronous', standbys: [standby, behind], hidden: 1 } as const;
  const text = openMetrics(
    storeFamilies({ epoch: 3, versions: { tables: 2, serves: 1 }, holder, standbys: [{}], replication }),
  );
  expect(faultOf(text)).toBeUndefined();
  const value = (name: string): number | undefined => valueIn(text, `hob_${name}`);
  expect([value('replication_lag_bytes'), value('replication_lag_seconds'), value('replication_standbys')]).toEqual([4096, 1.5, 3]); // biome-ignore format: one line
  expect([value('lease_remaining_seconds'), value('hosts_waiting'), value('replication_synchronous')]).toEqual([2.5, 1, 0]); // biome-ignore format: one line
  const silent = openMetrics(storeFamilies({ wrong: 'the database server does not answer' }));
  expect([faultOf(silent), valueIn(silent, 'hob_store_up'), silent.includes('lag')]).toEqual([undefined, 0, false]);
});

test('a port that is taken is named, and the host does not start', async () => {
  const server = createServer();
  await new Promise<void>((then) => server.listen(0, '127.0.0.1', then));
  const { port } = server.address() as AddressInfo;
  const hob = hobHome();
  const words = ['--manifest', join(hob.folder, 'config/hob.yaml'), '--metrics', String(port)];
  const { code, err } = await hob.line('serve', ...words);
  server.close();
  expect([code, err]).toEqual([1, expect.stringMatching(/the port of --metrics is taken/)]);
}, 60_000);

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((then) => server.listen(0, '127.0.0.1', then));
  const { port } = server.address() as AddressInfo;
  await new Promise((then) => server.close(then));
  return port;
}
