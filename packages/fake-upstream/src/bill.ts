import { type Fields, isFields } from './fields.ts';
import type { Step } from './step.ts';
import type { Progress } from './wire.ts';

/** What the provider charges for one request, in the units of its price list. */
export interface Bill {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Of sound that was listened to. */
  readonly seconds: number;
  /** Of documents that were ranked. */
  readonly searchUnits: number;
}

export const NO_BILL: Bill = { inputTokens: 0, outputTokens: 0, seconds: 0, searchUnits: 0 };

const count = (value: unknown): number => (typeof value === 'number' && value > 0 ? value : 0);

const firstCount = (usage: Fields, names: readonly string[]): number => names.map((name) => count(usage[name])).find((one) => one > 0) ?? 0;

/** The bill of a whole answer, by the usage of any of the dialects. */
export function billOfUsage(usage: unknown): Bill {
  if (!isFields(usage)) return NO_BILL;
  const google = count(usage['candidatesTokenCount']) + count(usage['thoughtsTokenCount']);
  return {
    inputTokens: firstCount(usage, ['prompt_tokens', 'input_tokens', 'promptTokenCount', 'inputTokens']),
    outputTokens: firstCount(usage, ['completion_tokens', 'output_tokens', 'outputTokens']) || google,
    seconds: count(usage['seconds']),
    searchUnits: count(usage['search_units']),
  };
}

/** The usage in an answer's JSON document. */
export const usageIn = (document: object | Uint8Array): unknown => {
  const fields: Fields = Object(document);
  return fields['usage'] ?? fields['usageMetadata'] ?? Object(fields['meta'])['billed_units'];
};

/**
 * The billed part of an answer so far. A provider bills the whole answer once it has begun, also after a disconnect, unless the step
 * says `stopsBilling`; of what it breaks off itself it bills what it has sent of a stream, and nothing of a document, nor of an error, unless
 * the step says `billsAnyway`.
 */
export function billed(whole: Bill, step: Step, { hasBegun, isStream, piecesSent: pieces, leadingPieces, cut, aborted }: Progress): Bill {
  if (step.billsAnyway) return whole;
  if (!hasBegun || (step.status ?? 200) >= 400) return NO_BILL;
  // Behind its error nothing is generated, and the error is no token.
  const hasFailed = isStream && step.errorAfter !== undefined && pieces > step.errorAfter;
  const piecesSent = Math.max(0, (hasFailed ? step.errorAfter : pieces) - leadingPieces);
  const hidden = aborted && piecesSent > 0 ? (step.hiddenReasoning ?? 0) : 0;
  const sent = { ...whole, outputTokens: Math.min(whole.outputTokens, isStream ? hidden + piecesSent : 0) };
  const isSilent = step.cut?.how === 'stall';
  if (cut || isSilent || hasFailed) return isStream && piecesSent > 0 ? sent : NO_BILL;
  return aborted && step.stopsBilling ? sent : whole;
}
