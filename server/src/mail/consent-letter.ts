import * as z from 'zod';
import type { Letter } from './letter.ts';

export const ConfirmConsent = z.object({
  /** The subject of the link. */
  reference: z.string(),
  source: z.enum(['user', 'registration', 'client_request']),
});

const WHERE = {
  user: 'when an account was made with it',
  registration: 'when it was registered for an event',
  client_request: 'in a message to us',
} as const;

/** Has no advertising and no text of the form: it may go to a person who does not know us. */
export const composeConfirmConsent = ({ source }: z.infer<typeof ConfirmConsent>, confirmUrl: string): Letter => ({
  subject: 'Do you want news from us by mail?',
  preview: 'It was asked for with your address. Only your answer counts.',
  paragraphs: [`News by mail was asked for with your address ${WHERE[source]}. If that was you, confirm it within seven days.`],
  action: { label: 'Yes, send me news', url: confirmUrl },
  footnote: 'If it was not you, do nothing: without your answer no news will come.',
});
