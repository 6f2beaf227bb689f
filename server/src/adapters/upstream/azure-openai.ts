import { azureWords } from './azure-fault.ts';
import { PreambleMerged } from './azure-preamble.ts';
import { Untranslatable } from './fault.ts';
import type { MaxTokensField } from './openai-quirks.ts';
import { openAiRequest, realtimePath } from './openai-request.ts';
import { isMakersOwn, type UpstreamCall, type UpstreamEndpoint, type UpstreamProvider } from './port.ts';
import { type ConnectionOptions, ProviderHttp } from './provider-http.ts';
import { TranslatedAnswer } from './translated-answer.ts';

export interface AzureOpenAiOptions extends ConnectionOptions {
  /** The resource, `https://my-resource.openai.azure.com`; a path such as `/openai` or `/openai/v1` behind it is taken off. */
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  /** `api-key`: a key of the resource. `bearer`: a token of Microsoft Entra, or of a gateway in front. Default `api-key`. */
  readonly auth?: 'api-key' | 'bearer' | undefined;
  /**
   * A date (`2024-10-21`): the deployment stands in the path. Left out, `v1`, or `preview`: Azure's later surface below `/openai/v1`, where the
   * deployment is the model in the body, as at OpenAI.
   */
  readonly apiVersion?: string | undefined;
  /** Default `max_completion_tokens`, which all models there take since 2024-10-21. */
  readonly maxTokensField?: MaxTokensField | undefined;
}

/** What a deployment is asked for by its path; the rest names its model in the body in both ways. */
const BY_DEPLOYMENT: ReadonlySet<UpstreamEndpoint> = new Set<UpstreamEndpoint>([
  '/v1/chat/completions',
  '/v1/completions',
  '/v1/embeddings',
  '/v1/images/generations',
  '/v1/images/edits',
  '/v1/audio/speech',
  '/v1/audio/transcriptions',
  '/v1/audio/translations',
]);
/** Azure moderates by its content filter, and never had variations. What other makers have, Messages for one, is at another resource. */
const MISSING: ReadonlySet<UpstreamEndpoint> = new Set<UpstreamEndpoint>(['/v1/moderations', '/v1/images/variations']);

/** A deployment can be set to a dearer tier since then; before, the field was unknown. */
const FIRST_WITH_TIERS = '2025-10-01';

/** What only Azure's later surface has as OpenAI has it. */
const NOT_DATED = /^\/v1\/(videos|realtime)/;

/**
 * Azure OpenAI. Requests and answers are OpenAI's; paths, credentials and refusals are its own. What its content filter found stays in the
 * answer (`content_filter_results`). The provider's names of models are those of the deployments.
 * @throws TypeError if `baseUrl` is no http or https URL, or carries credentials
 */
export function azureOpenAi(options: AzureOpenAiOptions): UpstreamProvider {
  const { apiKey, auth = 'api-key', apiVersion = 'v1', maxTokensField = 'max_completion_tokens' } = options;
  const credentials = auth === 'bearer' ? { authorization: `Bearer ${apiKey}` } : { 'api-key': `${apiKey}` };
  const ownHeaders: Record<string, string> = apiKey === undefined ? {} : credentials;
  const http = new ProviderHttp({ ...options, baseUrl: surfaceOf(options.baseUrl, apiVersion), ownHeaders, wordsOf: azureWords });
  const isDated = /^\d/.test(apiVersion);
  const hasProjectTier = !isDated || apiVersion >= FIRST_WITH_TIERS;
  return {
    serves: (endpoint) => !isMakersOwn(endpoint) && !MISSING.has(endpoint) && !(isDated && NOT_DATED.test(endpoint)),
    takesServiceTiers: true,
    call: async (call) => {
      // Azure would fetch documents and put them into the prompt: tokens that nobody has held.
      if (call.request['data_sources'] !== undefined)
        return new Untranslatable('data_sources', 'Data sources lengthen the prompt by what no cap could hold: remove `data_sources`.')
          .fault;
      const answer = await http.send(call, () => openAiRequest(call, maxTokensField, { path: pathOf(call, isDated), hasProjectTier }));
      const isChatStream = answer.ok && call.stream && call.endpoint === '/v1/chat/completions';
      return isChatStream ? new TranslatedAnswer(answer, new PreambleMerged(answer.contentType ?? 'text/event-stream')) : answer;
    },
    read: (read) => http.send(read, () => ({ path: read.path, method: read.method, headers: ['accept', '*/*'] })),
    connect: (opening) => http.connect(opening, realtimePath(opening)),
    close: () => http.close(),
  };
}

/** The base URL of everything below, with the version as its query. */
function surfaceOf(baseUrl: string, apiVersion: string): string {
  const url = new URL(baseUrl);
  const root = url.pathname.replace(/\/+$/, '').replace(/\/openai(\/v1)?$/, '');
  url.pathname = /^\d/.test(apiVersion) ? `${root}/openai` : `${root}/openai/v1`;
  if (apiVersion !== 'v1') url.searchParams.set('api-version', apiVersion);
  return url.href;
}

function pathOf({ endpoint, model }: UpstreamCall, isDated: boolean): string {
  const path = endpoint.slice('/v1'.length);
  return isDated && BY_DEPLOYMENT.has(endpoint) ? `/deployments/${encodeURIComponent(model)}${path}` : path;
}
