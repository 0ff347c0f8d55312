/**
 * The picture of authority: who holds what, as nodes in columns and lines between them.
 *
 * host > session > child session > cap > root. A cap that was delegated hangs at the cap that it came from, too.
 */
import type { Grant } from '@hob/host';

export interface PictureNode {
  readonly id: string;
  readonly kind: 'host' | 'session' | 'cap' | 'root';
  readonly label: string;
  /** 0 is the host; sessions follow by their depth, then caps, then roots. */
  readonly column: number;
  readonly row: number;
  /** A cap that has ended since the page was opened. */
  readonly ended: boolean;
  /** The nodes that it leads to. */
  readonly to: readonly string[];
}

interface SessionOf {
  readonly id: string;
  readonly name: string;
  readonly parent?: string;
}

export function pictureOf(
  sessions: readonly SessionOf[],
  live: readonly Grant[],
  gone: readonly Grant[],
): readonly PictureNode[] {
  const known = new Map(sessions.map((session) => [session.id, session]));
  const depthOf = (id: string | undefined, left = 64): number =>
    id === undefined || !known.has(id) || left === 0 ? 0 : 1 + depthOf(known.get(id)?.parent, left - 1);
  const deepest = sessions.reduce((most, { id }) => Math.max(most, depthOf(id)), 1);
  const grants = [
    ...live.map((grant) => ({ grant, ended: false })),
    ...gone.map((grant) => ({ grant, ended: true })),
  ].filter(({ grant }) => known.has(grant.session));
  const next = new Map<number, number>();
  const place = (column: number): { readonly column: number; readonly row: number } => {
    const row = next.get(column) ?? 0;
    next.set(column, row + 1);
    return { column, row };
  };
  const rootId = ({ offered }: Grant): string => `root ${offered}`;
  const roots = new Map<string, Grant>(grants.map(({ grant }) => [rootId(grant), grant]));
  const isTop = ({ parent }: SessionOf): boolean => parent === undefined || !known.has(parent);
  const held = (id: string): string[] => grants.flatMap(({ grant }) => (grant.session === id ? [grant.id] : []));
  return [
    { id: 'host', kind: 'host', label: 'this host', ...place(0), ended: false, to: sessions.filter(isTop).map(({ id }) => id) }, // biome-ignore format: one line
    ...sessions.map(({ id, name }) => ({
      ...{ id, kind: 'session' as const, label: name, ended: false, ...place(depthOf(id)) },
      to: [...sessions.flatMap((child) => (child.parent === id ? [child.id] : [])), ...held(id)],
    })),
    ...grants.map(({ grant, ended }) => ({
      ...{ id: grant.id, kind: 'cap' as const, label: grant.petname, ended, ...place(deepest + 1) },
      to: [rootId(grant)],
    })),
    ...[...roots].map(([id, { what }]) => ({
      ...{ id, kind: 'root' as const, label: what, to: [], ...place(deepest + 2) },
      ended: !grants.some(({ grant, ended }) => !ended && rootId(grant) === id),
    })),
  ];
}
