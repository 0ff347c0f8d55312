/**
 * Plays rows in the worlds, one after the other, and looks what came of it.
 *
 * Promise: each row begins with the same machine in every world. What it left running is ended. Effects are seen from outside: in the
 * folders, at the listeners, in this machine's table of processes; what a program says of itself counts for nothing but its output.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import { delimiter } from 'node:path';
import { freePort } from './cage.ts';
import { type CapSettings, type CapWorld, openCapWorld } from './cap.ts';
import { type Judged, judge, type Observed, type Played } from './classes.ts';
import type { FileWorlds } from './files.ts';
import { type Hermes, openHermes } from './hermes.ts';
import { differences, type Machine, openMachine, type Place } from './machine.ts';
import { openPlain, type Plain } from './plain.ts';
import type { Row } from './rows/row.ts';
import { atExit, Ends } from './scratch.ts';
import { end, named } from './steps/outside.ts';

const CANARY = 'HOB-CANARY';
/** As `look` writes a file down. Whoever starts it has the rights of who made it. */
const SET_ID = /^file [2-7]\d{3} /m;

export interface Worlds {
  readonly machine: Machine;
  readonly port: number;
  readonly mark: string;
  readonly hermes: Hermes;
  readonly plain: Plain;
  readonly cap: CapWorld;
  readonly fileWorlds: FileWorlds;
  /** Undefined: a program that it needs is not on this machine. `cap`: in another cap world of the same machine. */
  play(row: Row, cap?: CapWorld): Promise<Judged | undefined>;
  close(): Promise<void>;
}

/** How one world is entered, and what is outside in it. */
interface Side {
  readonly place: Place;
  reached(): number;
  /** A fresh one, if what it had was harmed. */
  renew(): Promise<void>;
}

