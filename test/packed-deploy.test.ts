/**
 * The part of the deployment page about a user of its own, walked literally: each of its commands, in its order, with the
 * packages, and what its unit starts, with the rights that the unit gives. Only `npm install` is left out: the tarballs
 * are installed already. systemd itself is not there; `deployment.test.ts` has it judge the unit.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requires } from './needs.ts';
import { type Installed, installed } from './packed/installed.ts';
import { nodeFolder } from './packed/user.ts';
import { walk } from './packed/walk.ts';
import { blocks } from './readme.ts';
import { read } from './sources.ts';

let made: Installed | undefined;
beforeAll(async () => {
  made = await installed();
}, 400_000);
afterAll(() => made?.remove());

const page = read('docs/deployment.md').text;
const part = page.slice(page.indexOf('## A user of its own'), page.indexOf('## systemd'));
const [setUp = '', first = '', fromElsewhere = '', stop = ''] = blocks(part, 'sh');
const host = /^```js \/opt\/hob\/host\.mjs\n([\s\S]*?)^```$/m.exec(part)?.[1] ?? '';
const [unit = ''] = blocks(page, 'ini');
const start = /^ExecStart=(.*)$/m.exec(unit)?.[1] ?? '';

const AGENT = `
import { connect, E } from '@hob/vat';
export default async function agent({ url, secret, say }) {
  const { bootstrap: session, close } = await connect(url, { secret });
  const project = E(session).cap('project');
  say(JSON.stringify(await E(project).list('.')));
  await E(project).write('a.txt', 'two');
  say('written');
  close();
}
`;

test('the page has the parts that are walked here', () => {
  expect(setUp).toMatch(/^sudo npm install --prefix \/opt\/hob @hob\/host @hob\/vat @hob\/caps-fs @hob\/cli\n/);
  expect(first.trim()).toBe('sudo -u hob node /opt/hob/host.mjs');
  expect(start).toBe('/usr/bin/node /opt/hob/host.mjs');
  expect(fromElsewhere.trim().split('\n')).toHaveLength(3);
  expect(stop.trim().split('\n')).toHaveLength(1);
  expect(host).toContain('openHost');
});

requires('overlay', 'pty')(
  'a user of its own: set up, started once at a terminal, then as the unit starts it; used and stopped from other accounts',
  (context) => {
    if (made === undefined) return context.skip('needs the package registry, for what Hob depends on');
    const [agent = '', inbox = '', grant = ''] = fromElsewhere.trim().split('\n');
    const { status, out } = walk(
      `
${setUp.replace(/^sudo npm install .*\n/, '')}
cat > /opt/hob/host.mjs <<'EOH'
${host}EOH
mkdir -m 755 /srv/people; cat > /srv/people/agent.mjs <<'EOH'
${AGENT}EOH
ln -s /opt/hob/node_modules /srv/people/node_modules
echo one > /srv/project/a.txt; chown hob /srv/project/a.txt
useradd --create-home --home-dir /srv/people/ann ann
until_said() { for n in $(seq 1 600); do grep -q "$2" "$1" 2>/dev/null && return 0; sleep 0.1; done; cat "$1"; exit 9; }

# At a terminal, and ended with Ctrl-C.
as_hob='setpriv --reuid hob --regid hob --init-groups --reset-env --'
mkfifo /srv/keys
(script -qfec "$as_hob ${first.replace('sudo -u hob ', '').trim()}" /srv/first.log < /srv/keys > /dev/null) &
exec 7> /srv/keys
until_said /srv/first.log 'ready at'
printf '\\003' >&7; exec 7>&-; wait %1 || true
granter=$(tr -d '\\r' < /srv/first.log | sed -n 's/^the secret of the granter: //p')
session=$(tr -d '\\r' < /srv/first.log | sed -n 's/^the secret of the session: //p')
[ -n "$granter" ] && [ -n "$session" ] && echo 'both secrets were shown'

# As the unit starts it.
umask 077
setpriv --reuid hob --regid hob --init-groups --reset-env --no-new-privs --bounding-set=-all --inh-caps=-all -- \\
  ${start} > /srv/unit.log 2>&1 &
service=$!
until_said /srv/unit.log 'ready at'
cat /srv/unit.log
umask 022

# From another account.
ann() { setpriv --reuid ann --regid ann --init-groups --reset-env -- "$@"; }
ann ls /var/lib/hob > /dev/null 2>&1 || echo 'ann cannot look into the state'
ann cat /proc/$service/environ > /dev/null 2>&1 || echo 'ann cannot look into the process'
ann touch /opt/hob/x 2> /dev/null || echo 'ann cannot change the code'
setpriv --reuid hob --regid hob --init-groups -- touch /opt/hob/x 2> /dev/null || echo 'nor can hob'
printf '%s' "$session" > /srv/people/ann/secret; chown ann /srv/people/ann/secret; chmod 600 /srv/people/ann/secret
ann sh -c 'cd /srv/people && ${agent.replace('agent.ts', 'agent.mjs').replace('HOB_URL=', 'HOB_SECRET_FILE=/srv/people/ann/secret HOB_URL=')}' > /srv/agent.log 2>&1 &
works=$!
for n in $(seq 1 60); do
  printf '%s\\n' "$granter" | ann ${inbox} > /srv/inbox.log 2>&1 || true
  grep -q R1 /srv/inbox.log && break; sleep 0.2
done
grep -q R1 /srv/inbox.log && echo R1 || { cat /srv/inbox.log /srv/agent.log; exit 7; }
printf '%s\\n' "$granter" | ann ${grant} --yes
wait $works || { cat /srv/agent.log; exit 8; }
cat /srv/agent.log
cat /srv/project/a.txt; echo
${stop}
code=0; wait $service || code=$?; echo "the service ended with $code"
`,
      {
        folder: made.folder,
        node: join(nodeFolder(made.folder), 'node'),
        packages: join(made.folder, 'node_modules'),
      },
    );
    expect({ status, out }).toEqual({ status: 0, out: expect.any(String) });
    for (const line of [
      'both secrets were shown',
      'ready at ws://127.0.0.1:7710',
      'ann cannot look into the state',
      'ann cannot look into the process',
      'ann cannot change the code',
      'nor can hob',
      'R1',
      '["a.txt"]',
      'written',
      'two',
      // 128 + SIGTERM, which systemd takes for a clean end.
      'the service ended with 143',
    ])
      expect(out.split('\n').map((one) => one.trim())).toContain(line);
    expect(out).not.toMatch(/hob1_/);
  },
  300_000,
);
