/**
 * Times as a person writes them: `15m`, `8h`, `30d`. A face of its own: it loads no parser, and most verbs of `hob` need
 * no more of this package.
 */
export { DURATION as durationPattern, milliseconds } from './file/terms.ts';
