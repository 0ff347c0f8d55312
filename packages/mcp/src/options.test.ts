/** An option that nobody reads is refused, and the one that was meant is named. */
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { expectRefused } from '../../../test/misspelt.ts';
import { world } from '../test/world.ts';
import { mcpOverHttp } from './http/index.ts';
import { openFace } from './index.ts';
import { makeTools, openServer } from './servers/index.ts';
import { serveStdio } from './stdio.ts';

test('an option of another name is refused everywhere, and the one that was meant is named', async () => {
  const { face, host } = await world();
  const open = await face();
  const stream = new PassThrough();
  const stdio = { url: 'ws://127.0.0.1:1', secret: { file: '/none' }, version: '1', input: stream, output: stream };
  await expectRefused({
    openFace: [() => openFace({} as never, { waitM: 1 } as never), 'waitM', 'waitMs'],
    mcpOverHttp: [() => mcpOverHttp({ version: '1', idle: 1 } as never), 'idle', 'idleMs'],
    serveStdio: [() => serveStdio({ ...stdio, secre: 1 } as never), 'secre', 'secret'],
    openServer: [() => openServer({ name: 'a', progra: '/bin/true' } as never), 'progra', 'program'],
    makeTools: [() => makeTools(host, {} as never, { key: 'a', tool: [] } as never), 'tool', 'tools'],
  });
  // A call never rejects.
  const answer = await open.call('caps', {}, { signa: 1 } as never);
  expect(JSON.stringify(answer)).toContain('did you mean \\"signal\\"');
  await open.close();
});
