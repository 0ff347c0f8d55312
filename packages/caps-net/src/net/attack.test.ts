/**
 * Ways out of a job that holds one granted host. Each row is shell text. It succeeds if it printed the canary or WON, or
 * if anything reached a listener of this machine. The rows that need no door also run under plain bash, which shows
 * that they work where nothing holds them.
 */
import { spawn } from 'node:child_process';
import dgram from 'node:dgram';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { NAME, netCap, shellWith } from '../../test/net.ts';

const test = requires('linux', 'cc', 'userns');

const CANARY = 'CANARY-5d1c';

/**
 * `$PORT` and `$UDP` are listeners of this machine, `$UNIX` and `$ABSTRACT` sockets of it, `$OPEN` the granted port.
 * `door HEAD THEN` sends to the door and prints what it answers; `hello NAME` prints a ClientHello.
 */
const TOOLS = `
door() { exec 3<>/dev/tcp/127.0.0.1/1080; { printf "$1"; sleep 0.2; printf "\${2-hi}"; sleep 0.3; } >&3; timeout 3 cat <&3; }
connect() { door "CONNECT $1 HTTP/1.1\\r\\n\\r\\n" | grep -a -e ${CANARY} -e ' 200 '; }
socks() { door '\\x05\\x01\\x00' "$1" | tail -c +3 | head -c 2 | od -An -tx1 | grep -q '05 00' && echo WON; }
made() { perl -e 'socket(S, shift, shift, shift) and print "WON\\n"' "$@"; }
`;

const ROWS: Readonly<Record<string, readonly string[]>> = {
  'other places through the door, as CONNECT': [
    'connect 127.0.0.1:$PORT',
    'connect localhost:$PORT',
    'connect [::1]:$PORT',
    'connect [::ffff:127.0.0.1]:$PORT',
    'connect [::ffff:7f00:1]:$PORT',
    'connect 2130706433:$PORT',
    'connect 0x7f000001:$PORT',
    'connect 0177.0.0.1:$PORT',
    'connect 127.1:$PORT',
    'connect 0.0.0.0:$PORT',
    'connect 169.254.169.254:80',
    `connect ${NAME}:$PORT`,
    'connect evil.example:$OPEN',
    `connect ${NAME}.:$OPEN`,
    `connect ${NAME}.evil.example:$OPEN`,
    `connect evil${NAME}:$OPEN`,
    `connect u@${NAME}:$OPEN`,
    `connect ${NAME}:$OPEN:$PORT`,
    `connect ${NAME}:$OPEN@127.0.0.1:$PORT`,
    `connect ${NAME}:$OPEN%%0d%%0a`,
    'connect 127.0.0.1:$OPEN',
    `door "CONNECT 127.0.0.1:$PORT HTTP/1.1\\r\\nHost: ${NAME}:$OPEN\\r\\n\\r\\n"`,
  ],
  'other bytes to the granted host': [
    `door "CONNECT ${NAME}:$OPEN HTTP/1.1\\r\\n\\r\\n" 'GET / HTTP/1.1\\r\\n\\r\\n' | grep -a ${CANARY}`,
    `door "CONNECT ${NAME}:$OPEN HTTP/1.1\\r\\n\\r\\nGET / HTTP/1.1\\r\\n\\r\\n" | grep -a ${CANARY}`,
    `door "CONNECT ${NAME}:$OPEN HTTP/1.1\\r\\n\\r\\n" "CONNECT 127.0.0.1:$PORT HTTP/1.1\\r\\n\\r\\n" | grep -a ${CANARY}`,
    `curl -sk --connect-to evil.example:443:${NAME}:$OPEN https://evil.example/`,
    `curl -sk --resolve evil.example:$OPEN:127.0.0.1 https://evil.example:$OPEN/`,
    `curl -sk -p --connect-to 127.0.0.1:443:${NAME}:$OPEN https://127.0.0.1/`,
    `curl -s -p http://${NAME}:$OPEN/`,
    `curl -s http://${NAME}:$OPEN/ | grep -a ${CANARY}`,
  ],
  'plain requests to the door': [
    `curl -s http://127.0.0.1:$PORT/ | grep ${CANARY}`,
    `curl -s --noproxy "" -x 127.0.0.1:1080 http://127.0.0.1:$PORT/ | grep ${CANARY}`,
    `door "GET http://${NAME}:$OPEN@127.0.0.1:$PORT/ HTTP/1.1\\r\\n\\r\\n" | grep -a ${CANARY}`,
    `door "GET http://127.0.0.1:$PORT/ HTTP/1.1\\r\\nHost: ${NAME}:$OPEN\\r\\n\\r\\n" | grep -a ${CANARY}`,
    `door "GET / HTTP/1.1\\r\\nHost: 127.0.0.1:$PORT\\r\\n\\r\\n" | grep -a ${CANARY}`,
    `door "GET file:///etc/passwd HTTP/1.1\\r\\n\\r\\n" | grep -a root:`,
  ],
  'SOCKS through the door': [
    "socks '\\x05\\x01\\x00\\x03\\x0cevil.example\\x01\\xbb'",
    "socks '\\x05\\x01\\x00\\x01\\x7f\\x00\\x00\\x01\\x01\\xbb'",
    "socks '\\x05\\x01\\x00\\x04\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x01\\x01\\xbb'",
    `socks '\\x05\\x02\\x00\\x03\\x10${NAME}\\x01\\xbb'`,
    `socks '\\x05\\x03\\x00\\x03\\x10${NAME}\\x01\\xbb'`,
    `curl -s --socks4 127.0.0.1:1080 http://127.0.0.1:$PORT/`,
    `curl -s --socks4a 127.0.0.1:1080 http://localhost:$PORT/`,
    `curl -s --noproxy "" --socks5 127.0.0.1:1080 http://127.0.0.1:$PORT/`,
    `curl -s --noproxy "" --socks5-hostname 127.0.0.1:1080 http://localhost:$PORT/`,
  ],
  // Not under plain bash: as root they would change this machine.
  'the network itself, over netlink': [
    'ip link add hob-way type dummy && echo WON',
    'ip addr add 192.0.2.7/24 dev lo && echo WON',
    'ip route add default dev lo && echo WON',
    'ip rule add pref 7 table main && echo WON',
    'ip link set lo down && echo WON',
  ],
  'names inside': [
    `getent hosts ${NAME} && echo WON`,
    `perl -e 'print "WON\\n" if gethostbyname("${NAME}")'`,
    `node -e 'require("dns").resolve4("${NAME}", (error, found) => found && console.log("WON"))'`,
  ],
  'the channel of the door': [
    'inode=$(awk \'$2 == "0100007F:0438" && $4 == "0A" { print $10 }\' /proc/net/tcp); [ -n "$inode" ] || echo WON; ls -l /proc/[0-9]*/fd 2>/dev/null | grep -q "socket:.$inode." && echo WON',
    'env | grep -q NODE_CHANNEL && echo WON',
    'ls /proc/1/fd 2>/dev/null | grep -q . && echo WON',
    'ls -l /proc/self/fd | grep -q socket: && echo WON',
  ],
};

