import type { BatchEmbedContentsRequest, EmbedContentRequest } from '@tallygate/contract';
import type { UpstreamCallOf } from '../port.ts';
import { signed } from './thought-signature.ts';

/** What of a request the gateway reads for itself. The model is in the path. */
const OWN: ReadonlySet<string> = new Set(['model', 'models', 'provider', 'store']);
const withoutOwn = (request: object): object => Object.fromEntries(Object.entries(request).filter(([name]) => !OWN.has(name)));

/** A request in Google's own words as it goes to Google: the caller's, with the bound that is held. */
export const nativeContentRequest = ({ request, model, maxOutputTokens }: UpstreamCallOf<'/v1beta/models:generateContent'>): object => ({
  ...withoutOwn(request),
  contents: signed(request.contents, model),
  generationConfig: { ...request.generationConfig, maxOutputTokens },
});

export const nativeEmbedRequest = (request: EmbedContentRequest): object => withoutOwn(request);

/** @param resource as Google names the model, `models/gemini-embedding-001`: each of the requests has to say it */
export const nativeBatchEmbedRequest = ({ requests }: BatchEmbedContentsRequest, resource: string): object => ({
  requests: requests.map((one) => ({ ...withoutOwn(one), model: resource })),
});

/** How Google streams, where it is to answer in events. */
export const contentMethod = ({ stream }: { readonly stream: boolean }): string =>
  stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
