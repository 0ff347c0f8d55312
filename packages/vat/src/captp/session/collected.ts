/** Notices when the garbage collector has collected an import, so that the peer can be told. */
import type { Import } from './imports.ts';

/** The session that is told. */
export interface Collector {
  collected(id: number): void;
}

const imports = new FinalizationRegistry<{ readonly session: WeakRef<Collector>; readonly id: number }>(
  ({ session, id }) => session.deref()?.collected(id),
);

export function noticeCollected(made: Import, session: WeakRef<Collector>): void {
  imports.register(made, { session, id: made.slot.id });
}
