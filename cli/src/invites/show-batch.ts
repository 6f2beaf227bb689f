import type { MarketingInviteBatchResponse } from '@tallygate/sdk';
import type { CommandWorld } from '../command.ts';
import { type Column, printRecord } from '../print.ts';

type Batch = MarketingInviteBatchResponse;

/** What an activation gives, in words. */
export const giftText = ({ grants: { plan_id, trial_days, credit_usd } }: Batch): string =>
  [plan_id !== null && `${plan_id} for ${trial_days} days`, credit_usd !== '0' && `${credit_usd} USD`].filter(Boolean).join(', ') ||
  'an account';

const LINES: readonly Column<Batch>[] = [
  { title: 'id', of: ({ batch_id }) => batch_id },
  { title: 'name', of: ({ name }) => name },
  { title: 'status', of: ({ status }) => status },
  { title: 'gives', of: giftText },
  {
    title: 'mails',
    of: ({ counts }) =>
      `${counts.sent} of ${counts.total} sent, ${counts.unconfirmed} unconfirmed, ${counts.failed} failed, ${counts.suppressed} suppressed`,
  },
  { title: 'activations', of: ({ counts }) => counts.activations },
  { title: 'open until', of: ({ expires_at }) => expires_at },
];

export const showBatch = (world: CommandWorld, batch: Batch): void => printRecord(world, batch, LINES);
