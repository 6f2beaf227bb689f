import { type Verification, verifyReceipt, verifyReceiptText } from '@tallygate/receipts';
import type { ReceiptResponse, VaasKeySet } from './generated/models.ts';
import { Receipts as Generated } from './generated/resources.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import { pathStep } from './transport/path.ts';

interface Mode {
  /** Live or test receipts. Default: the mode of the API key that asks; live for sessions. */
  readonly livemode?: boolean | undefined;
}

/** `tallygate.receipts`: signed proof of what was served and what it cost. Reading them needs no credential. */
export class Receipts extends Generated {
  /**
   * All receipts of the account of a month with their proofs, lines of JSON in one stream that `verifyExport` of `@tallygate/receipts` checks
   * offline. Needs a credential.
   */
  export(which: { month: string } & Mode, options?: CallOptions): Call<Response> {
    return this.transport.download({ method: 'GET', path: '/v1/receipts/export', query: { ...which } }, options);
  }

  /**
   * Proof that the receipt is in the log, a `.tlog-proof` file: `await (await receipts.proof(id)).text()`. It exists seconds after the answer;
   * until then this throws `NotFoundError`. `checkTlogProof` of `@tallygate/receipts` checks it.
   */
  proof(receiptId: string, options?: CallOptions): Call<Response> {
    return this.transport.download({ method: 'GET', path: `/v1/receipts/${pathStep(receiptId)}/proof` }, options);
  }

  /** The newest state of the log, a signed note: `await (await receipts.checkpoint()).text()`. */
  checkpoint(options?: CallOptions): Call<Response> {
    return this.transport.download({ method: 'GET', path: '/v1/log/checkpoint' }, options);
  }

  /** Hashes of the log, 32 bytes each: `tile('tile/0/000')`. `tilePath` of `@tallygate/receipts` names a tile, `rangesFromTiles` makes proofs of them. */
  tile(path: string, options?: CallOptions): Call<Response> {
    return this.transport.download({ method: 'GET', path: `/v1/log/${path.split('/').map(pathStep).join('/')}` }, options);
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
