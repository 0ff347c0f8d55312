/**
 * A machine without a C compiler, without Python and without this checkout, made of the one that there is: a mount
 * namespace of its own, in which their files are not there. For tests that run as root.
 *
 * An overlay lies over `/usr`, and what is removed from it is gone for everything in that namespace, whatever PATH
 * says. The machine itself is as it was. `/root` is closed to the user.
 */
import fs from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../sources.ts';

const BUILDS =
  /^(?:[\w+]+-)*(?:cc|gcc|g\+\+|c\+\+|c89|c99|cpp|clang|clang\+\+|clang-cpp|tcc|zig|as|ld|ld\.(?:bfd|gold|lld)|make|python|pypy|pip|pydoc|uv)(?:[\d.]+|-config|3-config)*(?:-\d+)?$/;
const LIBRARIES = /^(?:gcc|gcc-cross|llvm.*|clang|python\d.*|pypy.*|zig|ziglang)$/;

/** The programs that build, and what they need, beneath `/usr`. */
export function builders(): readonly string[] {
  const beneath = (folder: string, named: RegExp): readonly string[] =>
    fs.existsSync(folder)
      ? fs
          .readdirSync(folder)
          .filter((name) => named.test(name))
          .map((name) => join(folder, name))
      : [];
  return [
    ...['/usr/bin', '/usr/sbin', '/usr/local/bin', '/usr/local/sbin'].flatMap((folder) => beneath(folder, BUILDS)),
    ...['/usr/lib', '/usr/lib64', '/usr/libexec', '/usr/local/lib', '/usr/share'].flatMap((folder) =>
      beneath(folder, LIBRARIES),
    ),
    ...['/usr/include', '/usr/local/include', '/usr/src'].filter((folder) => fs.existsSync(folder)),
  ];
}

const SCRIPT = `set -e
scratch=$1; checkout=$2; user=$3; shift 3
mkdir -m 700 -p "$scratch"
mount -t tmpfs -o mode=700 none "$scratch"
mkdir "$scratch/up" "$scratch/work"
mount -t overlay -o "lowerdir=/usr,upperdir=$scratch/up,workdir=$scratch/work" none /usr
while [ "$1" != -- ]; do rm -rf -- "$1"; shift; done
shift
case "$PWD/" in "$checkout"/*) ;; *) mount -t tmpfs -o mode=700 none "$checkout";; esac
exec setpriv --reuid "$user" --regid "$user" --clear-groups -- "$@"`;

/** The command that runs `command` as `user` on such a machine. `scratch` is a folder that it makes. */
export const bareCommand = (
  command: readonly string[],
  { user, scratch }: { readonly user: number; readonly scratch: string },
): readonly string[] => [
  ...['unshare', '--mount', '--propagation', 'private', '--', 'sh', '-c', SCRIPT, 'sh'],
  ...[scratch, ROOT, String(user), ...builders(), '--', ...command],
];
