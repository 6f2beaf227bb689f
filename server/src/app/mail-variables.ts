import * as z from 'zod';

/** How mails are sent. Described in variables.ts. */
export const MAIL_VARIABLES = {
  SMTP_URL: z.url({ protocol: /^smtps?$/ }).optional(),
  MAIL_FROM: z
    .string()
    .regex(/^[^\r\n]*@[^\s@]+$/, 'Expected an address such as "Tallygate <no-reply@example.com>"')
    .default('Tallygate <no-reply@tallygate.localhost>'),
  MAIL_POSTAL_ADDRESS: z
    .string()
    .trim()
    .min(1)
    .max(300)
    .regex(/^[^\r\n]*$/, 'Expected one line')
    .optional(),
  MAIL_BOUNCE_ADDRESS: z
    .string()
    .regex(/^[\w.-]{1,15}@[\w.-]+$/, 'Expected a bare address such as "bounces@example.com", with at most 15 letters before the @')
    .optional(),
  MAIL_REPLY_TO: z.email('Expected a bare address such as "team@example.com"').optional(),
  EMAILS_PER_SECOND: z.coerce.number().min(0.1).max(10_000).default(20),
} as const;
