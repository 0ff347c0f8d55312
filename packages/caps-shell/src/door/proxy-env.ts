/** The variables by which programs find the door. */

/** The port of the door on 127.0.0.1 inside. A job has its own loopback, so it is nobody else's. */
export const DOOR_PORT = 1080;

const HTTP = `http://127.0.0.1:${DOOR_PORT}`;
/** `h`: the door is told the name, and nothing resolves it inside. */
const SOCKS = `socks5h://127.0.0.1:${DOOR_PORT}`;
/** Servers that the job itself runs. */
const LOCAL = 'localhost,127.0.0.1,::1';

export const PROXY_ENV: Readonly<Record<string, string>> = Object.freeze({
  HTTP_PROXY: HTTP,
  http_proxy: HTTP,
  HTTPS_PROXY: HTTP,
  https_proxy: HTTP,
  ALL_PROXY: SOCKS,
  all_proxy: SOCKS,
  NO_PROXY: LOCAL,
  no_proxy: LOCAL,
  // Node's own fetch and https use a proxy only if they are told to.
  NODE_USE_ENV_PROXY: '1',
});
