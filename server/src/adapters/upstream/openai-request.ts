import type { ChatCall } from './port.ts';

/** How a provider calls the bound on tokens out, where the caller did not name it. */
export type MaxTokensField = 'max_tokens' | 'max_completion_tokens';

/**
 * The body that goes to the provider: the caller's, with our model, our bound and, in a stream, usage at its end.
 * Members are set to `undefined` rather than deleted, which JSON leaves out and V8 writes faster.
 */
export function openAiRequestBody({ model, request, stream, maxOutputTokens }: ChatCall, maxTokensField: MaxTokensField): string {
  const usesOld = typeof request.max_tokens === 'number';
  const usesNew = typeof request.max_completion_tokens === 'number';
  const usesNone = !usesOld && !usesNew;
  return JSON.stringify({
    ...request,
    models: undefined,
    model,
    max_tokens: usesOld || (usesNone && maxTokensField === 'max_tokens') ? maxOutputTokens : undefined,
    max_completion_tokens: usesNew || (usesNone && maxTokensField === 'max_completion_tokens') ? maxOutputTokens : undefined,
    stream: stream || undefined,
    // Without a stream OpenAI refuses stream_options, and says so to the caller who sent them.
    stream_options: stream ? { ...request.stream_options, include_usage: true } : (request.stream_options ?? undefined),
  });
}
