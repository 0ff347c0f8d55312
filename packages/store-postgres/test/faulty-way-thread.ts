/** The thread of `faulty-way.ts`: passes on the messages of both sides, and makes the chosen statement fail. */
import { rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { type Control, ERRORS, NAME, WORDS } from './faulty-way.ts';

const { here, there, shared } = workerData as Control & { readonly shared: SharedArrayBuffer };
const words = new Int32Array(shared, 0, NAME / 4);
const name = new Uint8Array(shared, NAME);

/** Statements that need disk space. `DROP TABLE` is not among them: with it the store gives space back. */
const WRITES = /\b(?:INSERT|UPDATE|DELETE|CREATE)\b/;

/** Returns the fault that this statement gets. */
function faultOf(text: string): (typeof ERRORS)[number] | undefined {
  if (Atomics.load(words, WORDS.armed) === 0) return undefined;
  const call = Atomics.add(words, WORDS.calls, 1) + 1;
  const at = words[WORDS.at] as number;
  if (at === 0 || !(call === at || (words[WORDS.on] === 1 && call > at))) return undefined;
  const error = ERRORS[words[WORDS.error] as number];
  if (error === 'disk full' && !WRITES.test(text)) return undefined;
  if (Atomics.add(words, WORDS.failed, 1) === 0)
    name.set(Buffer.from(text.trim().split(/\s+/).slice(0, 3).join(' ')).subarray(0, name.length));
  return error;
}

/** Cuts a stream into messages. The first one of a client has no type. */
function messages(take: (type: string, bytes: Buffer) => void, isClient: boolean): (bytes: Buffer) => void {
  let rest = Buffer.alloc(0);
  let isFirst = isClient;
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    for (;;) {
      const head = isFirst ? 0 : 1;
      if (rest.length < head + 4) return;
      const length = head + rest.readUInt32BE(head);
      if (rest.length < length) return;
      const type = isFirst ? 'start' : String.fromCharCode(rest[0] as number);
      isFirst = false;
      const message = rest.subarray(0, length);
      rest = rest.subarray(length);
      take(type, message);
    }
  };
}

/** Returns the message of a statement that is sent in place of another one. */
function query(text: string): Buffer {
  const body = Buffer.from(`${text}\0`);
  const head = Buffer.alloc(5, 'Q');
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}
const raise = (state: string): Buffer => query(`DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '${state}'; END $$`);

/** The texts within a message, each with a zero at its end. */
const textsIn = (message: Buffer): string[] => message.subarray(5).toString('latin1').split('\0');

function pass(near: Socket): void {
  const far = connect(there);
  const ends = (): void => {
    near.destroy();
    far.destroy();
  };
  for (const each of [near, far]) {
    each.on('error', () => {});
    each.on('close', ends);
  }
  let isLost = false;
  let group: Buffer[] = [];
  let text = '';
  const statements = new Map<string, string>();
  const send = (): void => {
    far.write(Buffer.concat(group));
    group = [];
  };
  /** The group ends a statement. */
  const ask = (): void => {
    const fault = faultOf(text);
    if (fault === 'connection cut') return ends();
    if (fault === 'answer lost') isLost = true;
    if (fault === 'disk full') group = [raise('53100')];
    if (fault === 'I/O error') group = [raise('58030')];
    if (fault === 'session ended') group = [query('SELECT pg_terminate_backend(pg_backend_pid())')];
    send();
  };
  const fromClient = messages((type, message) => {
    group.push(message);
    const [first = '', second = ''] = textsIn(message);
    if (type === 'P') statements.set(first, second);
    if (type === 'P') text = second;
    if (type === 'B') text = statements.get(second) ?? '';
    if (type === 'Q') text = first;
    if (type === 'Q' || type === 'S') return ask();
    // The others of a statement wait for its end, but for those whose answer is waited for.
    if (!/^[PBDEC]$/.test(type)) send();
  }, true);
  const fromServer = messages((type) => {
    if (isLost && type === 'Z') ends();
  }, false);
  near.on('data', fromClient);
  far.on('data', (bytes) => {
    if (!isLost) near.write(bytes);
    fromServer(bytes);
  });
}

rmSync(here, { force: true });
createServer(pass).listen(here, () => parentPort?.postMessage('open'));
