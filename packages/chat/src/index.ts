/** `@hob/chat`: the requests of a granter in a chat. */
export { type Button, ChatDesk, type ChatPort } from './desk.ts';
export { post, signedHeaders } from './drivers/signed.ts';
export { type TelegramChat, type TelegramOptions, telegram } from './drivers/telegram.ts';
export type { Asked, ChatGranter } from './held.ts';
export { type ChatMessage, type Choice, present } from './present.ts';
export { type ChatRow, type ChatRows, ChatRowsActor, chatDefinitions } from './rows.ts';
export { type WebhookChat, type WebhookFace, webhookFace, webhookPort } from './webhook.ts';
