import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createTransport } from 'nodemailer';
import { toMessage } from './message.ts';
import { MailDeferred, MailRefused, type MailSender } from './port.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 30_000;

interface SmtpOptions {
  /** `smtp://user:password@host:587` (STARTTLS where offered) or `smtps://…:465`. */
  readonly url: string;
  /** `Tallygate <no-reply@example.com>` */
  readonly from: string;
  /** How many mails may be on their way at the same time. Default: 2. */
  readonly connections?: number;
}

/** Hands mails to an SMTP server over a few connections that are kept open. */
export function createSmtpSender({ url, from, connections = 2 }: SmtpOptions): MailSender {
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: connections,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: IDLE_TIMEOUT_MS,
  });
  const gates = new Map<string, () => Promise<void>>();
  transport.use('stream', (mail, done) => {
    const beforeHandover = gates.get(String(mail.data.messageId));
    if (beforeHandover) mail.message.processFunc((input) => gated(input, beforeHandover));
    done();
  });
  return {
    async send(mail, beforeHandover) {
      const message = toMessage(mail, from);
      if (beforeHandover) gates.set(message.messageId, beforeHandover);
      try {
        await transport.sendMail(message);
      } catch (failure) {
        throw meaningOf(failure);
      } finally {
        gates.delete(message.messageId);
      }
    },
    close: async () => transport.close(),
  };
}

/** Read once the mail server has asked for the text (354). Before its end is written, the final dot, the server has no mail: RFC 5321, 4.1.1.4. */
const gated = (input: Readable, beforeHandover: () => Promise<void>): Readable =>
  Readable.from(
    (async function* () {
      yield await buffer(input);
      await beforeHandover();
    })(),
    { objectMode: false },
  );

/**
 * RFC 5321: 5xx is permanent, 4xx may pass. Only what was said of this mail counts: a 535 to the login is our setting, and waits
 * for whoever mends it.
 */
function meaningOf(failure: unknown): unknown {
  if (!(failure instanceof Error && 'responseCode' in failure && typeof failure.responseCode === 'number' && 'code' in failure))
    return failure;
  if (failure.code !== 'EENVELOPE' && failure.code !== 'EMESSAGE') return failure;
  if (failure.responseCode < 500) return new MailDeferred(failure.message, { cause: failure });
  const isOfRecipient = 'command' in failure && failure.command === 'RCPT TO';
  return new MailRefused(failure.message, { cause: failure, of: isOfRecipient ? 'recipient' : 'mail' });
}
