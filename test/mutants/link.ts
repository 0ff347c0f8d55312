/** The mechanisms of the link between machines, each with the source text that leaves it out: see `mutant.ts`. */
import type { Mutant } from './mutant.ts';

const tests = ['packages/cluster/src/link/link.test.ts'];

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'link-print',
    breaks: 'a certificate that a machine has signed passes for that machine',
    file: 'packages/cluster/src/link/drivers/link.ts',
    find: 'return shown ? this.#pins.nameOf((socket as TLSSocket).getPeerX509Certificate()) : undefined;',
    replace: "return shown ? 'b' : undefined;",
    tests,
  },
  {
    name: 'link-dial-print',
    breaks: 'one machine passes for another when it is dialled',
    file: 'packages/cluster/src/link/drivers/dial.ts',
    find: 'pins.nameOf((socket as TLSSocket).getPeerX509Certificate()) !== peer.name',
    replace: 'pins.nameOf((socket as TLSSocket).getPeerX509Certificate()) === peer.address',
    tests,
  },
  {
    name: 'link-resumed',
    breaks: 'a stranger without a certificate resumes a TLS session',
    file: 'packages/cluster/src/link/drivers/link.ts',
    find: 'authorized && !(socket as TLSSocket).isSessionReused()',
    replace: 'authorized',
    tests,
  },
  {
    name: 'link-unpin',
    breaks: 'a machine whose pin was removed keeps its streams',
    file: 'packages/cluster/src/link/drivers/link.ts',
    find: 'if (name !== undefined && now.pemOf(name) !== before.pemOf(name)) socket.destroy();',
    replace: 'if (now === before) socket.destroy();',
    tests,
  },
  {
    name: 'link-handshake',
    breaks: 'a stranger who never finishes the handshake keeps its socket',
    file: 'packages/cluster/src/link/drivers/link.ts',
    find: '(_error, socket) => socket.destroy()',
    replace: '() => {}',
    tests,
  },
  {
    name: 'link-strangers',
    breaks: 'strangers in a handshake take every descriptor of the process',
    file: 'packages/cluster/src/link/drivers/link.ts',
    find: '    if (this.#strangers.size > maxStrangers) oldest?.destroy();\n',
    replace: '',
    tests,
  },
  {
    name: 'link-greeting',
    breaks: 'a web page reaches the hosts behind the link of its machine, whose door checks no origin there',
    file: 'packages/cluster/src/link/drivers/greeting.ts',
    find: 'over(said.equals(GREETING))',
    replace: 'over(said.length > 0)',
    tests,
  },
  {
    name: 'link-plain',
    breaks: 'a link without keys is open to the network',
    file: 'packages/cluster/src/link/drivers/link.ts',
    find: 'if (key === undefined && !isLoopback(at.host))',
    replace: "if (key === undefined && at.host === '')",
    tests,
  },
  {
    name: 'link-turns',
    breaks: 'callers that enter at once close each other’s handshakes',
    file: 'packages/cluster/src/link/dial-turns.ts',
    find: 'if (turns.underWay >= mostAtOnce)',
    replace: 'if (turns.underWay < 0)',
    tests: ['packages/cluster/src/link/dial-turns.test.ts'],
  },
  {
    name: 'link-opening',
    breaks: 'clients throw their secrets away while their tenant is handed over',
    file: 'packages/cluster/src/link/routes.ts',
    find: 'if (place === undefined) return undefined;',
    replace: "if (place === undefined || place === 'here') return undefined;",
    tests,
  },
];
