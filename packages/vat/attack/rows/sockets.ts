/**
 * Attacks by a socket: not reading it, being slow, pings, pieces, frames that are none, very many
 * of them.
 */
import { connect as connectTcp, type Socket } from 'node:net';
import type { Scene } from '../attack.ts';
import { type Attack, numbers } from '../attack.ts';

/** A TCP connection that has asked to become a WebSocket, and what came of it. */
async function handshake({ port, dialect }: Scene, more: string = ''): Promise<Socket> {
  const socket = connectTcp(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(
    `GET / HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: ${'A'.repeat(22)}==\r\nsec-websocket-protocol: ${dialect}\r\n${more}\r\n`,
  );
  await new Promise((ready) => socket.once('data', ready));
  return socket;
}

/** A frame of a client: masked with zeros. */
function frame(opcode: number, payload: Uint8Array | string, final: boolean = true): Buffer {
  const body = Buffer.from(payload as string);
  const head =
    body.length < 126
      ? [body.length | 0x80]
      : body.length < 65_536
        ? [126 | 0x80, body.length >> 8, body.length & 255]
        : [
            127 | 0x80,
            0,
            0,
            0,
            0,
            body.length >>> 24,
            (body.length >> 16) & 255,
            (body.length >> 8) & 255,
            body.length & 255,
          ];
  return Buffer.concat([Buffer.from([(final ? 0x80 : 0) | opcode, ...head, 0, 0, 0, 0]), body]);
}

/** The code that the host's close frame gives, or that it went without one. */
function ending(socket: Socket): Promise<string> {
  let last = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    last = Buffer.concat([last, chunk]).subarray(-4096);
  });
  return new Promise((resolve) => {
    socket.once('close', () => {
      // It is the last frame, and its reason is shorter than 126.
      for (let at = last.length - 4; at >= 0; at -= 1)
        if (last[at] === 0x88 && at + 2 + (last[at + 1] as number) === last.length) {
          resolve(`closed ${last.readUInt16BE(at + 2)} ${last.subarray(at + 4).toString('utf8')}`);
          return;
        }
      resolve('closed without a word');
    });
  });
}

const sent = (socket: Socket, bytes: Buffer): Promise<void> =>
  new Promise((done) => {
    if (socket.writable) socket.write(bytes, () => done());
    else done();
  });

