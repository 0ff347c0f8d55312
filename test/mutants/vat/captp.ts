/** The mechanisms of `packages/vat/src/captp`, its sessions and dialects apart, each with the source text that leaves it out: see `../mutant.ts`. */
import type { Mutant } from '../mutant.ts';

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'fence-websocket',
    breaks: 'an error in a listener of a WebSocket ends the process',
    file: 'packages/vat/src/captp/transport/websocket.ts',
    find: 'this.#inbox.guard(then as (...args: unknown[]) => void));',
    replace: 'then as (...args: unknown[]) => void);',
    tests: ['packages/vat/src/captp/transport/websocket.test.ts'],
  },
  {
    name: 'slowed-socket',
    breaks: 'a peer that is refused over and over takes the time of others',
    file: 'packages/vat/src/captp/transport/websocket.ts',
    find: '    this.#socket.pause();\n',
    replace: '',
    tests: ['packages/vat/src/captp/transport/websocket.test.ts'],
  },
  {
    name: 'slowed-ever',
    breaks: 'a peer that was refused much is not read for minutes',
    file: 'packages/vat/src/captp/transport/websocket.ts',
    find: 'Math.min(this.#owedMs + ms, mostOwedMs)',
    replace: 'this.#owedMs + ms',
    tests: ['packages/vat/src/captp/transport/websocket.test.ts'],
  },
  {
    name: 'slowed-dialled',
    breaks: 'one session that is refused slows what all sessions of its host call at a peer',
    file: 'packages/vat/src/captp/transport/websocket.ts',
    find: 'this.#socket.url !== undefined || this.#inbox.ended',
    replace: 'this.#inbox.ended',
    tests: ['packages/vat/src/captp/transport/websocket.test.ts'],
  },
  {
    name: 'fence-browser',
    breaks: 'an error in a listener of a browser’s WebSocket ends the page, or the process',
    file: 'packages/vat/src/captp/transport/browser-socket.ts',
    find: "inbox.guard(({ data }) => inbox.frame(typeof data === 'string' ? data : new Uint8Array(data as ArrayBuffer))),",
    replace: "({ data }) => inbox.frame(typeof data === 'string' ? data : new Uint8Array(data as ArrayBuffer)),",
    tests: ['packages/vat/src/captp/transport/websocket.test.ts'],
  },
  {
    name: 'fence-child',
    breaks: 'an error at a message of a child process ends this one',
    file: 'packages/vat/src/captp/transport/child.ts',
    find: `channel.on('message', inbox.guard(onMessage));`,
    replace: `channel.on('message', onMessage);`,
    tests: ['packages/vat/src/captp/transport/child.test.ts'],
  },
  {
    name: 'fence-pipe',
    breaks: 'an error in a listener of a channel ends the process',
    file: 'packages/vat/src/captp/transport/pipe.ts',
    find: `      this.disconnect();
      this.emit('fault', error);`,
    replace: '      throw error;',
    tests: ['packages/vat/src/captp/transport/pipe.test.ts'],
  },
  {
    name: 'pipe-junk',
    breaks: 'a line that is no JSON ends the process that reads it',
    file: 'packages/vat/src/captp/transport/pipe.ts',
    find: `    } catch {
      return this.#violated();`,
    replace: `    } catch (error) {
      throw error;`,
    tests: ['packages/vat/src/captp/transport/pipe.test.ts'],
  },
  {
    name: 'pipe-endless',
    breaks: 'a line without an end is kept for ever',
    file: 'packages/vat/src/captp/transport/pipe.ts',
    find: '    if (this.#length > longestLine) return this.#violated();',
    replace: '',
    tests: ['packages/vat/src/captp/transport/pipe.test.ts'],
  },
  {
    name: 'captp-using',
    breaks: 'the end of an `await using` scope leaves its connection open',
    file: 'packages/vat/src/captp/open-session.ts',
    find: `      close();
      await over.promise;`,
    replace: '',
    tests: ['packages/host/src/using.test.ts'],
  },
  {
    name: 'captp-loss',
    breaks: 'a connection on which nothing waited goes on after a commit that failed',
    file: 'packages/vat/src/captp/open-session.ts',
    find: 'const stop = onLossOf(vat ?? vatOf(bootstrap), () => session.lost());',
    replace: 'const stop = (): void => {};',
    tests: ['packages/vat/src/captp/commit.test.ts'],
  },
  {
    name: 'browser-early-frames',
    breaks: 'what a page sends while its socket still connects is lost',
    file: 'packages/vat/src/captp/transport/browser-socket.ts',
    find: 'if (socket.readyState === connecting) early.push(own);',
    replace: 'if (socket.readyState === connecting) return;',
    tests: ['packages/vat/src/captp/transport/websocket.test.ts'],
  },
  {
    name: 'captp-note',
    breaks: 'an error whose text does not leave is noted nowhere',
    file: 'packages/vat/src/captp/open-session.ts',
    find: '    note(Object.freeze({ id, error }));',
    replace: '',
    tests: ['packages/vat/src/captp/faults.test.ts'],
  },
  {
    name: 'captp-mask',
    breaks: 'what goes to another machine is not masked',
    file: 'packages/vat/src/captp/transport/websocket.ts',
    find: 'return isHere ? { generateMask: (mask) => void mask.fill(0) } : {};',
    replace: 'return { generateMask: (mask) => void mask.fill(0) };',
    tests: ['packages/vat/src/captp/transport/websocket.test.ts'],
  },
  {
    name: 'captp-gather',
    breaks: 'bytes and the frame that names them wake the peer twice',
    file: 'packages/vat/src/captp/transport/websocket.ts',
    find: 'if (this.#gathers || stream === undefined) return;',
    replace: 'return;',
    tests: ['packages/vat/src/captp/transport/websocket.test.ts'],
  },
  {
    name: 'captp-ping',
    breaks: 'a peer that is gone without a word is waited for',
    file: 'packages/vat/src/captp/transport/websocket.ts',
    find: `    if (this.#silent >= unanswered) {
      this.#said ??= { code: closeCodes.halfOpen, reason: 'the peer does not answer: it, or the way to it, is gone' };
      return this.#socket.terminate();
    }`,
    replace: '',
    tests: ['packages/vat/src/captp/transport/websocket.test.ts'],
  },
  {
    name: 'connect-again',
    breaks: 'a client gives up at the first 503',
    file: 'packages/vat/src/captp/transport/websocket.ts',
    find: "const mayPass = code === 'unavailable' ||",
    replace: 'const mayPass =',
    tests: ['packages/vat/src/captp/connect.test.ts'],
  },
];
