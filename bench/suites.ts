/** Every suite of the project, by the name that `npm run bench -- NAME` takes. */
import type { Suite } from './measure.ts';

export const suites: Readonly<Record<string, () => Promise<{ readonly suite: Suite }>>> = {
  acp: () => import('./acp.ts'),
  'as-shipped': () => import('./as-shipped.ts'),
  asking: () => import('./asking.ts'),
  captp: () => import('./captp.ts'),
  cluster: () => import('./cluster.ts'),
  console: () => import('./console.ts'),
  door: () => import('./door.ts'),
  durable: () => import('./durable.ts'),
  firewall: () => import('./firewall.ts'),
  growth: () => import('./growth.ts'),
  guest: () => import('./guest.ts'),
  postgres: () => import('./postgres.ts'),
  python: () => import('./python.ts'),
  fs: () => import('./fs.ts'),
  listing: () => import('./listing.ts'),
  manifest: () => import('./manifest.ts'),
  mcp: () => import('./mcp.ts'),
  net: () => import('./net.ts'),
  'net-door': () => import('./net-door.ts'),
  revocable: () => import('./revocable.ts'),
  sessions: () => import('./sessions.ts'),
  shell: () => import('./shell.ts'),
  start: () => import('./start.ts'),
  vat: () => import('./vat.ts'),
};
