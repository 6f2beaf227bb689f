import type { ResponseRequest } from '@tallygate/contract';
import { tierOf } from '../service-tier.ts';
import type { ToolUsage } from './hosted-calls.ts';
import type { OutputItem } from './output.ts';

export interface ResponseUsage {
  readonly input_tokens: number;
  readonly input_tokens_details: { readonly cached_tokens: number; readonly cache_write_tokens: number };
  readonly output_tokens: number;
  readonly output_tokens_details: { readonly reasoning_tokens: number };
  readonly total_tokens: number;
}

/** What of a response is decided before anything is said. */
export interface ResponseHead {
  readonly id: string;
  /** Unix seconds. */
  readonly createdAt: number;
  readonly model: string;
  readonly request: ResponseRequest;
}

/** OpenAI's response object, with every key that it requires; what the request left open has OpenAI's default. */
export function responseObject({ id, createdAt, model, request }: ResponseHead, state: ResponseState) {
  const { reasoning, text } = request;
  return {
    id,
    object: 'response',
    created_at: createdAt,
    status: state.status,
    background: request.background ?? false,
    completed_at: state.status === 'completed' ? createdAt : null,
    error: null,
    incomplete_details: state.status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: request.max_tool_calls ?? null,
    model,
    output: state.output,
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: request.previous_response_id ?? null,
    prompt_cache_key: request.prompt_cache_key ?? null,
    reasoning: { effort: reasoning?.effort ?? null, summary: reasoning?.summary ?? null },
    safety_identifier: request.safety_identifier ?? null,
    service_tier: tierOf(request),
    store: request.store ?? true,
    temperature: request.temperature ?? 1,
    text: { format: text?.format ?? { type: 'text' }, verbosity: text?.verbosity ?? 'medium' },
    tool_choice: request.tool_choice ?? 'auto',
    tools: request.tools ?? [],
    top_logprobs: request.top_logprobs ?? 0,
    top_p: request.top_p ?? 1,
    truncation: request.truncation ?? 'disabled',
    ...(state.status !== 'in_progress' && state.toolUsage && { tool_usage: state.toolUsage }),
    ...(state.status !== 'in_progress' && { usage: state.usage }),
    ...(request.user != null && { user: request.user }),
    metadata: request.metadata ?? {},
  };
}

export type ResponseState =
  | { readonly status: 'in_progress'; readonly output: readonly [] }
  | {
      readonly status: 'completed' | 'incomplete';
      readonly output: readonly OutputItem[];
      /** Undefined where that fault is asked for. */
      readonly usage: ResponseUsage | undefined;
      /** Where the provider ran tools of its own. */
      readonly toolUsage: ToolUsage | undefined;
    };
