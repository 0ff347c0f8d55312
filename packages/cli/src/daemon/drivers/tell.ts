/**
 * Tells people about new requests, in the ways that the person who runs the host chose. By default in none.
 *
 * Promise: a way that fails is told to the log, and never to the host: no turn waits for it, and none fails with it.
 */
import type { RequestNotice } from '@hob/host';
import { machine } from '../../drivers/machine.ts';
import { readPrivate } from '../../drivers/private-file.ts';
import { Mistake } from '../../line/mistake.ts';
import { desktopText, webhookBody } from '../notice.ts';
import { openDesktop } from './desktop.ts';
import { openWebhook, webhookKey, webhookUrl } from './webhook.ts';

/** The ways that were chosen. */
export interface TellChoice {
  readonly notify: boolean;
  readonly notifyWith: string | undefined;
  readonly webhook: string | undefined;
  readonly webhookKeyFile: string | undefined;
}

/** All ways at once. */
interface Telling {
  request(notice: RequestNotice): void;
  close(): void;
}

/** Give `tenant` if the process serves several tenants. Errors: `Mistake`. */
export function openTelling(choice: TellChoice, say: (line: string) => void, tenant?: string): Telling {
  const webhook = webhookOf(choice, say);
  const isDesktop = choice.notify || choice.notifyWith !== undefined;
  const desktop = isDesktop ? openDesktop(choice.notifyWith, machine.findProgram, say) : undefined;
  const safely = (act: () => void): void => {
    try {
      act();
    } catch (error) {
      say(`hob: a notice was not sent (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
    }
  };
  return {
    request(notice) {
      safely(() => webhook?.post(webhookBody(notice, machine.now(), tenant)));
      safely(() => desktop?.show((more) => desktopText(notice, more, tenant)));
    },
    close() {
      webhook?.close();
      desktop?.close();
    },
  };
}

function webhookOf(
  { webhook, webhookKeyFile: file }: TellChoice,
  say: (line: string) => void,
): ReturnType<typeof openWebhook> | undefined {
  // biome-ignore format: one line
  if (webhook === undefined && file === undefined) return undefined;
  if (webhook === undefined || file === undefined)
    throw new Mistake('--webhook and --webhook-key-file go together: a receiver can trust signed notices only', 2);
  const text = readPrivate(file, 'the key of the webhook');
  if (text === undefined) throw new Mistake(`there is no file ${file}: make the key of the webhook with (umask 077; printf whsec_; openssl rand -base64 32) > FILE`); // biome-ignore format: one line
  return openWebhook({ url: webhookUrl(webhook), key: webhookKey(text), say });
}
