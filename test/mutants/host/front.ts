/** The mechanisms of the front door, each with the source text that leaves it out: see `../mutant.ts`. */
import type { Mutant } from '../mutant.ts';

const relays = ['packages/host/src/door/drivers/relay.test.ts'];

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'front-path',
    breaks: 'one host has two paths, and a proxy that cuts slashes leads to another host than the door',
    file: 'packages/host/src/door/front-door.ts',
    find: 'const named = /^\\/(',
    replace: 'const named = /^\\/+(',
    tests: ['packages/host/src/door/front-door.test.ts'],
  },
  {
    name: 'front-path-end',
    breaks: 'a path that goes on after the name leads to a host of another name',
    file: 'packages/host/src/door/front-door.ts',
    find: '((?:[/?].*)?)$/s',
    replace: '(.*)$/s',
    tests: ['packages/host/src/door/front-door.test.ts'],
  },
  {
    name: 'front-origin',
    breaks: 'a web page enters the hosts of other machines by this door',
    file: 'packages/host/src/door/drivers/front.ts',
    find: '    if (misplaced !== undefined) return refuse(stream, 403, misplaced);\n',
    replace: '',
    tests: relays,
  },
  {
    name: 'front-loop',
    breaks: 'two machines that each believe a host to be at the other relay a request for ever',
    file: 'packages/host/src/door/drivers/front.ts',
    find: 'names === undefined ? undefined : this.#elsewhere(path.name)',
    replace: 'this.#elsewhere(path.name)',
    tests: relays,
  },
  {
    name: 'front-end',
    breaks: 'a request of a host that has left the front door goes on',
    file: 'packages/host/src/door/drivers/host-requests.ts',
    find: '    for (const stream of this.#streams) stream.destroy();\n',
    replace: '',
    tests: ['packages/host/src/door/drivers/front.test.ts'],
  },
  {
    name: 'front-one-relay',
    breaks: 'a stranger opens any number of connections to other machines with one socket',
    file: 'packages/host/src/door/drivers/relay-places.ts',
    find: 'if (this.#sockets.has(socket)) {',
    replace: 'if (this.#most < 0) {',
    tests: ['packages/host/src/door/drivers/relay-places.test.ts', ...relays],
  },
  {
    name: 'front-most-relays',
    breaks: 'a front door relays until the process has no descriptors',
    file: 'packages/host/src/door/drivers/relay-places.ts',
    find: '    if (this.#sockets.size >= this.#most) return false;\n',
    replace: '',
    tests: ['packages/host/src/door/drivers/relay-places.test.ts'],
  },
  {
    name: 'front-known-session',
    breaks: 'strangers close the sessions that are relayed',
    file: 'packages/host/src/door/drivers/relay.ts',
    find: '    relay.known();\n    (caller',
    replace: '    (caller',
    tests: relays,
  },
  {
    name: 'front-known-request',
    breaks: 'strangers close the requests over HTTP that are relayed',
    file: 'packages/host/src/door/drivers/listener.ts',
    find: '        if (taken) response?.writeProcessing();\n',
    replace: '',
    tests: relays,
  },
  {
    name: 'front-relay-end',
    breaks: 'a caller hears nothing of the end of the machine that served it',
    file: 'packages/host/src/door/drivers/relay.ts',
    find: "    from.once('close', () => endSoon(to));\n",
    replace: '',
    tests: relays,
  },
];
