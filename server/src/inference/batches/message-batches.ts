import { Readable } from 'node:stream';
import type { CreateMessageBatchRequest } from '@tallygate/contract';
import type { Principal } from '../../http/index.ts';
import { invalidInput } from '../../kernel/invalid-input.ts';
import { Problem } from '../../kernel/problem.ts';
import { breather } from '../../kernel/turn.ts';
import { jsonPieces } from '../../kernel/written-json.ts';
import { type Files, type Owner, ownerOf } from '../files/index.ts';
import type { Batches, NewBatch } from './batches.ts';
import { linesOf } from './jsonl.ts';
import { resultOf, unbegunResultOf } from './message-results.ts';
import type { StoredBatch } from './stored-batch.ts';

const ENDPOINT = '/v1/messages';
/** Longer than any line that we write. */
const MOST_LINE_BYTES = 128 * 1024 * 1024;

interface MessageBatchesDeps {
  readonly batches: Batches;
  readonly files: Pick<Files, 'create' | 'open' | 'delete'>;
}

/** A batch, with what became of the requests that were not begun. */
export interface MessageBatchState {
  readonly batch: StoredBatch;
  readonly canceled: number;
  readonly expired: number;
}

interface Page {
  readonly states: readonly MessageBatchState[];
  readonly hasMore: boolean;
}

/** Batches of messages by Anthropic's names: batches whose lines ask for `/v1/messages`. Any other is missing, exactly as somebody else's. */
export class MessageBatches {
  readonly #deps: MessageBatchesDeps;

  constructor(deps: MessageBatchesDeps) {
    this.#deps = deps;
  }

  /** @throws Problem as {@link Batches.create}; `validation_failed` where requests cannot be told apart */
  async create(principal: Principal, { requests }: CreateMessageBatchRequest, run: NewBatch['run']): Promise<MessageBatchState> {
    const { batches, files } = this.#deps;
    requireOwnNames(requests);
    const input = { purpose: 'batch' as const, filename: 'requests.jsonl', contentType: 'application/jsonl' };
    const file = await files.create(ownerOf(principal), input, writtenLines(requests));
    const begun = await batches
      .create(principal, { input_file_id: file.id, endpoint: ENDPOINT, completion_window: '24h', run })
      .catch(async (refusal: unknown) => {
        await files.delete(ownerOf(principal), file.id);
        throw refusal;
      });
    if (begun.status !== 'failed') return withoutUnbegun(begun);
    await this.delete(ownerOf(principal), begun.id);
    throw faultsOf(begun);
  }

  /** @throws Problem `not_found` */
  async get(owner: Owner, batchId: string): Promise<MessageBatchState> {
    return this.#stateOf(owner, await this.#find(owner, batchId));
  }