/** These need no door. */
const DIRECT: readonly string[] = [
  'exec 3<>/dev/tcp/127.0.0.1/$PORT; cat <&3',
  'exec 3<>/dev/tcp/localhost/$PORT; cat <&3',
  'curl -s --noproxy "*" --http0.9 http://127.0.0.1:$PORT',
  'curl -s --noproxy "*" --http0.9 http://[::ffff:127.0.0.1]:$PORT',
  'node -e \'require("net").connect(process.env.PORT, "127.0.0.1").on("data", (d) => console.log(String(d)))\'',
  'echo direct > /dev/udp/127.0.0.1/$UDP',
  'perl -MSocket -e \'socket(S, 2, 2, 0); print "WON\\n" if send(S, "x", 0, sockaddr_in(53, inet_aton("192.0.2.1")))\'',
  'perl -MSocket -e \'socket(S, 2, 2, 1); print "WON\\n" if send(S, "\\x08\\0\\xf7\\xff\\0\\0\\0\\0", 0, sockaddr_in(0, inet_aton("192.0.2.1")))\'',
  "perl -MSocket -e 'socket(S, 1, 1, 0); connect(S, pack_sockaddr_un($ENV{UNIX})) and print <S>'",
  'perl -MSocket -e \'socket(S, 1, 1, 0); connect(S, pack_sockaddr_un("\\0$ENV{ABSTRACT}")) and print <S>\'',
  'curl -s --http0.9 --noproxy "*" --abstract-unix-socket $ABSTRACT http://x',
  'grep -q "$ABSTRACT" /proc/net/unix && echo WON',
  'grep -qi ":$(printf %04X $PORT) " /proc/net/tcp && echo WON',
  'made 2 3 1',
  'made 2 3 255',
  'made 10 3 58',
  'made 17 3 0',
  'made 40 1 0',
  'made 38 5 0',
  'unshare -Urn true && echo WON',
  'perl -e \'open(F, "<", "/proc/1/ns/net") and syscall(308, fileno(F), 0) == 0 and print "WON\\n"\'',
  '[ -c /dev/net/tun ] && (exec 3<>/dev/net/tun) && echo WON',
  'ls /sys/class/net 2>/dev/null | grep -qv lo && echo WON',
  '[ "$(tail -n +3 /proc/net/dev | grep -vc lo:)" -gt 0 ] && echo WON',
  '[ -s /etc/resolv.conf ] && echo WON',
];

