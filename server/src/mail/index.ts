export { createDesk, openReference, SEALED_MAIL_TOKENS, sealForMail } from './desk.ts';
export { type MailOutcome, outcomesOfMails } from './mail-outcomes.ts';
export { createOutbox, MAILS_DUE, type Outbox } from './outbox.ts';
export { queueMail, queueMails } from './queue-mail.ts';
export type { TemplateData } from './templates.ts';
