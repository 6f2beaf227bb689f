import { hash } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { PROMISED_HEAD } from '@tallygate/receipts';
import { LOGGED_WITHIN_S } from '../log/policy.ts';

/** What is promised of a receipt before there is one. */
export interface Promised {
  readonly receiptId: string;
  /** Hex. */
  readonly requestSha256: string;
  readonly model: string;
  /** Nano-USD: what was held. */
  readonly worstCost: bigint;
  /** Whether its settlement is in the journal by now. What is still under way takes as long as it takes. */
  readonly isSettled: boolean;
  /** Of the answer; those of {@link PROMISED_HEAD} count. */
  readonly head: OutgoingHttpHeaders;
}

/** A stream, or an answer that is read on for its bill, is settled when it has ended: a day is longer than any. */
const LONGEST_ANSWER_S = 86_400;
/** Of models of which promises are made in the same seconds. */
const MOST_FORMS = 64;
const SHA256 = '0'.repeat(64);
const UUID = '0'.repeat(36);
const HEAD_AT = '{"head_sha256":"'.length;
/** An amount, and what ends the payload. */
const END_BYTES = 48;
const [REQUEST_ID, RECEIPT_ID, MODEL_SERVED, PROVIDER, FALLBACK] = PROMISED_HEAD;

/** A payload of a second and a model, in which the rest has its places. */
interface Form {
  readonly second: number;
  readonly bytes: Buffer;
  readonly receiptIdAt: number;
  readonly requestSha256At: number;
  readonly worstCostAt: number;
}

/**
 * Writes payloads of promises: canonical JSON (RFC 8785), the members in order, and no text in them but the model's name that could need an escape.
 * Of what the promises of a second have in common a form is kept, into which the rest is written: a third of a microsecond less than to put it
 * together.
 */
export class PromiseText {
  readonly #settled = new Map<string, Form>();
  readonly #underWay = new Map<string, Form>();
  #served: OutgoingHttpHeaders = {};
  #servedLines = '';

  /** The payload in base64url. @param second since 1970 */
  payload({ receiptId, requestSha256, model, worstCost, isSettled, head }: Promised, second: number): string {
    const { bytes, receiptIdAt, requestSha256At, worstCostAt } = this.#formOf(model, isSettled, second);
    bytes.write(hash('sha256', this.#headLines(head), 'hex'), HEAD_AT, 'latin1');
    bytes.write(receiptId, receiptIdAt, 'latin1');
    bytes.write(requestSha256, requestSha256At, 'latin1');
    return bytes.toString('base64url', 0, worstCostAt + bytes.write(`${worstCost}"}`, worstCostAt, 'latin1'));
  }

  #formOf(model: string, isSettled: boolean, second: number): Form {
    const forms = isSettled ? this.#settled : this.#underWay;
    const kept = forms.get(model);
    if (kept?.second === second) return kept;
    if (forms.size >= MOST_FORMS) forms.clear();
    const form = formOf(model, second, second + (isSettled ? 0 : LONGEST_ANSWER_S) + LOGGED_WITHIN_S);
    forms.set(model, form);
    return form;
  }

  #headLines(head: OutgoingHttpHeaders): string {
    return lineOf(head, REQUEST_ID) + lineOf(head, RECEIPT_ID) + this.#linesOfServed(head);
  }

  #linesOfServed(head: OutgoingHttpHeaders): string {
    const served = this.#served;
    if (head[MODEL_SERVED] !== served[MODEL_SERVED] || head[PROVIDER] !== served[PROVIDER] || head[FALLBACK] !== served[FALLBACK]) {
      this.#served = { [MODEL_SERVED]: head[MODEL_SERVED], [PROVIDER]: head[PROVIDER], [FALLBACK]: head[FALLBACK] };
      this.#servedLines = lineOf(head, MODEL_SERVED) + lineOf(head, PROVIDER) + lineOf(head, FALLBACK);
    }
    return this.#servedLines;
  }
}

function formOf(model: string, second: number, loggedBy: number): Form {
  const parts = [
    `{"head_sha256":"${SHA256}","iat":${second},"logged_by":${loggedBy},"model":${JSON.stringify(model)},"receipt_id":"`,
    `${UUID}","request_sha256":"`,
    `${SHA256}","worst_cost_nano_usd":"`,
  ];
  const [receiptIdAt = 0, toRequest = 0, toCost = 0] = parts.map((part) => Buffer.byteLength(part));
  return {
    second,
    bytes: Buffer.from(parts.join('') + ' '.repeat(END_BYTES)),
    receiptIdAt,
    requestSha256At: receiptIdAt + toRequest,
    worstCostAt: receiptIdAt + toRequest + toCost,
  };
}

const lineOf = (head: OutgoingHttpHeaders, name: string): string => (head[name] === undefined ? '' : `${name}: ${head[name]}\n`);
