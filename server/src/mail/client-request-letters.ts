import * as z from 'zod';
import type { Letter } from './letter.ts';
import { readableTime } from './readable-time.ts';

export const ClientRequestReceived = z.object({ request_id: z.string(), type: z.string() });

/** Has no text of the sender: the address may belong to anybody. */
export const composeClientRequestReceived = ({ request_id, type }: z.infer<typeof ClientRequestReceived>): Letter => ({
  subject: 'We have your request',
  preview: 'Somebody will get back to you.',
  paragraphs: ['Thank you for writing to us. Your request has arrived, and somebody will get back to you at this address.'],
  facts: [
    ['About', type],
    ['Reference', request_id],
  ],
  footnote: 'If you did not write to us, somebody typed your address into our form: you need do nothing.',
});

export const ClientRequestNotice = z.object({
  request_id: z.string(),
  type: z.string(),
  name: z.string(),
  email: z.string(),
  company: z.string().nullable(),
  message: z.string(),
  received_at: z.string(),
});

export const composeClientRequestNotice = (told: z.infer<typeof ClientRequestNotice>): Letter => ({
  subject: `New request: ${told.type}`,
  preview: `From ${told.name}.`,
  replyTo: told.email,
  paragraphs: told.message.split(/\n\s*\n/),
  facts: [
    ['From', told.name],
    ['E-mail', told.email],
    ...(told.company === null ? [] : [['Company', told.company] as const]),
    ['Received', readableTime(told.received_at)],
    ['Reference', told.request_id],
  ],
  footnote: 'You get this mail because you take care of requests. Who wrote it is not proven.',
});
