import type { WebhookEvent } from '@tallygate/contract';
import { rfc3339 } from '../kernel/clock.ts';
import type { RowOf } from '../kernel/statements.ts';
import type { WebhookMessage } from './entities.ts';

export type MessageRow = Pick<RowOf<typeof WebhookMessage>, 'id' | 'account_id' | 'type' | 'data' | 'created_at' | 'sequence'>;

export const MESSAGE_COLUMNS = ['id', 'account_id', 'type', 'data', 'created_at', 'sequence'] as const;

/** A placed event, as it is listed and sent. `recordEvent` types what is in the row; another version of the server may have written it. */
export const eventOf = ({ id, account_id, type, data, created_at, sequence }: MessageRow): WebhookEvent =>
  ({ type, id, timestamp: rfc3339(created_at), account_id, sequence: Number(sequence), data }) as WebhookEvent;