/** All rows at once, each with a number. Prints `through N` for those that succeed. */
const script = (rows: readonly string[]): string =>
  `${TOOLS}\n${rows
    .map(
      (row, n) =>
        `( said=$( ( ${row}\n) 2>/dev/null ); case "$said" in *${CANARY}*|*WON*|*' 200 '*) echo "through ${n}";; esac ) &`,
    )
    .join('\n')}\nwait\n`;

const throughOf = (rows: readonly string[], said: string): string[] =>
  [...said.matchAll(/^through (\d+)$/gm)].map(([, n]) => rows[Number(n)] ?? '');

/** Listeners of this machine that give the canary away, and count. */
async function listeners() {
  const folder = mkdtempSync(join(tmpdir(), 'hob-ways-'));
  const open = new Set<Socket>();
  const reached: string[] = [];
  const listen = async (name: string, at: string | undefined): Promise<Server> => {
    const server = createServer((socket) => {
      reached.push(name);
      open.add(socket);
      socket.on('error', () => {}).end(`${CANARY}\n`);
    });
    await new Promise<void>((done) =>
      at === undefined ? server.listen(0, '127.0.0.1', done) : server.listen(at, done),
    );
    return server;
  };
  const [unix, abstract] = [join(folder, 's'), `hob-ways-${process.pid}`];
  const servers = [
    await listen('tcp', undefined),
    await listen('unix', unix),
    await listen('abstract', `\0${abstract}`),
  ];
  const udp = dgram.createSocket('udp4').on('message', () => void reached.push('udp'));
  await new Promise<void>((done) => udp.bind(0, '127.0.0.1', done));
  // The granted one: it takes everything and never answers.
  const said: Buffer[] = [];
  const granted = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => {}).on('data', (bytes: Buffer) => void said.push(bytes));
  });
  await new Promise<void>((done) => granted.listen(0, '127.0.0.1', done));
  onTestFinished(async () => {
    for (const socket of open) socket.destroy();
    udp.close();
    for (const server of [...servers, granted]) await new Promise((done) => server.close(done));
    rmSync(folder, { recursive: true, force: true });
  });
  const portOf = (server: Server): number => (server.address() as { port: number }).port;
  const env = {
    PORT: String(portOf(servers[0] as Server)),
    UDP: String(udp.address().port),
    UNIX: unix,
    ABSTRACT: abstract,
    OPEN: String(portOf(granted)),
  };
  return { env, port: portOf(granted), reached, said };
}

test('a job with one granted host has no other way out', async () => {
  const { env, port, reached, said } = await listeners();
  const rows = [...Object.values(ROWS).flat(), ...DIRECT];
  expect(rows.length).toBeGreaterThanOrEqual(70);
  expect(new Set(rows).size).toBe(rows.length);
  const shell = await shellWith({ net: [netCap({ port })], env });
  const { stdout, ended } = await shell.run(script(rows));
  expect({ ended, through: throughOf(rows, stdout) }).toEqual({ ended: 'exit', through: [] });
  expect(reached).toEqual([]);
  expect(Buffer.concat(said).toString('latin1')).toBe('');
  // The door was there, and opens what is granted.
  const tunnel = await shell.run(script([`connect ${NAME}:$OPEN`]));
  expect(tunnel.stdout).toBe('through 0\n');
});

test('the attacks that need no door get through under plain bash', async () => {
  const { env, reached } = await listeners();
  const child = spawn('bash', ['-c', script(DIRECT)], { env: { PATH: `${process.env['PATH']}`, ...env }, stdio: ['ignore', 'pipe', 'ignore'] }); // biome-ignore format: one line
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await new Promise((done) => child.once('close', done));
  // Some need root, a module of the kernel or a program that this machine may not have.
  expect(throughOf(DIRECT, said).length).toBeGreaterThanOrEqual(12);
  expect(new Set(reached)).toContain('abstract');
});
