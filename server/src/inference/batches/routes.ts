import type { Batch, contract } from '@tallygate/contract';
import type { Handlers } from '../../http/index.ts';
import { type AnchorAnswer, type InferenceHeaders, parseInferenceHeaders } from '../calls/index.ts';
import { listerOf, readerOf } from '../files/index.ts';
import type { Batches } from './batches.ts';
import type { StoredBatch } from './stored-batch.ts';

export const batchRoutes = (batches: Batches, { anchorAnswer }: { anchorAnswer: AnchorAnswer }): Handlers<typeof contract.batches> => ({
  create: async ({ principal, headers, body, setHeader }) => {
    const run = runOfOrder(headers);
    const batch = await batches.create(principal, { ...body, run });
    if (run.anchorWished) setHeader('x-vaas-anchor', anchorAnswer);
    return { status: 200, body: batchToWire(batch) };
  },
  list: async ({ principal, query: { livemode, ...wanted } }) => {
    const page = await batches.list(listerOf(principal, livemode), wanted);
    const data = page.batches.map(batchToWire);
    const ends = { first_id: data.at(0)?.id ?? '', last_id: data.at(-1)?.id ?? '' };
    return { status: 200, body: { object: 'list', data, ...ends, has_more: page.hasMore } };
  },
  get: async ({ principal, params }) => ({ status: 200, body: batchToWire(await batches.get(readerOf(principal), params.batch_id)) }),
  cancel: async ({ principal, params }) => ({ status: 200, body: batchToWire(await batches.cancel(readerOf(principal), params.batch_id)) }),
});

/** What the headers of an order say of the agent run of its lines, and of their receipts. */
export function runOfOrder(headers: object): InferenceHeaders {
  const ofLines = ([name, value]: [string, unknown]) => (name.startsWith('x-agent-') || name === 'x-vaas-anchor') && value !== undefined;
  return parseInferenceHeaders(Object.fromEntries(Object.entries(headers).filter(ofLines)));
}

const unixSeconds = (at: Date): number => Math.floor(at.getTime() / 1000);
const momentOf = (at: Date | null): number | undefined => (at === null ? undefined : unixSeconds(at));

/** What it does not have yet is left out, as OpenAI's document has it. */
const batchToWire = (batch: StoredBatch): Batch => ({
  id: batch.id,
  object: 'batch',
  endpoint: batch.endpoint,
  model: batch.model ?? undefined,
  errors: batch.errors ? { object: 'list', data: [...batch.errors] } : undefined,
  input_file_id: batch.inputFileId,
  completion_window: '24h',
  status: batch.status,
  output_file_id: batch.outputFileId ?? undefined,
  error_file_id: batch.errorFileId ?? undefined,
  created_at: unixSeconds(batch.createdAt),
  in_progress_at: momentOf(batch.moments.in_progress),
  expires_at: unixSeconds(batch.expiresAt),
  finalizing_at: momentOf(batch.moments.finalizing),
  completed_at: momentOf(batch.moments.completed),
  failed_at: momentOf(batch.moments.failed),
  expired_at: momentOf(batch.moments.expired),
  cancelling_at: momentOf(batch.moments.cancelling),
  cancelled_at: momentOf(batch.moments.cancelled),
  request_counts: { total: batch.total, completed: batch.completed, failed: batch.failed },
  usage: batch.moments.in_progress === null ? undefined : batch.usage,
  metadata: batch.metadata,
});
