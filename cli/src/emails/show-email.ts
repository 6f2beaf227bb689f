import type { MarketingEmailRecord } from '@tallygate/sdk';
import type { Column } from '../print.ts';

export const EMAIL_COLUMNS: readonly Column<MarketingEmailRecord>[] = [
  { title: 'id', of: ({ email_id }) => email_id },
  { title: 'state', of: ({ state }) => state },
  { title: 'sent', of: ({ progress }) => `${progress.sent}/${progress.recipients}`, align: 'right' },
  { title: 'subject', of: ({ subject }) => subject },
  { title: 'scheduled', of: ({ scheduled_at }) => scheduled_at },
];

export const EMAIL_LINES: readonly Column<MarketingEmailRecord>[] = [
  ...EMAIL_COLUMNS,
  { title: 'answers to', of: ({ reply_to }) => reply_to },
  { title: 'queued', of: ({ progress }) => String(progress.queued) },
  { title: 'unconfirmed', of: ({ progress }) => String(progress.unconfirmed) },
  { title: 'bounced', of: ({ progress }) => String(progress.bounced) },
  { title: 'rejected', of: ({ progress }) => String(progress.rejected) },
  { title: 'failed', of: ({ progress }) => String(progress.failed) },
  { title: 'suppressed', of: ({ progress }) => String(progress.suppressed) },
  { title: 'canceled', of: ({ progress }) => String(progress.canceled) },
  { title: 'finished', of: ({ finished_at }) => finished_at },
];
