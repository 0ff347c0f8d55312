/**
 * The files that may touch the world: the driver files of Hob, each with the powers it uses and why it has to.
 *
 * A power is a module outside the harmless ones, or a global that reaches the clock, chance, the network, the process,
 * the console or code. Nothing else under `packages/` may use one (tests may). Driver files lie in a
 * folder `drivers`, in the transports of CapTP, among the programs of `host`, and in `main.ts` of `cli`. The list has to be exact: a file that is gone, a power no longer used and a
 * power not listed each fail `powers.test.ts`, so the list is what a reviewer reads to see where authority enters.
 */
import { blank, importsComputed, importsOf } from './sources.ts';

export interface Driver {
  powers: readonly string[];
  why: string;
}

export const DRIVERS: Readonly<Record<string, Driver>> = {
  'packages/store-postgres/src/drivers/connection.ts': {
    powers: ['node:net', 'postgres', 'setTimeout'],
    why: 'speaks to the database server, and gives up when it does not answer',
  },
  'packages/store-postgres/src/drivers/random.ts': { powers: ['node:crypto'], why: 'fills the reserve with bytes that do not compress' }, // biome-ignore format: one line
  'packages/store-postgres/src/drivers/client-thread.ts': {
    powers: ['process'],
    why: 'a thread that speaks to the server forgets the variables of its client, and outlives the errors of its client',
  },
  'packages/store-postgres/src/drivers/store-thread.ts': {
    powers: ['setInterval', 'setTimeout'],
    why: 'the thread that speaks to the server: renews the lease, and waits before it tries again',
  },
  'packages/store-postgres/src/drivers/thread-place.ts': {
    powers: ['import.meta'],
    why: 'where the module of that thread lies',
  },
  'packages/cluster/src/drivers/member-thread.ts': {
    powers: ['performance', 'setTimeout'],
    why: 'the thread of a cluster, which says that its host lives, and looks at the rows',
  },
  'packages/cluster/src/link/drivers/dial.ts': {
    powers: ['node:net', 'node:tls', 'setTimeout'],
    why: 'opens streams to the other machines, and gives up when one does not answer',
  },
  'packages/cluster/src/link/drivers/greeting.ts': {
    powers: ['setTimeout'],
    why: 'the time in which the other side of a link says its first bytes',
  },
  'packages/cluster/src/link/drivers/link.ts': {
    powers: ['node:net', 'node:tls'],
    why: 'listens for the other machines of the cluster',
  },
  'packages/cluster/src/link/drivers/pins.ts': { powers: ['node:crypto'], why: 'reads the certificates of the other machines' }, // biome-ignore format: one line
  'packages/cluster/src/drivers/thread-place.ts': {
    powers: ['import.meta'],
    why: 'where the module of that thread lies',
  },
  'packages/firewall/src/judge/drivers/http-model.ts': {
    powers: ['fetch'],
    why: 'asks the model that judges, at the address that the program names',
  },
  'packages/firewall/src/judge/drivers/powers.ts': {
    powers: ['node:crypto', 'setTimeout'],
    why: 'the time limit of a model, and marks around words of the agent that nobody guesses',
  },
  'packages/acp/src/drivers/sdk.ts': {
    powers: ['@agentclientprotocol/sdk', 'setImmediate'],
    why: 'speaks ACP over the streams that it is given',
  },
  'packages/chat/src/drivers/signed.ts': {
    powers: ['AbortSignal.timeout', 'fetch', 'node:crypto'],
    why: 'signs messages of a chat, checks them, and posts them',
  },
  'packages/chat/src/drivers/telegram.ts': {
    powers: ['grammy', 'setTimeout'],
    why: 'sends to one person by a bot, and hears what that person presses',
  },
  'packages/a2a/src/drivers/sign.ts': { powers: ['@a2a-js/sdk', 'jose', 'node:crypto'], why: 'signs an agent card' },
  'packages/a2a/src/drivers/token.ts': {
    powers: ['Date', 'jose', 'node:crypto'],
    why: 'signs and checks the tokens of peers',
  },
  'packages/a2a/src/door/drivers/sdk.ts': {
    powers: ['@a2a-js/sdk/errors', '@a2a-js/sdk/server', 'Date'],
    why: 'the methods of A2A over JSON-RPC, and times as text',
  },
  'packages/a2a/src/drivers/skill-files.ts': { powers: ['node:fs'], why: 'reads the skills of an agent card' },
  'packages/cli/src/drivers/card.ts': {
    powers: ['node:os', 'process'],
    why: 'the name of an agent from the environment and of the machine',
  },
  'packages/console/src/drivers/pages.ts': {
    powers: ['import.meta', 'node:fs'],
    why: 'reads the page that was built into the package',
  },
  'packages/console/src/page/drivers/passkey.ts': {
    powers: ['@simplewebauthn/browser', 'crypto'],
    why: 'the browser makes passkeys and signs with them',
  },
  'packages/console/src/page/drivers/browser.ts': {
    powers: ['Date', 'crypto', 'performance', 'setInterval', 'setTimeout'],
    why: "the browser's clock, hashes and files, and the time that a person typed, for the page of the console",
  },
  'packages/console/src/page/drivers/connection.ts': {
    powers: ['WebSocket'],
    why: 'the one connection of the page, to the host that served it',
  },
  'packages/cli/src/daemon/drivers/open-page.ts': {
    powers: ['node:child_process', 'node:fs', 'process'],
    why: 'leads a browser to the console by a file that is its owner’s alone',
  },
  'packages/vat/src/drivers/clock.ts': {
    powers: ['Date', 'node:fs', 'node:os', 'performance', 'setTimeout'],
    why: 'the clocks of the machine; deadlines follow the boot-time clock, which only the kernel knows',
  },
  'packages/vat/src/core/drivers/platform.ts': {
    powers: ['process'],
    why: 'asks Node for its own checks of values, without an import that a browser would stumble over',
  },
  'packages/vat/src/core/drivers/log.ts': {
    powers: ['console'],
    why: 'standard error, for internal errors in a program that names no other log',
  },
  'packages/vat/src/drivers/hash.ts': {
    powers: ['node:crypto', 'node:zlib'],
    why: 'digests and checksums, in native code',
  },
  'packages/vat/src/drivers/keys.ts': {
    powers: ['node:crypto', 'node:fs', 'process'],
    why: "the host's signing key: makes it, keeps it, signs with it",
  },
  'packages/vat/src/drivers/lines.ts': { powers: ['node:fs/promises'], why: 'reads an exported ledger line by line' },
  'packages/vat/src/drivers/loop.ts': {
    powers: ['setImmediate', 'setTimeout'],
    why: 'lets the process breathe between turns',
  },
  'packages/vat/src/drivers/random.ts': { powers: ['crypto'], why: 'randomness of the operating system' },
  'packages/vat/src/store/drivers/reserve.ts': {
    powers: ['node:fs'],
    why: 'room on the disk that is kept for revocations',
  },
  'packages/vat/src/store/drivers/sqlite.ts': {
    powers: ['node:fs', 'node:sqlite', 'process'],
    why: 'the one database of the store',
  },
  'packages/vat/src/store/drivers/backup.ts': {
    powers: ['node:fs'],
    why: 'writes a store into one file, and a file into a folder',
  },
  'packages/vat/src/store/drivers/drafts.ts': {
    powers: ['node:crypto', 'node:fs', 'process'],
    why: 'removes the drafts of processes that have ended, and looks which of them live',
  },
  'packages/vat/src/store/drivers/sentinel.ts': {
    powers: ['node:fs'],
    why: 'how far the store is known to have come, in a folder that is named',
  },
  'packages/vat/src/store/drivers/thread.ts': {
    powers: ['Worker', 'import.meta', 'node:module', 'node:worker_threads', 'process'],
    why: "the store's thread, and the way to it; it uses the compiled modules that the program keeps",
  },
  'packages/caps-fs/src/drivers/backend.ts': {
    powers: ['node:process', 'process'],
    why: 'reads CAPS_FS_BACKEND, and chooses how the walk of a directory cap is made',
  },
  'packages/caps-fs/src/drivers/yield.ts': {
    powers: ['performance', 'setImmediate'],
    why: 'lets the process breathe between operations that wait for nothing',
  },
  'packages/caps-fs/src/drivers/native.ts': {
    powers: ['node:fs', 'process'],
    why: 'what the C part of a directory cap can do, as system calls of it',
  },
  'packages/caps-fs/src/drivers/part.ts': {
    powers: ['import.meta', 'node:crypto', 'node:fs', 'node:module', 'process'],
    why: 'loads the C part of a directory cap, if it was built',
  },
  'packages/caps-fs/src/drivers/node-fs.ts': {
    powers: ['Date', 'node:crypto', 'node:fs', 'node:process', 'process', 'setImmediate', 'setTimeout'],
    why: 'the system calls of a directory cap, each on a held descriptor',
  },
  'packages/mcp/src/servers/drivers/connection.ts': {
    powers: ['@modelcontextprotocol/client'],
    why: 'speaks MCP with a server of tools, over the streams of a job; the library sets timers',
  },
  'packages/mcp/src/servers/drivers/schema.ts': {
    powers: ['@modelcontextprotocol/client/validators/cf-worker', 'node:vm'],
    why: 'checks a result against the schema of its server, and is interrupted when that takes too long',
  },
  'packages/mcp/src/servers/drivers/hash.ts': {
    powers: ['node:crypto'],
    why: 'SHA-256, for the seals of tools',
  },
  'packages/caps-shell/src/drivers/cgroup.ts': {
    powers: ['node:fs', 'process', 'setTimeout'],
    why: 'makes a cgroup for each job and removes it',
  },
  'packages/caps-shell/src/drivers/ahead.ts': {
    powers: ['node:child_process', 'node:fs', 'node:os', 'process'],
    why: 'starts sandbox programs that wait for jobs, ends them, and compares what they inherit',
  },
  'packages/caps-shell/src/drivers/confined.ts': {
    powers: ['setTimeout'],
    why: 'ends a confined program when its time is over',
  },
  'packages/caps-shell/src/drivers/directory-at.ts': {
    powers: ['node:fs'],
    why: 'looks up what a mount within a mount is to cover',
  },
  'packages/caps-shell/src/drivers/set-id.ts': {
    powers: ['node:fs', 'node:timers/promises', 'setImmediate'],
    why: 'looks for set-id programs where a job may write',
  },
  'packages/caps-shell/src/drivers/doctor.ts': {
    powers: ['commander', 'import.meta', 'node:child_process', 'process'],
    why: 'entry point: builds the sandbox and prints what this machine can do',
  },
  'packages/caps-shell/src/drivers/probe.ts': {
    powers: ['node:fs', 'node:os'],
    why: 'builds a whole world to see whether it can be done, with a scratch folder granted',
  },
  'packages/caps-shell/src/drivers/executable.ts': {
    powers: ['node:fs'],
    why: 'holds the one program of a command cap',
  },
  'packages/caps-shell/src/drivers/image.ts': {
    powers: ['node:fs', 'process'],
    why: 'opens the programs of this machine, to be mounted read-only',
  },
  'packages/caps-shell/src/drivers/program.ts': {
    powers: ['import.meta', 'node:crypto', 'node:fs', 'node:module', 'process'],
    why: 'finds the sandbox program, and opens it if it has its checksum',
  },
  'packages/caps-shell/src/drivers/sandbox.ts': {
    powers: ['node:child_process', 'node:fs', 'node:os', 'process', 'setTimeout'],
    why: 'starts the sandbox program and hears what it says; waits for the last process of one that was killed',
  },
  'packages/caps-shell/src/door/drivers/listeners.ts': {
    powers: ['node:net'],
    why: 'accepts the connections of programs at the listeners of their world',
  },
  'packages/caps-net/src/net/drivers/one-request.ts': {
    powers: ['node:http', 'node:zlib'],
    why: 'reads a request of a program of a job, which the host answers',
  },
  'packages/caps-net/src/net/drivers/open-path.ts': {
    powers: ['node:net'],
    why: 'connections to a Unix socket that was granted',
  },
  'packages/caps-net/src/drivers/resolve.ts': {
    powers: ['node:dns/promises', 'node:os'],
    why: 'the addresses of names, and of this machine',
  },
  'packages/caps-net/src/drivers/connect.ts': {
    powers: ['node:net', 'node:tls', 'setTimeout'],
    why: 'connections to addresses that were judged, in a time',
  },
  'packages/caps-net/src/http/drivers/connect.ts': {
    powers: ['undici'],
    why: 'the tunnel of a proxy',
  },
  'packages/caps-net/src/drivers/digest.ts': {
    powers: ['Date', 'node:crypto'],
    why: 'digests of messages, names that nobody guesses, and the hour of a draft',
  },
  'packages/caps-net/src/schedule/drivers/cron.ts': {
    powers: ['Date', 'croner'],
    why: 'the times of a cron line, also as text; it sets no timer and reads no clock',
  },
  'packages/caps-net/src/credential/drivers/sign.ts': {
    powers: ['node:crypto'],
    why: 'signs with keys that no session reads',
  },
  'packages/caps-net/src/message/drivers/mail.ts': {
    powers: ['node:stream', 'nodemailer/lib/mail-composer', 'nodemailer/lib/smtp-connection'],
    why: 'hands messages to a mail server',
  },
  'packages/caps-net/src/http/drivers/pool.ts': {
    powers: ['undici'],
    why: 'HTTP over these connections',
  },
  'packages/caps-net/src/http/drivers/inflate.ts': {
    powers: ['node:zlib'],
    why: 'decodes compressed answers',
  },
  'packages/caps-fs/src/search/drivers/main-thread.ts': {
    powers: ['performance'],
    why: 'measures how long a search keeps the main thread from other holders',
  },
  'packages/caps-fs/src/search/drivers/seek-thread.ts': {
    powers: ['node:worker_threads'],
    why: 'the thread that looks through large trees: by descriptors that it is told',
  },
  'packages/caps-fs/src/search/drivers/thread.ts': {
    powers: ['Worker', 'import.meta', 'node:worker_threads', 'setTimeout'],
    why: 'starts that thread, and ends it when its time is over',
  },
  'packages/guest/src/drivers/strip-thread.ts': {
    powers: ['Worker', 'node:worker_threads'],
    why: 'the same in a thread, for sources that are loaded into this process',
  },
  'packages/guest/src/drivers/strip-types.ts': {
    powers: ['node:module'],
    why: "Node's own stripping of types, for sources that carry them",
  },
  'packages/vat/src/captp/transport/memory-pair.ts': {
    powers: ['setTimeout'],
    why: 'a wire in memory whose frames take time',
  },
  'packages/vat/src/captp/transport/websocket.ts': {
    powers: ['WebSocket', 'node:tls', 'performance', 'setInterval', 'setTimeout', 'ws'],
    why: 'carries CapTP frames over a WebSocket; with TLS it trusts the certificates that Node knows',
  },
  'packages/guest/src/drivers/child.ts': {
    powers: ['Date', 'process', 'setTimeout'],
    why: "entry point of a guest's process: its channel, and the clock, chance and timers that a program is given",
  },
  'packages/guest/src/drivers/process.ts': {
    powers: ['node:child_process', 'process'],
    why: 'starts the process of a guest, where no sandbox is wanted',
  },
  'packages/guest/src/drivers/child-code.ts': {
    powers: ['import.meta', 'node:fs', 'node:module', 'process'],
    why: "reads the code that a guest's process runs",
  },
  'packages/guest/src/drivers/collect.ts': {
    powers: ['node:v8', 'node:vm'],
    why: 'collects the garbage of a process that waits for a program',
  },
  'packages/guest/src/drivers/watchdog.ts': {
    powers: ['node:fs', 'node:perf_hooks', 'performance', 'setInterval'],
    why: 'looks at what guests use, in /proc',
  },
  'packages/host/src/drivers/prompt.ts': {
    powers: ['node:readline', 'node:stream', 'process'],
    why: "asks the granter's secret on the terminal",
  },
  'packages/host/src/drivers/checkpoints.ts': {
    powers: ['AbortSignal.timeout', 'fetch', 'node:fs', 'setTimeout'],
    why: 'sends checkpoints of the ledger to a file or a URL that the operator names',
  },
  'packages/host/src/drivers/terminal.ts': {
    powers: ['process'],
    why: 'writes all that a terminal shows',
  },
  'packages/host/src/drivers/export-file.ts': {
    powers: ['node:fs', 'process'],
    why: 'writes an exported ledger where the caller says',
  },
  'packages/host/src/webauthn/drivers/checks.ts': { powers: ['node:crypto'], why: 'checks signatures of passkeys' },
  'packages/host/src/door/drivers/face-call.ts': {
    powers: ['node:stream', 'node:stream/promises'],
    why: 'hands a request of HTTP to a face, and its response back as a stream',
  },
  'packages/host/src/door/drivers/host-requests.ts': {
    powers: ['ws'],
    why: 'the requests to one host, over HTTP (of `node-http.ts`) and WebSocket',
  },
  'packages/host/src/door/drivers/node-http.ts': {
    powers: ['node:http', 'node:https', 'process'],
    why: 'takes HTTP and HTTPS of Node without loading fetch, as an import of them would; nothing else',
  },
  'packages/host/src/door/drivers/relay.ts': {
    powers: ['setTimeout'],
    why: 'carries a request over a stream to another machine, and cuts a side that does not take its last bytes',
  },
  'packages/host/src/door/drivers/unauthenticated-sockets.ts': {
    powers: ['setImmediate'],
    why: 'waits two rounds of the event loop before a socket counts as silent',
  },
  'packages/host/src/door/drivers/unix-socket.ts': {
    powers: ['node:fs', 'node:net', 'process'],
    why: 'makes the file of a Unix socket for its user alone',
  },
  'packages/host/src/drivers/roots.ts': {
    powers: ['node:fs'],
    why: 'compares roots with state and code by device and inode',
  },
  'packages/host/src/drivers/life.ts': {
    powers: ['Date', 'node:fs', 'process', 'setTimeout'],
    why: "ends the host with its process, and another process's host from outside",
  },
  'packages/host/src/drivers/state-dir.ts': {
    powers: ['node:fs', 'process'],
    why: 'makes the folder of the state, for its owner only',
  },
  'packages/host/src/drivers/private-folder.ts': {
    powers: ['node:fs', 'process'],
    why: 'sees whether a folder is its user’s alone',
  },
  'packages/host/src/drivers/state-home.ts': {
    powers: ['node:fs', 'node:os', 'process'],
    why: 'reads XDG_STATE_HOME and HOME, for the entry points',
  },
  'packages/host/src/drivers/secrets.ts': {
    powers: ['node:fs', 'process'],
    why: 'hands a secret over by a file or a descriptor, so that no environment, command line or pipe has it',
  },
  'packages/host/src/drivers/cores.ts': {
    powers: ['node:fs', 'process'],
    why: 'leaves the memory of a host out of core files',
  },
  'packages/host/src/programs/read-line.ts': {
    powers: ['commander'],
    why: 'reads the command line of every program here',
  },
  'packages/host/src/programs/serve-workspace.ts': { powers: ['Date', 'process'], why: 'the host of hob workspace' },
  'packages/host/src/programs/agent.ts': {
    powers: ['import(computed)', 'process'],
    why: "entry point: loads the agent's program",
  },
  'packages/mcp/src/drivers/powers.ts': {
    powers: ['node:crypto', 'setTimeout'],
    why: 'times the wait for a call, and makes names of calls that nobody guesses',
  },
  'packages/tools/src/drivers/names.ts': {
    powers: ['node:crypto'],
    why: 'makes names of calls that nobody guesses',
  },
  'packages/mcp/src/drivers/secret.ts': {
    powers: ['node:fs', 'process'],
    why: 'reads the secret of a session from a file or a descriptor',
  },
  'packages/mcp/src/drivers/sdk.ts': {
    powers: ['@modelcontextprotocol/server', '@modelcontextprotocol/server/stdio'],
    why: 'the MCP SDK, which reads the process and the clock',
  },
  'packages/mcp/src/http/drivers/session-http.ts': {
    powers: ['@modelcontextprotocol/server', 'node:crypto'],
    why: 'the MCP SDK over HTTP, and ids of clients that nobody guesses',
  },
  'packages/mcp/src/drivers/line-transport.ts': {
    powers: ['@modelcontextprotocol/server'],
    why: 'the messages of the MCP SDK',
  },
  'packages/mcp/src/drivers/entrance.ts': {
    powers: ['WebSocket', 'ws'],
    why: 'the socket of a thin client to its host',
  },
  'packages/cli/src/drivers/mcp-entry.ts': {
    powers: ['process'],
    why: 'standard input and output of hob mcp, and the two variables that hob start sets for it',
  },
  'packages/cli/src/main.ts': {
    powers: ['import.meta', 'process'],
    why: 'entry point: the command hob; keeps its compiled modules beside them',
  },
  'packages/cli/src/drivers/compiled.ts': {
    powers: ['node:fs', 'process'],
    why: 'runs a bundle from its compiled form, which it keeps beside the program',
  },
  'packages/cli/src/drivers/line.ts': {
    powers: ['commander', 'process'],
    why: 'reads the command line of hob, and sees whether it writes to a terminal',
  },
  'packages/cli/src/daemon/drivers/hooks.ts': {
    powers: ['node:crypto', 'node:fs'],
    why: 'reads the program of a hook at each call, and keeps the copy that runs',
  },
  'packages/cli/src/daemon/drivers/ledger-source.ts': {
    powers: ['node:fs'],
    why: 'reads an exported ledger, for hob suggest',
  },
  'packages/cli/src/drivers/ask.ts': {
    powers: ['node:readline', 'process'],
    why: 'asks a person at a terminal the questions of hob init',
  },
  'packages/cli/src/drivers/new-file.ts': { powers: ['node:fs'], why: 'writes a first manifest and its schema' },
  'packages/cli/src/drivers/start-file.ts': {
    powers: ['node:fs'],
    why: 'looks whether a first manifest would overwrite a file',
  },
  'packages/cli/src/drivers/places.ts': {
    powers: ['node:os', 'process'],
    why: 'finds the state, the manifest and the socket of hob',
  },
  'packages/cli/src/drivers/own-code.ts': {
    powers: ['import.meta', 'node:fs', 'process'],
    why: 'finds the code of hob, which no session may hold',
  },
  'packages/cli/src/drivers/manifest-file.ts': {
    powers: ['node:fs'],
    why: 'finds the real places of the manifests that govern',
  },
  'packages/cli/src/drivers/pause.ts': {
    powers: ['process', 'setTimeout'],
    why: 'looks again after a while; the bell',
  },
  'packages/cli/src/daemon/drivers/program-host.ts': {
    powers: ['process'],
    why: 'ends with the standard input of its process, and tells its number',
  },
  'packages/cli/src/daemon/drivers/end-with-store.ts': {
    powers: ['process', 'setTimeout'],
    why: 'ends the process of a host whose store is gone',
  },
  'packages/cli/src/drivers/beside.ts': {
    powers: ['import.meta', 'node:fs', 'node:module'],
    why: 'loads packages that are installed beside this one, with the copies of this one',
  },
  'packages/cli/src/cluster/drivers/file.ts': {
    powers: ['node:fs'],
    why: 'reads the file of a machine of a cluster, and the certificates that it names',
  },
  'packages/cli/src/cluster/drivers/reread.ts': {
    powers: ['node:fs'],
    why: 'looks whether the file of a machine of a cluster has changed',
  },
  'packages/cli/src/cluster/drivers/serve.ts': {
    powers: ['Date', 'process'],
    why: 'entry point: one machine of a cluster, until its process ends',
  },
  'packages/cli/src/daemon/drivers/serve.ts': {
    powers: ['Date', 'process'],
    why: 'entry point: the host of a manifest, until its process ends',
  },
  'packages/cli/src/daemon/drivers/served-host.ts': {
    powers: ['Date', 'process'],
    why: 'opens the host of a manifest, and reports the process that serves it and the time of its start',
  },
  'packages/cli/src/daemon/drivers/webhook.ts': {
    powers: ['Date', 'fetch', 'node:crypto', 'setTimeout'],
    why: 'posts signed notices to the URL that the person who runs the host names',
  },
  'packages/cli/src/daemon/drivers/desktop.ts': {
    powers: ['node:child_process', 'process'],
    why: 'runs the program that shows notices on a desktop',
  },
  'packages/cli/src/daemon/drivers/secret-store.ts': {
    powers: ['node:fs'],
    why: 'sees whether a host serves the state whose secrets are changed',
  },
  'packages/cli/src/drivers/private-file.ts': {
    powers: ['node:fs', 'process'],
    why: 'reads and writes the files of keys, which only their owner may read',
  },
  'packages/cli/src/drivers/secret-input.ts': {
    powers: ['process'],
    why: 'reads the value of a secret from a terminal or the standard input',
  },
  'packages/cli/src/secrets/drivers/seal.ts': {
    powers: ['node:crypto'],
    why: 'encrypts the values of secrets, and makes their keys',
  },
  'packages/cli/src/daemon/inbox/drivers/terminal.ts': {
    powers: ['Date', 'process', 'setTimeout'],
    why: 'the live list of requests: reads keys, looks again, and gives the terminal back',
  },
  'packages/cli/src/daemon/drivers/client.ts': { powers: ['node:fs'], why: 'sees whether a host has its socket' },
  'packages/cli/src/daemon/drivers/copies.ts': {
    powers: ['node:fs'],
    why: 'takes the copy of a served state into the file that a person named',
  },
  'packages/cli/src/daemon/drivers/ledger-copy.ts': {
    powers: ['node:fs'],
    why: 'writes the copy of the ledger into the folder of the manifest',
  },
  'packages/cli/src/daemon/drivers/log.ts': {
    powers: ['Date', 'node:fs', 'process'],
    why: 'writes the log of hob serve into a file, and rotates it',
  },
  'packages/cli/src/daemon/drivers/metrics-door.ts': {
    powers: ['node:http'],
    why: 'lets a program of this machine read metrics, at the port that the person named',
  },
  'packages/cli/src/daemon/drivers/wishes.ts': {
    powers: ['node:crypto', 'setTimeout'],
    why: 'hashes wish lists, and looks again whether an accepted one has changed',
  },
  'packages/cli/src/daemon/drivers/agent.ts': {
    powers: ['import.meta', 'node:child_process', 'node:fs', 'node:os', 'process', 'setTimeout'],
    why: "runs the agent's program of a person, and hands over its entry in a file",
  },
  'packages/cli/src/daemon/drivers/run-task.ts': {
    powers: ['AbortSignal.timeout', 'node:child_process', 'node:fs', 'node:os', 'process', 'setTimeout'],
    why: 'runs the agent of a scheduled run, with its task as the standard input',
  },
  'packages/cli/src/acp/drivers/agents.ts': {
    powers: ['node:child_process', 'node:fs', 'process', 'setTimeout'],
    why: 'starts the agents of an editor, and ends them with all that they began',
  },
  'packages/cli/src/acp/drivers/pipes.ts': {
    powers: ['node:stream', 'process'],
    why: 'the streams of the editor, and of its agents',
  },
  'packages/cli/src/recipes/drivers/relay.ts': {
    powers: ['node:crypto', 'node:http', 'node:https'],
    why: 'the relay between an agent host and its model: listens on loopback, and calls the model',
  },
  'packages/cli/src/recipes/drivers/run.ts': {
    powers: ['node:fs', 'process'],
    why: 'makes the empty directory and the home of an agent host, and passes on the listed variables',
  },
  'packages/cli/src/recipes/drivers/made.ts': {
    powers: ['node:child_process', 'node:fs', 'node:os', 'process'],
    why: 'runs an agent host that prints what a file of its recipe is made of',
  },
  'packages/cli/src/recipes/drivers/box.ts': {
    powers: ['import.meta', 'node:child_process', 'node:crypto', 'node:fs', 'node:net', 'process'],
    why: 'the doors, the keys and the streams of an agent host in a box, and the MCP server behind one door',
  },
  'packages/cli/src/recipes/drivers/terminal.ts': {
    powers: ['node:net', 'process'],
    why: "the person's terminal, for a program in a box",
  },
  'packages/cli/src/recipes/drivers/inside/enter.ts': {
    powers: ['node:child_process', 'node:fs', 'node:net', 'node:os', 'process'],
    why: 'runs in the box: carries requests to the door of the model, and starts the agent',
  },
  'packages/cli/src/recipes/drivers/inside/door.ts': {
    powers: ['node:net', 'process'],
    why: 'runs in the box: carries bytes to the door of the MCP server',
  },
  'packages/cli/src/drivers/layers.ts': {
    powers: ['Date', 'node:fs'],
    why: 'reads manifests of several layers, and looks whether their roots are there and hold a manifest',
  },
  'packages/cli/src/drivers/store-file.ts': {
    powers: ['node:fs'],
    why: 'reads the file that names the database of a state, and the authority of its certificate',
  },
  'packages/cli/src/drivers/rules.ts': {
    powers: ['node:fs', 'process'],
    why: 'reads the files of rules that hob import names',
  },
  'packages/cli/src/drivers/machine.ts': {
    powers: ['Date', 'node:crypto', 'node:fs', 'node:os', 'process'],
    why: 'finds programs on PATH, makes scratch folders and ids, reads the clock, for sessions of a plan',
  },
  'packages/host/src/programs/end-of.ts': { powers: ['commander'], why: 'tells an error of the command line' },
  'packages/host/src/programs/listings.ts': { powers: ['Date'], why: 'shows how long a grant lasts from now' },
};

