import type { contract, MessageBatch } from '@tallygate/contract';
import type { Handlers } from '../../http/index.ts';
import { rfc3339 } from '../../kernel/clock.ts';
import type { AnchorAnswer } from '../calls/index.ts';
import { ownerOf } from '../files/index.ts';
import { isEnded, type MessageBatches, type MessageBatchState } from './message-batches.ts';
import { runOfOrder } from './routes.ts';
import type { StoredBatch } from './stored-batch.ts';

interface Shown {
  readonly anchorAnswer: AnchorAnswer;
  readonly publicUrl: () => string;
}

export const messageBatchRoutes = (
  batches: MessageBatches,
  { anchorAnswer, publicUrl }: Shown,
): Handlers<typeof contract.messageBatches> => {
  const shown = (state: MessageBatchState) => toWire(state, publicUrl());
  return {
    create: async ({ principal, headers, body, setHeader }) => {
      const run = runOfOrder(headers);
      const state = await batches.create(principal, body, run);
      if (run.anchorWished) setHeader('x-vaas-anchor', anchorAnswer);
      return { status: 200, body: shown(state) };
    },
    list: async ({ principal, query: { after_id, before_id, limit } }) => {
      const own = (id: string | undefined) => (id === undefined ? undefined : ownIdOf(id));
      const page = await batches.list(ownerOf(principal), { after: own(after_id), before: own(before_id), limit });
      const data = page.states.map(shown);
      return {
        status: 200,
        body: { data, has_more: page.hasMore, first_id: data.at(0)?.id ?? null, last_id: data.at(-1)?.id ?? null },
      };
    },
    get: async ({ principal, params }) => ({
      status: 200,
      body: shown(await batches.get(ownerOf(principal), ownIdOf(params.message_batch_id))),
    }),
    cancel: async ({ principal, params }) => ({
      status: 200,
      body: shown(await batches.cancel(ownerOf(principal), ownIdOf(params.message_batch_id))),
    }),
    delete: async ({ principal, params }) => {
      await batches.delete(ownerOf(principal), ownIdOf(params.message_batch_id));
      return { status: 200, body: { id: params.message_batch_id, type: 'message_batch_deleted' } };
    },
  };
};

/** Anthropic's clients look for the prefix. What has another is the id of nothing. */
export const ownIdOf = (id: string): string => (id.startsWith('msgbatch_') ? id.replace('msgbatch_', 'batch_') : '');
const shownIdOf = ({ id }: StoredBatch): string => id.replace('batch_', 'msgbatch_');

const momentOf = (at: Date | null): string | null => at && rfc3339(at.getTime());

function toWire({ batch, canceled, expired }: MessageBatchState, publicUrl: string): MessageBatch {
  const { moments, total, completed, failed, status } = batch;
  const isOver = isEnded(batch);
  const id = shownIdOf(batch);
  return {
    id,
    type: 'message_batch',
    processing_status: isOver ? 'ended' : status === 'cancelling' ? 'canceling' : 'in_progress',
    request_counts: {
      processing: isOver ? 0 : total - completed - failed,
      succeeded: completed,
      errored: status === 'failed' ? total : failed - canceled - expired,
      ...{ canceled, expired },
    },
    created_at: rfc3339(batch.createdAt.getTime()),
    expires_at: rfc3339(batch.expiresAt.getTime()),
    ended_at: momentOf(moments.completed ?? moments.failed ?? moments.expired ?? moments.cancelled),
    cancel_initiated_at: momentOf(moments.cancelling),
    archived_at: null,
    results_url: isOver ? `${publicUrl}/v1/messages/batches/${id}/results` : null,
  };
}