export const sockets: readonly Attack[] = [
  {
    name: 'a socket that is not read',
    socket: true,
    limits: { bufferedBytes: 1 << 20, frameBytes: 1 << 20, memoryBytes: 8 << 20 },
    expected: ['closed *'],
    act: async (_peer, scene) => {
      const { duplex, socket } = await scene.knock();
      socket.pause();
      const over = new Promise<string>((resolve) =>
        duplex.onClose(({ code, reason }) => resolve(`closed ${code} ${reason}`)),
      );
      const letters = scene.size(200_000, 900_000);
      let closed = false;
      void over.then(() => {
        closed = true;
      });
      if (scene.dialect === 'captp') duplex.send('{"type":"CTP_BOOTSTRAP","epoch":0,"questionID":"q-1"}');
      for (let id = 2; id < scene.size(60, 400) && !closed; id += 1) {
        duplex.send(
          scene.dialect === 'hob.1'
            ? `[["deliver",0,"fresh",[${letters}],${id}]]`
            : `{"type":"CTP_CALL","epoch":0,"questionID":"q-${id}","target":"o-1","method":{"body":"[\\"fresh\\",[${letters}]]","slots":[]}}`,
        );
        await scene.pause(2);
      }
      await scene.weigh();
      // The close stands behind what is not read.
      socket.resume();
      duplex.onFrame(() => {});
      const outcome = await over;
      return outcome;
    },
  },
  {
    name: 'pings, whose answers are not read',
    socket: true,
    expected: ['closed *'],
    act: async (_peer, scene) => {
      const socket = await handshake(scene);
      const over = ending(socket);
      socket.pause();
      const pings = Buffer.concat(numbers(1000).map(() => frame(9, 'x'.repeat(125))));
      let closed = false;
      void over.then(() => {
        closed = true;
      });
      for (let i = 0; i < 2000 && !closed && !socket.destroyed; i += 1) {
        await Promise.race([sent(socket, pings), scene.pause(200)]);
        if (socket.writableLength > 32 << 20) break;
      }
      await scene.weigh();
      socket.resume();
      return over;
    },
  },
  {
    name: 'a frame that comes a byte at a time, and never wholly',
    socket: true,
    expected: ['answered ok'],
    act: async (peer, scene) => {
      const socket = await handshake(scene);
      const whole = frame(1, '[["deliver",0,"echo",[1],1]]');
      for (const byte of whole.subarray(0, -1)) {
        await sent(socket, Buffer.from([byte]));
        await scene.pause(1);
      }
      const others = await peer.alive();
      socket.destroy();
      return others;
    },
  },
  {
    name: 'a frame larger than allowed',
    socket: true,
    expected: ['closed 1009 *'],
    act: async (_peer, scene) => {
      const { duplex, socket } = await scene.knock();
      const over = new Promise<string>((resolve) =>
        duplex.onClose(({ code, reason }) => resolve(`closed ${code} ${reason}`)),
      );
      socket.send('x'.repeat((1 << 20) + 1));
      return over;
    },
  },
  {
    name: 'a frame that says it is larger than any memory',
    socket: true,
    expected: ['closed 1009 *'],
    act: async (_peer, scene) => {
      const socket = await handshake(scene);
      const over = ending(socket);
      socket.write(Buffer.from([0x81, 0xff, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]));
      const outcome = await over;
      socket.destroy();
      return outcome;
    },
  },
  {
    name: 'a frame in very many pieces',
    socket: true,
    expected: ['closed 1008 *'],
    act: async (_peer, scene) => {
      const socket = await handshake(scene);
      const over = ending(socket);
      socket.write(frame(1, '[', false));
      const pieces = Buffer.concat(numbers(1000).map(() => frame(0, ' ', false)));
      for (let i = 0; i < 30 && !socket.destroyed; i += 1) await sent(socket, pieces);
      const outcome = await over;
      socket.destroy();
      return outcome;
    },
  },
  {
    name: 'frames that break RFC 6455',
    socket: true,
    expected: ['closed 1002 *', 'closed 1007 *', 'closed 1003 *'],
    act: async (_peer, scene) => {
      const all: string[] = [];
      for (const bytes of [
        Buffer.from([0x81, 0x02, 0x5b, 0x5d]), // not masked
        frame(3, 'x'), // an opcode that is none
        frame(0, 'x'), // a continuation of nothing
        Buffer.from([0xf1, 0x80, 0, 0, 0, 0]), // reserved bits
        frame(1, new Uint8Array([0x5b, 0xff, 0xfe, 0x5d])), // no UTF-8
        frame(9, 'x'.repeat(10), false), // a ping in pieces
        frame(8, new Uint8Array([0])), // half a close code
        frame(8, new Uint8Array([0, 1])), // a close code that is none
        frame(8, new Uint8Array([0x03, 0xe8, 0xff])), // a reason that is no UTF-8
      ]) {
        const socket = await handshake(scene);
        const over = ending(socket);
        socket.write(bytes);
        all.push(await over);
        socket.destroy();
      }
      return all;
    },
  },
  {
    name: 'a frame that is compressed, though that was not agreed on',
    socket: true,
    expected: ['closed 1002 *'],
    act: async (_peer, scene) => {
      const socket = await handshake(scene, 'sec-websocket-extensions: permessage-deflate\r\n');
      const over = ending(socket);
      const compressed = frame(1, 'xx');
      compressed[0] = 0xc1;
      socket.write(compressed);
      const outcome = await over;
      socket.destroy();
      return outcome;
    },
  },
  {
    name: '2,000 connections, each with a call',
    socket: true,
    expected: ['answered ok'],
    act: async (peer, scene) => {
      const all: string[] = [];
      const count = scene.size(50, 2000);
      for (let from = 0; from < count; from += 100) {
        const crowd = await Promise.all(numbers(Math.min(100, count - from)).map(() => scene.enter()));
        all.push(...(await Promise.all(crowd.map((each) => each.alive()))));
      }
      await scene.weigh();
      return [...new Set(all), await peer.alive()];
    },
  },
  {
    name: 'connections that vanish as soon as they are open',
    socket: true,
    expected: ['answered ok'],
    act: async (peer, scene) => {
      for (let i = 0; i < scene.size(20, 500); i += 1) {
        const { socket } = await scene.knock();
        socket.terminate();
      }
      return peer.alive();
    },
  },
];
