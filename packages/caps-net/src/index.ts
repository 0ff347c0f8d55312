/** The public face of `@hob/caps-net`. */
export type { NetCode } from './base/errors.ts';
export { makeHttpCap } from './http/cap.ts';
export type {
  FetchOptions,
  GetOptions,
  HttpAnswer,
  HttpCap,
  HttpDescription,
  HttpLimits,
  HttpOptions,
  HttpProxy,
  HttpText,
  Injection,
} from './http/http-cap.ts';
export { makeSecret, type Secret } from './secret/secret.ts';