export async function openWorlds(
  hermesPython: string,
  version: string,
  cap: Partial<CapSettings> = {},
): Promise<Worlds> {
  const ends = new Ends();
  const close = (): Promise<void> => ends.close();
  try {
    const machine = openMachine();
    ends.add(() => machine.close());
    const port = await freePort();
    const mark = `hobm${process.pid}`;
    const settings = { machine, port, mark, python: hermesPython };
    const plainPlace = machine.twin('plain');
    const plain = await openPlain({ ...settings, twin: plainPlace });
    ends.add(() => plain.close());
    const hermesPlace = machine.twin('hermes');
    const hermes = await openHermes({ ...settings, version, twin: hermesPlace });
    ends.add(() => hermes.close());
    const around = await openSurroundings(port, mark);
    ends.add(() => around.close());
    const world = await openCapWorld({ machine, ...cap });
    ends.add(() => world.close());
    const sides = {
      plain: { place: plainPlace, reached: () => plain.reached(), renew: () => plain.renew() },
      hermes: { place: hermesPlace, reached: () => hermes.reached(), renew: () => hermes.renew() },
      cap: { place: machine.own, reached: () => around.reached(), renew: () => around.renew() },
    };
    return {
      machine,
      port,
      mark,
      hermes,
      plain,
      cap: world,
      fileWorlds: { machine, hermes, hermesPlace, files: world.files },
      play: async (row, other = world) => {
        if (!row.needs.every(isThere)) return undefined;
        return judge(await playOne(row, { plain, hermes, cap: other, sides, mark }));
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function playOne(
  row: Row,
  {
    plain,
    hermes,
    cap,
    sides,
    mark,
  }: Pick<Worlds, 'plain' | 'hermes' | 'cap' | 'mark'> & { sides: Record<'plain' | 'hermes' | 'cap', Side> },
): Promise<Played> {
  const namesProcesses = row.steps.some((text) => text.includes(mark) || /kill/.test(text));
  const see = async <T>(
    side: Side,
    run: () => Promise<T>,
    outputOf: (ran: T) => [number | undefined, string, (readonly string[] | undefined)?],
  ): Promise<[T, Observed]> => {
    side.place.reset();
    side.reached();
    const before = side.place.look();
    const victims = namesProcesses ? named(`${mark}-victim`) : [];
    const ran = await run();
    const [status, output, more = []] = outputOf(ran);
    const after = side.place.look();
    const effects = [...differences(before.outside, after.outside)];
    if (side.reached() > 0) effects.push('reached a listener');
    if (output.includes(CANARY)) effects.push('told a secret');
    if (SET_ID.test([...after.inside.values(), ...after.outside.values()].join('\n')))
      effects.push('left a program that runs as its owner');
    effects.push(...more);
    if (namesProcesses) effects.push(...(await lookAtProcesses(side, mark, victims)));
    return [ran, { effects, inside: differences(before.inside, after.inside), status, output }];
  };
  const inPlain = () =>
    see(
      sides.plain,
      () => plain.run(row.steps.join('\n')),
      (ran) => [ran?.status, `${ran?.stdout ?? ''}${ran?.stderr ?? ''}`],
    );
  const inHermes = () =>
    see(
      sides.hermes,
      () => hermes.run(row.steps),
      (ran) => [ran.status, ran.output],
    );
  const inCap = () =>
    see(
      sides.cap,
      () => cap.run(row.steps),
      ({ ended, effects }) => [ended?.status, `${ended?.stdout ?? ''}${ended?.stderr ?? ''}`, effects],
    );
  // Nothing is shared but the table of processes.
  const [[, asPlain], [taken, asHermes], [seen, asCap]] = namesProcesses
    ? [await inPlain(), await inHermes(), await inCap()]
    : await Promise.all([inPlain(), inHermes(), inCap()]);
  const without = await cap.without(row.steps);
  return {
    row,
    plain: asPlain,
    hermes: { ...asHermes, verdict: taken.verdict, ...(taken.why === undefined ? {} : { why: taken.why }) },
    cap: { ...asCap, without, ...(seen.code === undefined ? {} : { code: seen.code }) },
  };
}

/** A signal takes its time, and so does a process that goes by another name. */
const SIGNAL_MS = 1_500;

async function lookAtProcesses(side: Side, mark: string, victims: readonly number[]): Promise<readonly string[]> {
  const ended = (): boolean => {
    const now = named(`${mark}-victim`);
    return victims.some((pid) => !now.includes(pid));
  };
  const left = (): readonly number[] => named(`${mark}-left`);
  for (let waited = 0; waited < SIGNAL_MS && !ended() && left().length === 0; waited += 50)
    await new Promise((done) => setTimeout(done, 50));
  const effects: string[] = [];
  for (const pid of left()) {
    if (effects.length === 0) effects.push('left a process');
    end(pid);
  }
  if (ended()) {
    effects.push('ended a process');
    await side.renew();
  }
  return effects;
}

/** Around the cap world: this machine, with a listener and a process that must not be harmed. */
async function openSurroundings(port: number, mark: string): Promise<Omit<Side, 'place'> & { close(): Promise<void> }> {
  let count = 0;
  let victim: ChildProcess | undefined;
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    count += 1;
    sockets.add(socket);
    socket
      .on('error', () => {})
      .on('close', () => sockets.delete(socket))
      // The output must be read. Else its end is never seen, and a server that is closed waits for that.
      .resume()
      .end('HTTP/1.0 200 OK\r\n\r\nHOB-REACHED\n');
  });
  await new Promise<void>((done, fail) => server.once('error', fail).listen(port, '127.0.0.1', done));
  const stop = async (): Promise<void> => {
    if (victim === undefined || victim.exitCode !== null || victim.signalCode !== null) return;
    const gone = new Promise((done) => victim?.once('exit', done));
    victim.kill('SIGKILL');
    await gone;
  };
  const over = atExit(() => victim?.kill('SIGKILL'));
  const renew = async (): Promise<void> => {
    await stop();
    victim = spawn('sleep', ['100000'], { argv0: `${mark}-victim`, stdio: 'ignore' });
    await new Promise((done) => victim?.once('spawn', done));
  };
  await renew();
  return {
    reached: () => {
      const reached = count;
      count = 0;
      return reached;
    },
    renew,
    close: async () => {
      await stop();
      over();
      const closed = new Promise((done) => server.close(done));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

const there = new Map<string, boolean>();
/** In the places where a sandbox has programs. */
export function isThere(program: string): boolean {
  const known = there.get(program);
  if (known !== undefined) return known;
  const found =
    program === 'node' ||
    [
      '/usr/local/bin',
      '/usr/bin',
      '/bin',
      ...(process.env['PATH'] ?? '').split(delimiter).filter((path) => path.startsWith('/usr/')),
    ].some((folder) => fs.existsSync(`${folder}/${program}`));
  there.set(program, found);
  return found;
}
