import { type Verification, verifyReceipt, verifyReceiptText } from '@tallygate/receipts';
import type { LogConsistencyResponse, ReceiptList, ReceiptListItem, ReceiptResponse, VaasKeySet } from './generated/models.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import { CursorCall } from './transport/cursor-call.ts';
import { pathStep } from './transport/path.ts';
import type { Transport } from './transport/transport.ts';

interface Mode {
  /** Live or test receipts. Default: the mode of the API key that asks; live for sessions. */
  readonly livemode?: boolean | undefined;
}

/** Which receipts: at most `limit` after the one with the id `after`. */
export interface ReceiptQuery extends Mode {
  /** Of the requests, `YYYY-MM`, UTC. */
  readonly month?: string | undefined;
  readonly kind?: ReceiptListItem['kind'] | undefined;
  /** The model that answered. */
  readonly model?: string | undefined;
  readonly run_id?: string | undefined;
  readonly key_id?: string | undefined;
  /** Only what stands in the log after this entry, in its order: for a client that follows the log. */
  readonly logged_after?: number | undefined;
  readonly after?: string | undefined;
  /** 1 to 100; default 20. */
  readonly limit?: number | undefined;
}

/** `tallygate.receipts`: signed proof of what was served and what it cost. Reading them needs no credential. */
export class Receipts {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The account's receipts, newest request first: the page that was asked for, or all from there on with `for await`. Needs a credential. */
  list(query: ReceiptQuery = {}, options?: CallOptions): CursorCall<ReceiptList, ReceiptListItem> {
    const fetchPage = (after: string | undefined) =>
      this.#transport.json<ReceiptList>({ method: 'GET', path: '/v1/receipts', query: { ...query, after } }, options).withResponse();
    return new CursorCall(fetchPage(query.after), fetchPage);
  }

  /**
   * All receipts of the account of a month with their proofs, lines of JSON in one stream that `verifyExport` of `@tallygate/receipts` checks
   * offline. Needs a credential.
   */
  export(which: { month: string } & Mode, options?: CallOptions): Call<Response> {
    return this.#transport.download({ method: 'GET', path: '/v1/receipts/export', query: { ...which } }, options);
  }

  /** A receipt exists a moment after its answer has ended; until then this throws `NotFoundError`. */
  get(receiptId: string, options?: CallOptions): Call<ReceiptResponse> {
    return this.#transport.json({ method: 'GET', path: `/v1/receipts/${pathStep(receiptId)}` }, options);
  }

  /**
   * Proof that the receipt is in the log, a `.tlog-proof` file: `await (await receipts.proof(id)).text()`. It exists seconds after the answer;
   * until then this throws `NotFoundError`. `checkTlogProof` of `@tallygate/receipts` checks it.
   */
  proof(receiptId: string, options?: CallOptions): Call<Response> {
    return this.#transport.download({ method: 'GET', path: `/v1/receipts/${pathStep(receiptId)}/proof` }, options);
  }

  /** The newest state of the log, a signed note: `await (await receipts.checkpoint()).text()`. */
  checkpoint(options?: CallOptions): Call<Response> {
    return this.#transport.download({ method: 'GET', path: '/v1/log/checkpoint' }, options);
  }

  /** Hashes of the log, 32 bytes each: `tile('tile/0/000')`. `tilePath` of `@tallygate/receipts` names a tile, `rangesFromTiles` makes proofs of them. */
  tile(path: string, options?: CallOptions): Call<Response> {
    return this.#transport.download({ method: 'GET', path: `/v1/log/${path.split('/').map(pathStep).join('/')}` }, options);
  }

  /** Proof that the log of one size is the beginning of the log of another, for a client that has kept a checkpoint. */
  consistency(sizes: { from: number; to: number }, options?: CallOptions): Call<LogConsistencyResponse> {
    return this.#transport.json({ method: 'GET', path: '/v1/log/consistency', query: sizes }, options);
  }

  /** The public keys that sign receipts and their log. Keep a copy: with it, receipts verify without the service. */
  keys(options?: CallOptions): Call<VaasKeySet> {
    return this.#transport.json({ method: 'GET', path: '/.well-known/vaas-keys.json' }, options);
  }

  /**
   * Checks a receipt: form, digest, signature, and that the cost follows from usage and prices. A receipt that is not valid is a
   * result, not an exception. Text is checked more strictly than an object can be: it shows members that JSON.parse would hide.
   * @param keys left out, they are fetched, and the answer is as good as the connection to the service
   */
  async verify(receipt: ReceiptResponse | string, keys?: VaasKeySet, options?: CallOptions): Promise<Verification> {
    const keySet = keys ?? (await this.keys(options));
    return typeof receipt === 'string' ? verifyReceiptText(receipt, keySet) : verifyReceipt(receipt, keySet);
  }
}
