import type { ServiceTier } from '@tallygate/contract';
import type { UpstreamCall, UpstreamEndpoint, UpstreamFile } from '../../adapters/upstream/port.ts';
import type { Problem } from '../../kernel/problem.ts';
import type { CatalogModel } from '../../money/catalog/index.ts';
import type { AnswerForm } from './answer-form.ts';
import type { Preference } from './provider-preference.ts';

/** What of a provider, as it serves a model, decides between dialects of one endpoint. */
export interface ProviderTraits {
  readonly readsGoogleFields: boolean;
}

/** One way to put the request to a provider, and to understand its answer. */
export interface Dialect {
  readonly endpoint: UpstreamEndpoint;
  readonly request: UpstreamCall['request'];
  readonly files?: readonly UpstreamFile[] | undefined;
  readonly form: AnswerForm;
  /** Whether it is the one for this model at this provider; for all of them where it is left out. */
  suits?(model: CatalogModel, upstream: ProviderTraits): boolean;
  /** Where it suits no model: what of the request has no like in it. */
  refusal?(): Problem | undefined;
}

/** What of a work decides which deployments can do it. */
export interface Placed {
  /** In order of preference; the first that a deployment serves is spoken. */
  readonly dialects: readonly [Dialect, ...Dialect[]];
  /** The one deployment that can do it: what it goes on from lives there. */
  readonly deployment?: string;
  /** Which providers the caller wants, and in which order. */
  readonly preference?: Preference;
  /** Asked for, in place of the standard one: for providers that know service tiers. */
  readonly serviceTier?: ServiceTier | undefined;
}
