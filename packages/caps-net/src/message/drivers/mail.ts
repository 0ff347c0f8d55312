/**
 * An adapter that hands each message to a mail server (SMTP), by nodemailer, which is loaded with the first message.
 *
 * Promise: the bytes are made when the draft is, with date and message id, and exactly these are sent, to one mailbox. The
 * server is reached as every server is: at judged addresses, and with TLS if `secure`. If the server took the command DATA
 * and gave no answer, the outcome is unknown.
 */
import { Readable } from 'node:stream';
import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import { takeOrigin } from '../../address/origin.ts';
import { addressPolicy } from '../../address/policy.ts';
import { type OptionNames, takeOptions } from '../../base/arguments.ts';
import { refusal } from '../../base/errors.ts';
import { inTime, openSocket } from '../../drivers/connect.ts';
import { type Resolver, systemResolver } from '../../drivers/resolve.ts';

import { Secret } from '../../secret/secret.ts';
import type { Message, MessageAdapter } from '../message-cap.ts';
import { takeMailbox } from '../text.ts';

/** The options of `mailAdapter`. */
export interface MailOptions {
  /** `mail.example.com:465`. */
  readonly server: string;
  /** TLS from the first byte (default), by STARTTLS, or none: `none` only to listed addresses. */
  readonly tls?: 'implicit' | 'starttls' | 'none';
  readonly from: string;
  readonly to: string;
  readonly login?: { readonly user: string; readonly password: Secret };
  readonly addresses?: readonly string[];
  /** Certificates (PEM) that are trusted instead of those that Node knows. */
  readonly ca?: string;
}

const mailOptions: OptionNames<MailOptions> = {
  server: true,
  tls: true,
  from: true,
  to: true,
  login: true,
  addresses: true,
  ca: true,
};

const TIME_MS = 60_000;
const CONNECT_MS = 10_000;

/** The way to one mailbox. Errors: `E_MESSAGE`, `E_HOST`, `invalid`. */
export function mailAdapter(options: MailOptions): MessageAdapter {
  return mailAdapterWith(options, systemResolver);
}

/** For tests, which pass their own names. */
export function mailAdapterWith(given: MailOptions, resolver: Resolver): MessageAdapter {
  const options = takeOptions(given, 'mailAdapter', mailOptions);
  const [from, to] = [takeMailbox(options.from), takeMailbox(options.to)];
  const { tls = 'implicit', ca } = options;
  // A misspelt word would be another way than was meant, and perhaps one without TLS.
  if (!['implicit', 'starttls', 'none'].includes(tls)) throw refusal('invalid', 'tls is implicit, starttls or none');
  const login =
    options.login === undefined ? undefined : takeOptions(options.login, 'login', { user: true, password: true });
  if (login !== undefined && !(login.password instanceof Secret))
    throw refusal('invalid', 'login.password is made by makeSecret');
  if (tls === 'none' && options.addresses === undefined) throw refusal('invalid', 'without TLS list the addresses');
  const origin = takeOrigin(`http${tls === 'implicit' ? 's' : ''}://${options.server}`, 'server');
  const policy = addressPolicy(options.addresses, resolver.own);
  const render = async ({ id, subject, text, attachments }: Message): Promise<Uint8Array> => {
    const { default: MailComposer } = await import('nodemailer/lib/mail-composer');
    const composer = new MailComposer({
      ...{ from, to, subject, text, textEncoding: 'base64', messageId: `<${id}@hob.invalid>` },
      attachments: attachments.map(({ name, type, data }) => ({ filename: name, contentType: type, content: Buffer.from(data) })), // biome-ignore format: one line
      ...{ disableUrlAccess: true, disableFileAccess: true, newline: 'windows' },
    });
    return composer.compile().build();
  };
  const deliver: MessageAdapter['deliver'] = async (bytes, _message, { signal, leaving }) => {
    const { default: Connection } = await import('nodemailer/lib/smtp-connection');
    const socket = await inTime(CONNECT_MS, (late) => openSocket({ origin, policy, ca }, resolver, late));
    const end = (): void => void socket.destroy();
    signal.addEventListener('abort', end, { once: true });
    const connection = new Connection({
      ...{ connection: socket, host: origin.host.text, port: origin.port, secured: tls === 'implicit' },
      ...{ secure: tls === 'implicit', requireTLS: tls === 'starttls', ignoreTLS: tls === 'none' },
      tls: { servername: origin.host.text, ...(ca === undefined ? {} : { ca }) },
      ...{ name: 'hob.invalid', socketTimeout: TIME_MS, greetingTimeout: TIME_MS },
    });
    // Read when the server has said yes to DATA: from then on it may have the message.
    const body = Readable.from(
      (function* () {
        leaving();
        yield Buffer.from(bytes);
      })(),
    );
    try {
      return await conversation(connection, { from, to: [to] }, body, login);
    } catch (error) {
      const { responseCode } = error as { readonly responseCode?: unknown };
      if (typeof responseCode === 'number') throw refusal('E_REFUSED', `the mail server answers ${responseCode}`);
      throw refusal('E_UNREACHABLE', 'the mail server ended the conversation');
    } finally {
      signal.removeEventListener('abort', end);
      connection.close();
      socket.destroy();
    }
  };
  return Object.freeze({ kind: 'mail', recipient: to, render, deliver });
}

/** Returns what the server says to the message. Errors: those of nodemailer. */
async function conversation(
  connection: SMTPConnection,
  envelope: { readonly from: string; readonly to: string[] },
  body: Readable,
  login: MailOptions['login'],
): Promise<string> {
  const broken = Promise.withResolvers<never>();
  broken.promise.catch(() => {});
  connection.on('error', broken.reject);
  connection.once('end', () => broken.reject(new Error('ended')));
  const step = <T>(act: (done: (error?: Error | null, result?: T) => void) => void): Promise<T> =>
    Promise.race([
      broken.promise,
      new Promise<T>((resolve, reject) => act((error, result) => (error ? reject(error) : resolve(result as T)))),
    ]);
  await step<void>((done) => connection.connect(() => done()));
  if (login !== undefined)
    await step<unknown>((done) => connection.login({ credentials: { user: login.user, pass: login.password.use() } }, done)); // biome-ignore format: one line
  const { response } = await step<{ readonly response: string }>((done) =>
    connection.send(envelope, body, done as never),
  );
  return response;
}
