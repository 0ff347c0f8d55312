/** The public names of `@hob/console`: the pages that a host serves, and the link that a person opens. */
export { consolePages } from './drivers/pages.ts';
export { consoleLink } from './link.ts';
