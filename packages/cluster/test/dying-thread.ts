/** A thread of a cluster that ends as soon as somebody watches, the first two times that it is started. */
import { openSync } from 'node:fs';
import { serveThread } from '@hob/vat/engine';

serveThread(({ marks }: { readonly marks: string }) => {
  const isFirst = [1, 2].some((n) => {
    try {
      openSync(`${marks}${n}`, 'wx');
      return true;
    } catch {
      return false;
    }
  });
  const view = { version: 1, connected: true, member: true, hosts: [], tenants: [], freed: [] };
  return {
    look: () => view,
    watch: (version: number) => {
      if (isFirst) process.exit(1);
      return version === 1 ? new Promise(() => {}) : view;
    },
    close: () => {},
  };
});
