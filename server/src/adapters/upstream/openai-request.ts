import { multipartBody } from './multipart-body.ts';
import type { ChatCall, UpstreamCall } from './port.ts';
import type { ProviderRequest } from './provider-http.ts';

/** How a provider calls the bound on tokens out, where the caller did not name it. */
export type MaxTokensField = 'max_tokens' | 'max_completion_tokens';

const JSON_CONTENT = ['content-type', 'application/json'];

function acceptOf({ endpoint, stream }: UpstreamCall): string[] {
  if (endpoint === '/v1/audio/speech') return ['accept', '*/*'];
  return ['accept', stream ? 'text/event-stream, application/json' : 'application/json'];
}

/**
 * A call as OpenAI takes it, JSON or a form with files.
 * @param path below the base URL; the endpoint's own where it is left out
 */
export function openAiRequest(
  call: UpstreamCall,
  maxTokensField: MaxTokensField,
  path: string = call.endpoint.slice('/v1'.length),
): ProviderRequest {
  if (call.endpoint === '/v1/videos' && typeof call.request['remixed_from_video_id'] === 'string')
    return remixRequest(path, call.request['remixed_from_video_id'], call.request.prompt);
  const fields = openAiFields(call, maxTokensField);
  if (!call.files) return { path, method: 'POST', headers: [...JSON_CONTENT, ...acceptOf(call)], body: JSON.stringify(fields) };
  const form = multipartBody(fields, call.files);
  const content = ['content-type', form.contentType, 'content-length', String(form.contentLength)];
  return { path, method: 'POST', headers: [...content, ...acceptOf(call)], body: form.body };
}

/** A remix has a path of its own, and takes everything but the prompt from the video that it is made of. */
function remixRequest(path: string, videoId: string, prompt: string): ProviderRequest {
  const headers = [...JSON_CONTENT, 'accept', 'application/json'];
  return { path: `${path}/${encodeURIComponent(videoId)}/remix`, method: 'POST', headers, body: JSON.stringify({ prompt }) };
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
        model,
        max_tokens: call.maxOutputTokens,
        stream: call.stream || undefined,
        stream_options: call.stream ? { ...call.request.stream_options, include_usage: true } : undefined,
      };
    case '/v1/responses':
      return { ...request, models: undefined, model, max_output_tokens: call.maxOutputTokens, stream: call.stream || undefined };
    default:
      return { ...request, models: undefined, model };
  }
}

/**
 * Of a chat completion: in a stream, usage at its end.
 * Members are set to `undefined` rather than deleted, which JSON leaves out and V8 writes faster.
 */
function chatFields(
  { model, request, stream, maxOutputTokens }: ChatCall,
  maxTokensField: MaxTokensField,
): Readonly<Record<string, unknown>> {
  const usesOld = typeof request.max_tokens === 'number';
  const usesNew = typeof request.max_completion_tokens === 'number';
  const usesNone = !usesOld && !usesNew;
  return {
    ...request,
    models: undefined,
    model,
    max_tokens: usesOld || (usesNone && maxTokensField === 'max_tokens') ? maxOutputTokens : undefined,
    max_completion_tokens: usesNew || (usesNone && maxTokensField === 'max_completion_tokens') ? maxOutputTokens : undefined,
    stream: stream || undefined,
    // Without a stream OpenAI refuses stream_options, and says so to the caller who sent them.
    stream_options: stream ? { ...request.stream_options, include_usage: true } : (request.stream_options ?? undefined),
  };
}
