import type { PriceMeter } from '../../contract/src/index.ts';

export type Kind = 'chat' | 'completion' | 'embedding' | 'image' | 'moderation' | 'rerank' | 'tts' | 'stt' | 'video';

/** USD per million units as exact decimals, by meter. */
export type Rates = Partial<Record<PriceMeter, string>>;

export interface Tier {
  readonly above_input_tokens: number;
  readonly usd_per_million: Rates;
}

export interface TermsOfRequests {
  readonly usd_per_million: Rates;
  readonly tiers?: readonly Tier[] | undefined;
}

/** What a model costs, in the fields of a shipped file. */
export interface Terms extends TermsOfRequests {
  readonly batch_factor?: string | undefined;
  readonly service_tiers?: Readonly<Record<string, TermsOfRequests>> | undefined;
}

/** One model at one provider, as one source describes it. */
export interface Listing {
  readonly provider: string;
  /** The provider's own name. */
  readonly name: string;
  readonly kind: Kind;
  readonly contextWindow?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly inputModalities: readonly string[];
  readonly outputModalities: readonly string[];
  readonly capabilities: readonly string[];
  readonly endpoints?: readonly string[] | undefined;
  readonly released?: string | undefined;
  /** Day from which the provider does not serve it any more, or not for certain. */
  readonly ends?: string | undefined;
  readonly embeddingDimensions?: number | undefined;
  readonly terms: Terms;
  /** The source's own row. */
  readonly key: string;
}

/** What a source has and the catalogue cannot take, with the reason. */
export interface Skipped {
  readonly key: string;
  readonly reason: string;
}

export interface Read {
  readonly listings: readonly Listing[];
  readonly skipped: readonly Skipped[];
}

/** A reason to leave a row out; anything else that is thrown is a bug. */
export class Unfit extends Error {}

/** Reads row by row; a row that is unfit is counted, not fatal. */
export function readRows<Row>(rows: Iterable<readonly [string, Row]>, listingOf: (key: string, row: Row) => Listing | undefined): Read {
  const listings: Listing[] = [];
  const skipped: Skipped[] = [];
  for (const [key, row] of rows) {
    try {
      const listing = listingOf(key, row);
      if (listing) listings.push(listing);
    } catch (error) {
      if (!(error instanceof Unfit)) throw error;
      skipped.push({ key, reason: error.message });
    }
  }
  return { listings, skipped };
}

/** By what a model of a kind is charged: of each list one price has to be there, and to be more than nothing. */
const NEEDED: Readonly<Record<Kind, readonly (readonly PriceMeter[])[]>> = {
  chat: [['input_tokens'], ['output_tokens']],
  completion: [['input_tokens'], ['output_tokens']],
  embedding: [['input_tokens']],
  image: [['input_tokens'], ['image_input_tokens'], ['image_output_tokens']],
  moderation: [],
  rerank: [['search_units', 'input_tokens']],
  tts: [['input_characters']],
  stt: [['audio_seconds', 'audio_input_tokens']],
  video: [['video_seconds']],
};

const isCharged = (price: string | undefined): boolean => price !== undefined && price !== '0';

/** A free model in a public list is a trial, a mistake or paid by a third party. */
export const faultOfTerms = (kind: Kind, { usd_per_million, tiers = [] }: Terms): string | undefined =>
  [usd_per_million, ...tiers.map((tier) => tier.usd_per_million)].every((rates) =>
    NEEDED[kind].every((meters) => meters.some((meter) => isCharged(rates[meter]))),
  )
    ? undefined
    : 'a price is missing, or is zero';