  async list(owner: Owner, query: { after?: string | undefined; before?: string | undefined; limit: number }): Promise<Page> {
    const { batches, hasMore } = await this.#deps.batches.list(owner, { ...query, endpoint: ENDPOINT });
    const states: MessageBatchState[] = [];
    for (const batch of batches) states.push(await this.#stateOf(owner, batch));
    return { states, hasMore };
  }

  /** @throws Problem `not_found`, `conflict` */
  async cancel(owner: Owner, batchId: string): Promise<MessageBatchState> {
    const { id } = await this.#find(owner, batchId);
    return withoutUnbegun(await this.#deps.batches.cancel(owner, id));
  }

  /** @throws Problem `not_found`, `conflict` */
  async delete(owner: Owner, batchId: string): Promise<void> {
    const batch = await this.#find(owner, batchId);
    await this.#deps.batches.delete(owner, batch.id);
    for (const fileId of [batch.inputFileId, batch.outputFileId, batch.errorFileId])
      if (fileId !== null) await this.#deps.files.delete(owner, fileId).catch(unlessMissing);
  }

  /** The results, a line each. @throws Problem `not_found`, also where they were deleted as files; `conflict` */
  async results(owner: Owner, batchId: string): Promise<Readable> {
    const batch = await this.#find(owner, batchId);
    if (!isEnded(batch)) throw new Problem('conflict', `The batch is ${batch.status}: its results are there once it has ended.`);
    const isUnbegun = batch.status === 'failed';
    const fileIds = isUnbegun ? [batch.inputFileId] : [batch.outputFileId, batch.errorFileId].filter((fileId) => fileId !== null);
    // All of them before the first byte: an answer that has begun can say nothing any more.
    const files = await Promise.all(fileIds.map((fileId) => this.#deps.files.open(owner, fileId)));
    const written = (line: string) => lineOf(isUnbegun ? unbegunResultOf(line, batch.errors ?? []) : resultOf(line));
    return Readable.from(linesAs(files, written), { objectMode: false });
  }

  async #find(owner: Owner, batchId: string): Promise<StoredBatch> {
    const batch = await this.#deps.batches.get(owner, batchId);
    if (batch.endpoint !== ENDPOINT) throw new Problem('not_found', 'There is no such batch.', { param: 'message_batch_id' });
    return batch;
  }

  /** Only a batch that ended early has requests that were not begun: they are in its error file, among those that failed. */
  async #stateOf(owner: Owner, batch: StoredBatch): Promise<MessageBatchState> {
    const isEarly = batch.status === 'cancelled' || batch.status === 'expired';
    if (!isEarly || batch.errorFileId === null) return withoutUnbegun(batch);
    let [canceled, expired] = [0, 0];
    const file = await this.#deps.files.open(owner, batch.errorFileId).catch(orDeleted);
    if (!file) return withoutUnbegun(batch);
    for await (const line of linesIn(file)) {
      const { type } = resultOf(line).result;
      if (type === 'canceled') canceled += 1;
      if (type === 'expired') expired += 1;
    }
    return { batch, canceled, expired };
  }
}

type OpenedFile = Awaited<ReturnType<Files['open']>>;

async function* linesIn({ read }: OpenedFile): AsyncGenerator<string> {
  for await (const { bytes } of linesOf(await read(), MOST_LINE_BYTES)) if (bytes !== null) yield bytes.toString('utf8');
}

async function* linesAs(files: readonly OpenedFile[], written: (line: string) => AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for (const file of files) for await (const line of linesIn(file)) yield* written(line);
}

/** Its owner may delete a file of a batch; the batch is there all the same. */
function orDeleted(error: unknown): undefined {
  if (error instanceof Problem && error.code === 'not_found') return undefined;
  throw error;
}

const withoutUnbegun = (batch: StoredBatch): MessageBatchState => ({ batch, canceled: 0, expired: 0 });

export const isEnded = ({ status }: StoredBatch): boolean => ['completed', 'failed', 'expired', 'cancelled'].includes(status);

const LINE_END = Buffer.from('\n');

async function* lineOf(value: object): AsyncGenerator<Buffer> {
  for await (const piece of jsonPieces(value)) yield Buffer.from(piece);
  yield LINE_END;
}

async function* writtenLines(requests: CreateMessageBatchRequest['requests']): AsyncGenerator<Buffer> {
  const rest = breather();
  for (const { custom_id, params: body } of requests) {
    yield* lineOf({ custom_id, method: 'POST', url: ENDPOINT, body });
    await rest();
  }
}

function requireOwnNames(requests: CreateMessageBatchRequest['requests']): void {
  const names = new Set<string>();
  for (const [index, { custom_id }] of requests.entries()) {
    if (names.has(custom_id))
      throw invalidInput([{ loc: ['body', 'requests', index, 'custom_id'], msg: 'is that of an earlier request', type: 'invalid' }]);
    names.add(custom_id);
  }
}

/** Of requests that cannot be told apart: `custom_id` of line 3 is `requests[2].custom_id`. */
const faultsOf = ({ errors }: StoredBatch): Problem =>
  invalidInput(
    (errors ?? []).map(({ message, param, line, code }) => ({
      loc: ['body', 'requests', ...(line === null ? [] : [line - 1]), ...(param === null ? [] : [param])],
      msg: message,
      type: code,
    })),
  );

function unlessMissing(thrown: unknown): void {
  if (!(thrown instanceof Problem && thrown.code === 'not_found')) throw thrown;
}
