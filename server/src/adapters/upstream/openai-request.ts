import { multipartBody } from './multipart-body.ts';
import { type MaxTokensField, type OpenAiQuirks, withQuirks } from './openai-quirks.ts';
import type { ChatCall, UpstreamCall, UpstreamOpening, VideoJobRequest, VideoSource } from './port.ts';
import { type ProviderRequest, postedJson } from './provider-http.ts';

const JSON_CONTENT = ['content-type', 'application/json'];

function acceptOf({ endpoint, stream }: UpstreamCall): string[] {
  if (endpoint === '/v1/audio/speech') return ['accept', '*/*'];
  return ['accept', stream ? 'text/event-stream, application/json' : 'application/json'];
}

interface Place {
  /** Below the base URL; the endpoint's own where it is left out. */
  readonly path?: string;
  readonly hasProjectTier?: boolean | undefined;
  readonly quirks?: OpenAiQuirks;
}

/** A call as OpenAI takes it, JSON or a form with files. */
export function openAiRequest(
  call: UpstreamCall,
  maxTokensField: MaxTokensField,
  { path = call.endpoint.slice('/v1'.length), quirks, hasProjectTier = false }: Place = {},
): ProviderRequest | Promise<ProviderRequest> {
  if (call.endpoint === '/v1/videos' && call.request.madeOf) return derivationRequest(path, call.request.madeOf, call.request);
  const asked = openAiFields(call, maxTokensField);
  const plain = hasProjectTier && TAKES_TIER.has(call.endpoint) ? atPricedTier(asked) : asked;
  const fields = quirks && call.endpoint === '/v1/chat/completions' ? withQuirks(plain, { ...quirks, maxTokensField }) : plain;
  if (!call.files) return postedJson(path, [...JSON_CONTENT, ...acceptOf(call)], fields);
  const form = multipartBody(fields, call.files);
  const content = ['content-type', form.contentType, 'content-length', String(form.contentLength)];
  return { path, method: 'POST', headers: [...content, ...acceptOf(call)], body: form.body };
}

const TAKES_TIER: ReadonlySet<UpstreamCall['endpoint']> = new Set(['/v1/chat/completions', '/v1/responses'] as const);

/** What is left to the provider is billed as its project is set; what is held and charged is the price of `default`. */
function atPricedTier(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const tier = fields['service_tier'] ?? 'auto';
  return { ...fields, service_tier: tier === 'auto' ? 'default' : tier };
}

/** Where a connection to a realtime model is opened. */
export const realtimePath = ({ model }: Pick<UpstreamOpening, 'model'>): string => `/realtime?model=${encodeURIComponent(model)}`;

/** What is made of a video has paths of its own, and takes from that video what is not said anew. */
function derivationRequest(path: string, { how, id }: VideoSource, { prompt, seconds }: VideoJobRequest): ProviderRequest {
  const headers = [...JSON_CONTENT, 'accept', 'application/json'];
  const post = (below: string, body: object): ProviderRequest => ({
    path: `${path}/${below}`,
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  switch (how) {
    case 'remix':
      return post(`${encodeURIComponent(id)}/remix`, { prompt });
    case 'edit':
      return post('edits', { prompt, video: { id } });
    case 'extension':
      return post('extensions', { prompt, seconds, video: { id } });
    default:
      return how satisfies never;
  }
}

/** The fields that go to the provider: the caller's, with our model and our bound, and without what only the gateway reads. */
export function openAiFields(call: UpstreamCall, maxTokensField: MaxTokensField): Readonly<Record<string, unknown>> {
  const { model, request } = call;
  switch (call.endpoint) {
    case '/v1/chat/completions':
      return chatFields(call, maxTokensField);
    case '/v1/completions':
      return {
        ...request,
        models: undefined,
        provider: undefined,
        model,
        max_tokens: call.maxOutputTokens,
        stream: call.stream || undefined,
        stream_options: call.stream ? { ...call.request.stream_options, include_usage: true } : undefined,
      };
    case '/v1/responses':
      return {
        ...request,
        models: undefined,
        provider: undefined,
        model,
        max_output_tokens: call.maxOutputTokens,
        stream: call.stream || undefined,
      };
    // It belongs to no model there.
    case '/v1/videos/characters':
      return { ...request, model: undefined };
    default:
      return { ...request, models: undefined, provider: undefined, model };
  }
}

/**
 * Of a chat completion: in a stream, usage at its end.
 * Members are set to `undefined` rather than deleted, which JSON leaves out and V8 writes faster; and one by one, since V8 defines each member
 * that comes behind a spread by a call of its own.
 */
function chatFields(
  { model, request, stream, maxOutputTokens, thinkingTokens }: ChatCall,
  maxTokensField: MaxTokensField,
): Readonly<Record<string, unknown>> {
  const usesOld = typeof request.max_tokens === 'number';
  const usesNew = typeof request.max_completion_tokens === 'number';
  const usesNone = !usesOld && !usesNew;
  const fields: Record<string, unknown> = { ...request };
  fields['models'] = undefined;
  fields['provider'] = undefined;
  fields['model'] = model;
  fields['max_tokens'] = usesOld || (usesNone && maxTokensField === 'max_tokens') ? maxOutputTokens : undefined;
  fields['max_completion_tokens'] = usesNew || (usesNone && maxTokensField === 'max_completion_tokens') ? maxOutputTokens : undefined;
  if (thinkingTokens !== undefined) fields['thinking_budget'] = thinkingTokens;
  fields['stream'] = stream || undefined;
  // Without a stream OpenAI refuses stream_options, and says so to the caller who sent them.
  fields['stream_options'] = stream ? { ...request.stream_options, include_usage: true } : (request.stream_options ?? undefined);
  return fields;
}
