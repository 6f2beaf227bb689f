import type { ChatCompletionRequest } from '@tallygate/contract';
import { countIn, isRecord, type Json, textIn } from '../json-value.ts';
import type { ToolChoice, Turn } from './messages-api.ts';
import type { ModelTraits } from './model-traits.ts';

export interface Thinking {
  /** Anthropic's field; absent: as the model does by itself. */
  readonly thinking?: Json;
  /** For `output_config`. */
  readonly effort?: string;
}

export interface ThinkingContext {
  readonly traits: ModelTraits;
  /** The bound on tokens out, of which thoughts take their part. */
  readonly maxTokens: number;
  readonly turns: readonly Turn[];
  readonly toolChoice: ToolChoice | undefined;
}

const LEAST_BUDGET = 1024;
/** How much of the bound thoughts may take, so that an answer fits behind them. */
const MOST_OF_BOUND = 0.8;

/** Tokens by effort, for models that want a number. */
const BUDGETS: Readonly<Record<string, number>> = { minimal: 1024, low: 2048, medium: 8192, high: 16_384, xhigh: 32_768, max: 65_536 };

const NO_THINKING: Thinking = {};

/** What `reasoning_effort`, or Anthropic's own `thinking` from callers who know it, means for this model in this conversation. */
export function thinkingOf(request: ChatCompletionRequest, context: ThinkingContext): Thinking {
  const { traits, maxTokens, toolChoice } = context;
  const own = request['thinking'];
  if (isRecord(own)) return { thinking: withinBound(own, maxTokens) };
  const effort = textIn(request.reasoning_effort);
  if (effort === undefined || traits.thinking === 'none') return NO_THINKING;
  if (effort === 'none') return withoutThinking(traits);
  // A model that has to call a tool may not be told to think first; how hard it works may still be said.
  const isForced = toolChoice?.type === 'any' || toolChoice?.type === 'tool';
  if (traits.thinking === 'adaptive') return { ...(isForced ? {} : { thinking: adaptive(traits) }), effort: effortFor(effort, traits) };
  const budget = Math.min(BUDGETS[effort] ?? LEAST_BUDGET, Math.floor(maxTokens * MOST_OF_BOUND));
  if (isForced || budget < LEAST_BUDGET || isInLoopWithoutThoughts(context.turns)) return NO_THINKING;
  return { thinking: { type: 'enabled', budget_tokens: budget } };
}

/** Whether the request asks for thoughts: sampling cannot be steered then. */
export const isThinking = ({ thinking }: Thinking): boolean => thinking?.['type'] === 'enabled' || thinking?.['type'] === 'adaptive';

const adaptive = ({ hidesThoughts }: ModelTraits): Json => ({ type: 'adaptive', ...(hidesThoughts ? { display: 'summarized' } : {}) });

function withoutThinking({ thinksByDefault }: ModelTraits): Thinking {
  if (thinksByDefault === 'no') return NO_THINKING;
  return thinksByDefault === 'yes' ? { thinking: { type: 'disabled' } } : { effort: 'low' };
}

function effortFor(effort: string, { hasExtraHighEffort }: ModelTraits): string {
  if (effort === 'minimal') return 'low';
  return effort === 'xhigh' && !hasExtraHighEffort ? 'high' : effort;
}

/** A budget of the caller's that the bound, lowered by us, no longer covers. */
export function withinBound(thinking: Json, maxTokens: number): Json {
  const budget = countIn(thinking['budget_tokens']);
  if (budget === undefined || budget < maxTokens) return thinking;
  const lowered = Math.floor(maxTokens * MOST_OF_BOUND);
  return lowered < LEAST_BUDGET ? { type: 'disabled' } : { ...thinking, budget_tokens: lowered };
}

/**
 * Whether the model called tools in this very turn, and the thoughts it had are not here: most OpenAI clients do not send them back. A model
 * with a budget is then refused ("Expected `thinking`, but found `tool_use`"), so it goes on without thinking until the user speaks again.
 */
function isInLoopWithoutThoughts(turns: readonly Turn[]): boolean {
  const begin = turns.findLastIndex(({ role, content }) => role === 'user' && !content.some(({ type }) => type === 'tool_result'));
  return turns.slice(begin + 1).some(({ role, content }) => role === 'assistant' && !/thinking$/.test(content[0]?.type ?? ''));
}
