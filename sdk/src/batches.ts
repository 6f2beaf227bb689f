import type { Batch, BatchList, CreateBatchRequest } from './generated/models.ts';
import type { Call } from './transport/call.ts';
import { type CallOptions, type InferenceOptions, inferenceHeaders } from './transport/call-options.ts';
import { CursorCall } from './transport/cursor-call.ts';
import { sleep } from './transport/deadline.ts';
import { pathStep } from './transport/path.ts';
import type { Transport } from './transport/transport.ts';

/** Which batches: at most `limit` after the one with the id `after`. */
export interface BatchQuery {
  readonly after?: string | undefined;
  /** 1 to 100; default 20. */
  readonly limit?: number | undefined;
}

/** What creating a batch takes beside its input: its lines may be steps of an agent run. */
export type BatchOptions = CallOptions & Pick<InferenceOptions, 'agentRun'>;

export interface WaitOptions extends CallOptions {
  /** How long to wait before asking again, milliseconds. Default: 5,000. */
  readonly pollMs?: number | undefined;
  /** Told of the batch every time. */
  readonly onProgress?: ((batch: Batch) => void) | undefined;
}

const POLL_MS = 5_000;
const OVER: ReadonlySet<Batch['status']> = new Set(['completed', 'failed', 'expired', 'cancelled'] as const);

/** `tallygate.batches`: many requests in one file, answered within a day at half the price. */
export class Batches {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Creates a batch of an input file. Its worst case is held at once: what does not fit is refused. */
  create(request: CreateBatchRequest, options: BatchOptions = {}): Call<Batch> {
    const { agentRun, ...call } = options;
    const headers = { ...(agentRun && inferenceHeaders({ agentRun })), ...call.headers };
    return this.#transport.json({ method: 'POST', path: '/v1/batches', body: request, isOnce: true }, { ...call, headers });
  }

  /** The account's batches, newest first: the page that was asked for, or all from there on with `for await`. */
  list(query: BatchQuery = {}, options?: CallOptions): CursorCall<BatchList, Batch> {
    const fetchPage = (after: string | undefined) =>
      this.#transport.json<BatchList>({ method: 'GET', path: '/v1/batches', query: { ...query, after } }, options).withResponse();
    return new CursorCall(fetchPage(query.after), fetchPage);
  }

  /** How far a batch is. */
  get(batchId: string, options?: CallOptions): Call<Batch> {
    return this.#transport.json({ method: 'GET', path: batchPath(batchId) }, options);
  }

  /** Begins no further line; what is answered will be in the output file. */
  cancel(batchId: string, options?: CallOptions): Call<Batch> {
    return this.#transport.json({ method: 'POST', path: `${batchPath(batchId)}/cancel` }, options);
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

const batchPath = (batchId: string): string => `/v1/batches/${pathStep(batchId)}`;
