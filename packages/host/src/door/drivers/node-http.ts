/**
 * HTTP and HTTPS of Node.
 *
 * An `import` of `node:http` makes a name for each of its exports. Some of these are parts of `fetch`, so it loads all
 * of `fetch`: 30 ms of the processor at each start of a host, which uses none of it.
 */
export const http: typeof import('node:http') = process.getBuiltinModule('node:http');
/** The same with TLS. */
export const https: typeof import('node:https') = process.getBuiltinModule('node:https');
