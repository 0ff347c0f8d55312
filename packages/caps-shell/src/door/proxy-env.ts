/** The variables by which programs find the door. */
import type { Way } from './ways.ts';

/** The port of the door on 127.0.0.1 inside. A job has its own loopback, so it is nobody else's. */
export const DOOR_PORT = 1080;

const HTTP = `http://127.0.0.1:${DOOR_PORT}`;
/** `h`: the door is told the name, and nothing resolves it inside. */
const SOCKS = `socks5h://127.0.0.1:${DOOR_PORT}`;
/** Servers that the job itself runs. */
const LOCAL = 'localhost,127.0.0.1,::1';

const PROXY_ENV: Readonly<Record<string, string>> = Object.freeze({
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

/** Git asks the door for the URLs that the host forwards, wherever they are written with https. */
export function doorEnv(ways: readonly Pick<Way, 'forward'>[]): Readonly<Record<string, string>> {
  const forwards = ways.flatMap(({ forward }) => forward ?? []);
  const git = forwards.flatMap(({ from, inside }, n): [string, string][] => [
    [`GIT_CONFIG_KEY_${n}`, `url.${inside}.insteadOf`],
    [`GIT_CONFIG_VALUE_${n}`, from],
  ]);
  const count = git.length === 0 ? {} : { GIT_CONFIG_COUNT: String(forwards.length) };
  return { ...PROXY_ENV, ...count, ...Object.fromEntries(git) };
}
