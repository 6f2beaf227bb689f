import type { Mail } from './port.ts';

/** The domain of `Tallygate <no-reply@example.com>` or `no-reply@example.com`. */
const domainOf = (from: string): string => /@([^@>\s]+)>?\s*$/.exec(from)?.[1] ?? 'localhost';

/** A mail as nodemailer takes it; the same for every way of sending. */
export const toMessage = ({ id, to, subject, text, html, unsubscribeUrl, returnPath, replyTo }: Mail, from: string) => ({
  from,
  // As an object, so that nothing in the address is read as a display name or as a second recipient.
  to: { name: '', address: to },
  // The envelope is what mail servers go by; the header From is what people see.
  ...(returnPath !== undefined && { envelope: { from: returnPath, to } }),
  ...(replyTo !== undefined && { replyTo: { name: '', address: replyTo } }),
  subject,
  text,
  html,
  messageId: `<${id}@${domainOf(from)}>`,
  // RFC 3834: nobody's holiday notice should answer this.
  headers: {
    'Auto-Submitted': 'auto-generated',
    ...(unsubscribeUrl !== undefined && {
      'List-Unsubscribe': { prepared: true, foldLines: true, value: `<${unsubscribeUrl}>` },
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    }),
  },
  // A template only ever carries text: it can name neither a file of this machine nor an address to fetch.
  disableFileAccess: true,
  disableUrlAccess: true,
});
