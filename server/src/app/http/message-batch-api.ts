import { contract } from '@tallygate/contract';
import { type MessageBatches, ownIdOf } from '../../inference/batches/index.ts';
import { ownerOf } from '../../inference/files/index.ts';
import type { Log } from '../../kernel/log.ts';
import { principalOf } from './exchange.ts';
import type { ServedRoute } from './router.ts';
import { sendBytes, transferRoute } from './transfer.ts';

interface MessageBatchApiDeps {
  readonly messageBatches: MessageBatches;
  /** How long a reader may do nothing at all. */
  readonly idleTimeoutMs: number;
  readonly log: Log;
}

/** The results of a batch of messages, line by line. */
export const messageBatchRoutesOf = ({ messageBatches, ...deps }: MessageBatchApiDeps): ServedRoute[] => [
  transferRoute(contract.messageBatchTransfers.results, async (exchange) => {
    const { req, res, params } = exchange;
    const results = await messageBatches.results(ownerOf(principalOf(exchange)), ownIdOf(params['message_batch_id'] ?? ''));
    const headers = { 'content-type': 'application/x-jsonl' };
    await sendBytes({ req, res, status: 200, headers, read: async () => results }, deps);
  }),
];
