/** The public face of `@hob/caps-net`. */

export type { NetCode } from './base/errors.ts';
export { makeSignerCap } from './credential/signer.ts';
export type { Signature, SignerCap, SignerDescription, SignerOptions } from './credential/signer-cap.ts';
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
export { makeMessageCap } from './message/cap.ts';
export { type MailOptions, mailAdapter } from './message/drivers/mail.ts';
export type {
  Attachment,
  Channel,
  Draft,
  DraftAttachment,
  DraftOptions,
  Message,
  MessageAdapter,
  MessageCap,
  Sent,
} from './message/message-cap.ts';
export { outboxAdapter } from './message/outbox.ts';
export { type WebhookOptions, webhookAdapter } from './message/webhook.ts';
export { makeNetCap, makeSocketCap } from './net/cap.ts';
export { makeForwardCap } from './net/forward.ts';
export type {
  ForwardCap,
  NetCap,
  NetDescription,
  NetLimits,
  NetOptions,
  SocketCap,
  SocketOptions,
} from './net/net-cap.ts';
export { makeScheduleCap, scheduleDefinitions, scheduleEffects } from './schedule/make.ts';
export type { Run, RunEnd, Runner, ScheduleCap, Scheduled, ScheduleTerms } from './schedule/schedule-cap.ts';
export { makeSecret, type Secret } from './secret/secret.ts';
