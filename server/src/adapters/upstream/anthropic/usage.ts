import { plainUsage } from '../../../kernel/stated-usage.ts';
import { countIn, isRecord, type Json } from '../json-value.ts';

/** The part of OpenAI's usage that is known when an answer begins. */
export interface PromptUsage {
  readonly prompt_tokens: number;
  /** Disjoint parts of `prompt_tokens`: read from the cache, written to it for five minutes, written for an hour. */
  readonly prompt_tokens_details: {
    readonly cached_tokens: number;
    readonly cache_write_tokens: number;
    readonly cache_write_1h_tokens: number;
  };
}

export interface Usage extends PromptUsage {
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly completion_tokens_details?: { readonly reasoning_tokens: number };
  /** One of the counts was none: these are the least. */
  readonly is_partial?: true;
}

/** Of an absent count and of null: none. Undefined is what cannot be a count. */
const counted = (value: unknown): number | undefined => (value === undefined || value === null ? 0 : countIn(value));

/**
 * Anthropic counts what was read from the cache and written to it beside `input_tokens`; OpenAI counts everything in `prompt_tokens`.
 * Undefined where a count is none: the settlement then makes an estimate.
 */
export function promptUsageOf(stated: unknown): PromptUsage | undefined {
  const usage = countsIn(stated);
  if (!usage) return undefined;
  const input = countIn(usage['input_tokens']);
  const read = counted(usage['cache_read_input_tokens']);
  const { cache_creation: byLifetime } = usage;
  const hour = counted(isRecord(byLifetime) ? byLifetime['ephemeral_1h_input_tokens'] : undefined);
  const fiveMinutes = counted(isRecord(byLifetime) ? byLifetime['ephemeral_5m_input_tokens'] : undefined);
  const written = counted(usage['cache_creation_input_tokens']);
  if (input === undefined || read === undefined || written === undefined || hour === undefined || fiveMinutes === undefined)
    return undefined;
  // The sum is what is billed by; the breakdown by lifetime comes once, when a stream begins.
  const allWritten = Math.max(written, hour + fiveMinutes);
  return {
    prompt_tokens: input + read + allWritten,
    prompt_tokens_details: { cached_tokens: read, cache_write_tokens: allWritten - hour, cache_write_1h_tokens: hour },
  };
}

/** As {@link promptUsageOf}, of an answer that has ended. Thoughts are a part of `output_tokens`. */
export function usageOf(stated: unknown): Usage | undefined {
  const usage = countsIn(stated);
  if (!usage) return undefined;
  const prompt = promptUsageOf(usage);
  const output = outputIn(usage);
  if (!prompt || output === undefined || usage['is_partial'] === true) return leastOf(usage, prompt);
  const thoughts = isRecord(usage['output_tokens_details']) ? countIn(usage['output_tokens_details']['thinking_tokens']) : undefined;
  return {
    ...prompt,
    completion_tokens: output,
    total_tokens: prompt.prompt_tokens + output,
    ...(thoughts === undefined ? {} : { completion_tokens_details: { reasoning_tokens: thoughts } }),
  };
}

const outputIn = (usage: unknown): number | undefined => countIn(countsIn(usage)?.['output_tokens']);

/** Some servers say it in OpenAI's names. */
function countsIn(stated: unknown): Json | undefined {
  const usage = plainUsage(stated);
  if (usage?.['prompt_tokens'] === undefined && usage?.['completion_tokens'] === undefined) return usage;
  const { prompt_tokens, completion_tokens, ...own } = usage;
  return { input_tokens: prompt_tokens, output_tokens: completion_tokens, ...own };
}

const PROMPT_COUNTS = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'];

/** Of a usage that has a count that is none, or breaks off: what the others come to. */
function leastOf(usage: Json, exactly: PromptUsage | undefined): Usage | undefined {
  const prompt = exactly?.prompt_tokens ?? PROMPT_COUNTS.reduce((sum, name) => sum + (countIn(usage[name]) ?? 0), 0);
  const output = outputIn(usage) ?? 0;
  if (prompt + output === 0) return undefined;
  return {
    prompt_tokens: prompt,
    prompt_tokens_details: exactly?.prompt_tokens_details ?? { cached_tokens: 0, cache_write_tokens: 0, cache_write_1h_tokens: 0 },
    completion_tokens: output,
    total_tokens: prompt + output,
    is_partial: true,
  };
}

const PROMPT_MEMBERS = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens', 'cache_creation', 'iterations'];

const withLater = (earlier: Json, later: Json): Json => ({
  ...earlier,
  ...Object.fromEntries(Object.entries(later).filter(([, value]) => value !== null && value !== undefined)),
});

/** Whether the one counts less than the other; not where one of them is no count. */
const isPromptLess = (one: Json, than: Json): boolean => isCountLess(promptUsageOf(one)?.prompt_tokens, promptUsageOf(than)?.prompt_tokens);
const isOutputLess = (one: Json, than: Json): boolean => isCountLess(outputIn(one), outputIn(than));
const isCountLess = (one: number | undefined, than: number | undefined): boolean => one !== undefined && than !== undefined && one < than;

/** Whether what comes later contradicts what was counted before. */
export function isDecrease(earlier: Json, later: unknown): boolean {
  const plain = countsIn(later);
  if (!plain) return false;
  const said = withLater(earlier, plain);
  return isPromptLess(said, earlier) || isOutputLess(said, earlier);
}

/** Counts in a stream grow: the later one wins wherever it is one, and neither the prompt nor what came out becomes less. */
export function laterUsage(earlier: Json, later: unknown): Json {
  const plain = countsIn(later);
  if (!plain) return earlier;
  const said = withLater(earlier, plain);
  const prompt = isPromptLess(said, earlier) ? PROMPT_MEMBERS.map((name) => [name, earlier[name]]) : [];
  const output = isOutputLess(said, earlier) ? [['output_tokens', outputIn(earlier)]] : [];
  return { ...said, ...Object.fromEntries([...prompt, ...output]) };
}
