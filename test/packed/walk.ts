/**
 * The commands of a page, run by root on a machine that is this one and can be spoiled: a mount namespace of its own, with
 * an overlay over `/etc`, `/usr` and `/var`, and empty `/opt` and `/srv`. What they add, such as a user, is gone afterwards.
 * For tests that run as root.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

const SCRIPT = `set -e
scratch=$1; node=$2; packages=$3; shift 3
mount -t tmpfs none "$scratch"
for part in etc usr var; do
  mkdir -p "$scratch/$part/up" "$scratch/$part/work"
  mount -t overlay -o "lowerdir=/$part,upperdir=$scratch/$part/up,workdir=$scratch/$part/work" none "/$part"
done
for part in opt srv; do mkdir -p "/$part"; mount -t tmpfs -o mode=755 none "/$part"; done
rm -f /usr/bin/node; cp "$node" /usr/bin/node; chmod 755 /usr/bin/node
mkdir -p /opt/hob; cp -r "$packages" /opt/hob/
PATH=/usr/sbin:/usr/bin:/sbin:/bin; export PATH
# As sudo does: as root, or as that user, with a home of its own.
sudo() {
  if [ "$1" = -u ]; then
    user=$2; shift 2
    setpriv --reuid "$user" --regid "$user" --init-groups --reset-env -- "$@"
  else "$@"; fi
}
`;

/** Runs `commands` (bash) there, with these packages as `/opt/hob/node_modules`. */
export function walk(
  commands: string,
  at: { readonly folder: string; readonly node: string; readonly packages: string },
): { readonly status: number | null; readonly out: string } {
  const scratch = join(at.folder, 'walk');
  mkdirSync(scratch, { mode: 0o755 });
  const { status, stdout, stderr } = spawnSync(
    'unshare',
    [
      ...['--mount', '--pid', '--fork', '--kill-child', '--mount-proc', '--propagation', 'private', '--'],
      ...['bash', '-c', `${SCRIPT}${commands}`, 'bash', scratch, at.node, at.packages],
    ],
    { encoding: 'utf8', timeout: 180_000, cwd: '/' },
  );
  return { status, out: `${stdout}${stderr}` };
}
