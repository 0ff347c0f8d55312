/**
 * Frames of real agents, recorded behind `hob acp` with a scripted model (the releases of the README): more than
 * 300 of each. They are played again, and the editor gets each of them.
 */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Readable, Writable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { pipes, world } from '../test/world.ts';
import type { Pipe } from './peer.ts';

interface Frame {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly update: Readonly<Record<string, unknown>> };
  readonly result?: { readonly sessionId?: string };
}

const framesOf = (name: string): readonly Frame[] =>
  gunzipSync(readFileSync(new URL(`../test/frames/${name}.jsonl.gz`, import.meta.url)))
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

/** Each message of the wrapper is answered with the next recorded frames, up to an answer. */
function player(frames: readonly Frame[]): Pipe {
  const [ours, theirs] = pipes();
  // The wrapper hangs up at the end.
  const out = Writable.fromWeb(theirs.output as never).on('error', () => {});
  const input = Readable.fromWeb(theirs.input as never).on('error', () => {});
  const rest = [...frames];
  createInterface({ input })
    .on('error', () => {})
    .on('line', (line) => {
      const { id } = JSON.parse(line) as Frame;
      while (id !== undefined && rest.length > 0) {
        const frame = rest.shift() as Frame;
        const isAnswer = frame.method === undefined;
        out.write(`${JSON.stringify(isAnswer ? { ...frame, id } : frame)}\n`);
        if (isAnswer) break;
      }
    });
  return ours;
}

test.for(['opencode', 'gemini', 'claude', 'codex', 'hermes'])(
  'the frames of %s reach the editor, each once and in order',
  async (name) => {
    const frames = framesOf(name);
    expect(frames.length).toBeGreaterThan(300);
    const at = await world({ pipe: () => player(frames) });
    const { sessionId } = await at.editor.agent.request('session/new', { cwd: at.path(''), mcpServers: [] });
    const answers = frames.filter(({ method }) => method === undefined).length;
    // After those of initialize and session/new.
    for (let n = 2; n < answers; n += 1)
      await at.editor.agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'go' }] });
    const updates = frames
      .filter(({ method }) => method === 'session/update')
      .map(({ params }) => params?.update ?? {});
    await at.until(() => at.editor.updates.length >= updates.length);
    const shown = at.editor.updates.map(({ update }) => update as Readonly<Record<string, unknown>>);
    const facts = (update: Readonly<Record<string, unknown>>): unknown => [
      update['sessionUpdate'],
      update['toolCallId'],
      update['status'],
    ];
    expect(shown.map(facts)).toEqual(updates.map(facts));
    const texts = (all: readonly Readonly<Record<string, unknown>>[]): unknown =>
      all.filter(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk').map(({ content }) => content);
    expect(texts(shown)).toEqual(texts(updates));
    // Calls of Hob's verbs have a kind and a place.
    const kinds = new Set(
      shown
        .filter(({ locations }) => JSON.stringify(locations)?.includes(at.path('src/a.txt')))
        .map(({ kind }) => kind),
    );
    expect([...kinds].sort()).toEqual(['edit', 'read']);
    const read = shown.find(({ locations, title }) => title === 'read a.txt in src' && Array.isArray(locations));
    expect(read).toBeDefined();
    expect(at.editor.others).toEqual([]);
  },
);
