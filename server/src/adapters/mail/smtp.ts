import { createTransport } from 'nodemailer';
import { toMessage } from './message.ts';
import { MailRefused, type MailSender } from './port.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 30_000;

interface SmtpOptions {
  /** `smtp://user:password@host:587` (STARTTLS where offered) or `smtps://…:465`. */
  readonly url: string;
  /** `Tallygate <no-reply@example.com>` */
  readonly from: string;
}

/** Hands mails to an SMTP server over a few connections that are kept open. */
export function createSmtpSender({ url, from }: SmtpOptions): MailSender {
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: 2,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: IDLE_TIMEOUT_MS,
  });
  return {
    async send(mail) {
      try {
        await transport.sendMail(toMessage(mail, from));
      } catch (failure) {
        throw isRefusal(failure) ? new MailRefused(failure.message, { cause: failure }) : failure;
      }
    },
    close: async () => transport.close(),
  };
}

/**
 * RFC 5321: 5xx is for good, 4xx may pass. Only what was said of this mail counts: a 535 to the login is our setting, and waits
 * for whoever mends it.
 */
const isRefusal = (failure: unknown): failure is Error =>
  failure instanceof Error &&
  'code' in failure &&
  (failure.code === 'EENVELOPE' || failure.code === 'EMESSAGE') &&
  'responseCode' in failure &&
  typeof failure.responseCode === 'number' &&
  failure.responseCode >= 500;
