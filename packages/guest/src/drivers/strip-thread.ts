/**
 * Strips the types from a source in a new thread, which ends afterwards.
 *
 * Promise: whatever the source is, this process goes on and can still load TypeScript itself. A source that
 * is nested too deeply breaks Node's stripper for good, but each thread has its own stripper.
 */
import { Worker } from 'node:worker_threads';
import { CapError } from '@hob/vat';
import type { SourceKind } from '../source/parse.ts';
import { lengthBefore, refusalOf, type StripperError, unwrapped, wrapped } from './strip-types.ts';

/** Text instead of a file: it imports nothing of ours, and so starts sooner. */
const PROGRAM = `
const { parentPort, workerData } = require('node:worker_threads');
const { stripTypeScriptTypes } = require('node:module');
try {
  parentPort.postMessage({ text: stripTypeScriptTypes(workerData, { mode: 'strip' }) });
} catch ({ code, message, stack }) {
  parentPort.postMessage({ said: { code, message, stack: String(stack) } });
}`;

interface ThreadReply {
  readonly text?: string;
  readonly said?: StripperError;
}

export async function stripTypesElsewhere(source: string, kind: SourceKind): Promise<string> {
  const { text, said } = await replyOf(wrapped(source, kind));
  if (text !== undefined) return unwrapped(text, kind);
  throw refusalOf(said ?? {}, source, lengthBefore(kind));
}

function replyOf(source: string): Promise<ThreadReply> {
  return new Promise((resolve, reject) => {
    let answer: ThreadReply | undefined;
    const thread = new Worker(PROGRAM, {
      eval: true,
      workerData: source,
      env: {},
      // Not the options of this process: they may load modules that a thread with a stranger's source must
      // not have.
      execArgv: ['--no-warnings'],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    });
    // Node may end the thread at its limits. Then there is an error or an exit without a message.
    thread.on('message', (said: ThreadReply) => {
      answer = said;
    });
    thread.on('error', () => {
      answer ??= { said: { code: 'ERR_INTERNAL_ASSERTION' } };
    });
    thread.on('exit', () => {
      if (answer === undefined) reject(new CapError('unavailable', 'the types could not be removed: try again'));
      else resolve(answer);
    });
  });
}
