/**
 * A program that searches a job for a value: memory, variables, arguments and open files of every process, every other
 * readable entry of /proc, and every file outside of the system's programs.
 *
 * It gets each form of the value in two halves and never puts them together, so it does not find itself.
 */
import { formsOf } from '../src/secret/blank.ts';

const PROGRAM = `
import os, sys
forms = [(sys.argv[n].encode(), sys.argv[n + 1].encode()) for n in range(1, len(sys.argv), 2)]
looked = {'files': 0, 'memory': 0, 'proc': 0}
def look(place, bytes):
    for first, rest in forms:
        at = bytes.find(first)
        while at >= 0:
            if bytes[at + len(first):at + len(first) + len(rest)] == rest:
                print('FOUND', place)
                return
            at = bytes.find(first, at + 1)
def read(path):
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return b''
    try:
        parts, size = [], 0
        while size < 1 << 26:
            part = os.read(fd, 1 << 20)
            if not part: break
            parts.append(part)
            size += len(part)
        return b''.join(parts)
    except OSError:
        return b''
    finally:
        os.close(fd)
def memory(pid):
    try:
        maps = open('/proc/%s/maps' % pid).read().splitlines()
        mem = os.open('/proc/%s/mem' % pid, os.O_RDONLY)
    except OSError:
        return
    for line in maps:
        span, rights = line.split()[:2]
        if 'r' not in rights: continue
        at, end = (int(part, 16) for part in span.split('-'))
        while at < end:
            try:
                bytes = os.pread(mem, min(1 << 22, end - at), at)
            except (OSError, OverflowError):
                break
            if not bytes: break
            looked['memory'] += len(bytes)
            look('/proc/%s/mem' % pid, bytes)
            at += max(1, len(bytes) - 4096) if at + len(bytes) < end else len(bytes)
    os.close(mem)
def processes():
    for pid in sorted(os.listdir('/proc')):
        if pid.isdigit(): memory(pid)
def walk(top, key):
    for folder, folders, files in os.walk(top):
        if folder == '/': folders[:] = [one for one in folders if one not in ('proc', 'sys', 'usr', 'lib', 'lib64', 'bin', 'sbin')]
        if folder.endswith('/pagemap'): continue
        for name in files:
            if name in ('mem', 'pagemap', 'kmsg', 'kcore', 'clear_refs'): continue
            path = os.path.join(folder, name)
            if top == '/' and not os.path.isfile(path): continue
            looked[key] += 1
            look(path, read(path))
watched = os.environ.get('WATCHED')
while watched and os.path.exists('/proc/' + watched):
    state = read('/proc/%s/stat' % watched)
    if not state or b') Z ' in state: break
    processes()
processes()
walk('/proc', 'proc')
walk('/', 'files')
print('LOOKED', looked['files'] > 0, looked['memory'] > 1 << 20, looked['proc'] > 20)
`;

/** The last line that it prints when it has looked everywhere. */
export const LOOKED = 'LOOKED True True True\n';

/** The words of a shell that run it. `WATCHED` names a process: it looks again and again until that one has ended. */
export function searchFor(values: readonly string[]): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
  const halves = values
    .flatMap(formsOf)
    .filter((form) => form.length >= 8 && !form.includes('\n'))
    .flatMap((form) => [form.slice(0, form.length >> 1), form.slice(form.length >> 1)]);
  return `/usr/bin/python3 -c ${quoted(PROGRAM)} ${halves.map(quoted).join(' ')}`;
}
