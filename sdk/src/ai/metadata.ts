import { type AnswerFacts, answerFacts } from '../transport/call.ts';

/** `providerMetadata.tallygate` of an answer, a step or an image: the gateway's data about it. */
export type TallygateMetadata = { readonly [Fact in keyof AnswerFacts]?: Exclude<AnswerFacts[Fact], undefined> };

/** The gateway's part of the metadata of a result, with its types: `metadataOf(result.providerMetadata)?.receiptId`. */
export function metadataOf(providerMetadata: Readonly<Record<string, unknown>> | undefined): TallygateMetadata | undefined {
  return providerMetadata?.['tallygate'] as TallygateMetadata | undefined;
}

/** The AI SDK keeps metadata as JSON, which has no `undefined`. */
type Json = null | string | number | boolean | Json[] | { [name: string]: Json };

/** @param usage the provider's own, which in a stream is where the cost is */
export function metadata(headers: Readonly<Record<string, string>> | undefined, usage?: unknown): { [name: string]: Json } {
  const facts = answerFacts(new Headers({ ...headers }));
  return JSON.parse(JSON.stringify({ ...facts, costUsd: facts.costUsd ?? costOf(usage) }));
}

/** Nine decimals hold every amount of the gateway; a float alone would be written as `1e-7`. */
function costOf(usage: unknown): string | undefined {
  const { cost } = Object(usage) as { cost?: unknown };
  return typeof cost === 'number' ? cost.toFixed(9).replace(/\.?0+$/, '') : undefined;
}
