/** Keeps the memory of this process out of its core files. */
import { writeFileSync } from 'node:fs';

/**
 * Leaves the memory of this process, and of those that it starts, out of core files: a host holds secrets, and a core file
 * is kept where others read it. Linux only (proc(5), `coredump_filter`). Elsewhere it does nothing.
 */
export function leaveMemoryOutOfCores(): void {
  if (process.platform !== 'linux') return;
  try {
    writeFileSync('/proc/self/coredump_filter', '0');
  } catch {
    // A kernel without core files has no such entry.
  }
}