/** Where a driver file may be. */
export const isDriverPlace = (file: string): boolean =>
  /^packages\/[^/]+\/src\/(?:[^/]+\/)*drivers\//.test(file) ||
  /^packages\/vat\/src\/captp\/transport\//.test(file) ||
  /^packages\/host\/src\/programs\//.test(file) ||
  file === 'packages/cli/src/main.ts';

/** Modules that compute and reach nothing. Everything that is not here and not ours is a power. */
const HARMLESS = new Set([
  'acorn',
  '@humanwhocodes/momoa',
  'diff/lib/patch/create.js',
  'node:assert',
  'node:assert/strict',
  'node:buffer',
  'node:events',
  'node:path',
  'node:path/posix',
  'node:string_decoder',
  'node:url',
  'node:util',
  'node:util/types',
  'preact',
  'preact/hooks',
  're2js',
  'ses',
  'toml-eslint-parser',
  'yaml',
  'zod',
]);
/** Endo's packages are written for hardened code and hold no powers. */
const isHarmless = (specifier: string): boolean => HARMLESS.has(specifier) || /^(?:\.|@hob\/|@endo\/)/.test(specifier);

/** Globals that are powers when they are named at all. */
const GLOBALS = [
  'BroadcastChannel',
  'EventSource',
  'Function',
  'Worker',
  'WebSocket',
  'XMLHttpRequest',
  'console',
  'crypto',
  'eval',
  'fetch',
  'navigator',
  'performance',
  'process',
  'setImmediate',
  'setInterval',
  'setTimeout',
];
/** Powers that are a part of something harmless. */
const PARTS: Readonly<Record<string, RegExp>> = {
  'AbortSignal.timeout': /\bAbortSignal\s*\??\.\s*timeout\b/g,
  Date: /(?<![\w$.])Date\s*\(|\bDate\s*\??\.\s*now\b/g,
  'Math.random': /\bMath\s*\??\.\s*random\b/g,
  Temporal: /\bTemporal\s*\??\.\s*Now\b/g,
  'import.meta': /\bimport\s*\.\s*meta\b/g,
  'import(computed)': /(?!)/g,
  // Any of the above by a name that is not in the text.
  'globalThis[…]': /(?<![\w$.])(?:globalThis|global|self|window)\s*(?:\?\.\s*)?\[/g,
};

/** The powers that a file uses, sorted. */
export function powersOf(text: string): string[] {
  const code = blank(text);
  const used = new Set<string>();
  for (const { specifier, typeOnly } of importsOf(text)) if (!typeOnly && !isHarmless(specifier)) used.add(specifier);
  for (const name of GLOBALS) if (usesGlobal(code, name)) used.add(name);
  for (const [name, pattern] of Object.entries(PARTS)) if (code.search(pattern) >= 0) used.add(name);
  if (importsComputed(text)) used.add('import(computed)');
  return [...used].sort();
}

/**
 * A mention of the global, not of a property, a key, a method or a type member of the same name. A parameter or a
 * variable that is called like a power is taken for it: give it another name.
 */
function usesGlobal(code: string, name: string): boolean {
  const mention = new RegExp(`(?<![\\w$#])${name}(?![\\w$])`, 'g');
  for (const { index } of code.matchAll(mention)) {
    const before = code.slice(0, index).trimEnd();
    const after = code.slice(index + name.length);
    if (/(?<!\.\.)\.$/.test(before)) {
      if (/(?<![\w$.])(?:globalThis|global|self|window)\s*\??\.$/.test(before)) return true;
      continue;
    }
    // Every function leads to its prototype: naming it reaches nothing.
    if (name === 'Function' && /^\s*\.\s*prototype\b/.test(after)) continue;
    const startsMember = /(?:^|[{,;}]|\*\/|\b(?:async|get|set|static|readonly|public|override))$/.test(before);
    if (startsMember && /^\s*\??\s*:/.test(after)) continue;
    if (startsMember && isDeclaration(after)) continue;
    if (/(?<![\w$.])(?:interface|type)$/.test(before)) continue;
    return true;
  }
  return false;
}

/** `(…) {` or `(…): T`: a method, where a call would be followed by something else. */
function isDeclaration(after: string): boolean {
  const generic = /^\s*(?:<[^()]*>)?\s*\(/.exec(after);
  if (generic === null) return false;
  let depth = 1;
  let at = generic[0].length;
  for (; at < after.length && depth > 0; at += 1) {
    if (after[at] === '(') depth += 1;
    if (after[at] === ')') depth -= 1;
  }
  return /^\s*[:{]/.test(after.slice(at));
}
