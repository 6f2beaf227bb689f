import type { Batch, CreateBatchRequest } from './generated/models.ts';
import { Batches as Generated } from './generated/resources.ts';
import type { Call } from './transport/call.ts';
import { type CallOptions, type InferenceOptions, inferenceHeaders } from './transport/call-options.ts';
import { sleep } from './transport/deadline.ts';

/** What creating a batch takes beside its input: its lines may be steps of an agent run. */
export type BatchOptions = CallOptions & Pick<InferenceOptions, 'agentRun'>;

export interface WaitOptions extends CallOptions {
  /** How long to wait before asking again, milliseconds. Default: 5,000. */
  readonly pollMs?: number | undefined;
  /** Called with the batch every time. */
  readonly onProgress?: ((batch: Batch) => void) | undefined;
}

const POLL_MS = 5_000;
const OVER: ReadonlySet<Batch['status']> = new Set(['completed', 'failed', 'expired', 'cancelled'] as const);

/** `tallygate.batches`: many requests in one file, answered within a day at half the price. */
export class Batches extends Generated {
  /** Creates a batch of an input file. Its worst case is held at once: what does not fit is refused. */
  create(request: CreateBatchRequest, options: BatchOptions = {}): Call<Batch> {
    const { agentRun, ...call } = options;
    const headers = { ...(agentRun && inferenceHeaders({ agentRun })), ...call.headers };
    return this.transport.json({ method: 'POST', path: '/v1/batches', body: request, isOnce: true }, { ...call, headers });
  }

  /** Asks now and then until the batch is over: `completed`, `failed`, `expired` or `cancelled`. */
  async wait(batchId: string, { pollMs = POLL_MS, onProgress, ...options }: WaitOptions = {}): Promise<Batch> {
    for (;;) {
      const batch = await this.get(batchId, options);
      onProgress?.(batch);
      if (OVER.has(batch.status)) return batch;
      await sleep(pollMs, options.signal);
    }
  }
}
