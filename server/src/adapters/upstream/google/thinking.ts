import type { ChatCompletionRequest } from '@tallygate/contract';
import { Untranslatable } from '../fault.ts';
import { countIn, isRecord, type Json, textIn } from '../json-value.ts';
import type { ThinkingConfig } from './gemini-api.ts';

const LEVELS = { none: 'MINIMAL', minimal: 'MINIMAL', low: 'LOW', medium: 'MEDIUM', high: 'HIGH', xhigh: 'HIGH', max: 'HIGH' } as const;

/** Tokens of thought for models that are told a number; those of Google's own OpenAI-compatible endpoint. */
const BUDGETS = { none: 0, minimal: 1024, low: 1024, medium: 8192, high: 24_576, xhigh: 24_576, max: 24_576 } as const;
/** The Pro models of that generation cannot stop thinking: the least they take. */
const LEAST_PRO_BUDGET = 128;

type Effort = keyof typeof LEVELS;

const isEffort = (text: string): text is Effort => Object.hasOwn(LEVELS, text);

/**
 * How much the model may think. Gemini 3 thinks by levels and never not at all, so that `none` asks for the least. Thoughts are told where
 * the caller asked for an effort, or said so in `extra_body.google.thinking_config`, which Google's own endpoint reads.
 */
export function thinkingOf({ reasoning_effort, extra_body }: ChatCompletionRequest, model: string): ThinkingConfig | undefined {
  const own = ownConfig(extra_body);
  if (own) return own;
  if (reasoning_effort === undefined || reasoning_effort === null || reasoning_effort === 'default' || reasoning_effort === 'auto')
    return undefined;
  if (!isEffort(reasoning_effort))
    throw new Untranslatable('reasoning_effort', `Expected one of ${Object.keys(LEVELS).join(', ')} for this model.`);
  const includeThoughts = reasoning_effort === 'none' ? {} : { includeThoughts: true };
  if (!/gemini-2\.5/i.test(model)) return { thinkingLevel: LEVELS[reasoning_effort], ...includeThoughts };
  const least = /pro/i.test(model) ? LEAST_PRO_BUDGET : 0;
  return { thinkingBudget: Math.max(BUDGETS[reasoning_effort], least), ...includeThoughts };
}

function ownConfig(extraBody: unknown): ThinkingConfig | undefined {
  const google = isRecord(extraBody) ? extraBody['google'] : undefined;
  const config = isRecord(google) ? google['thinking_config'] : undefined;
  if (!isRecord(config)) return undefined;
  const { include_thoughts: includeThoughts, thinking_budget: budget }: Json = config;
  const level = textIn(config['thinking_level'])?.toLowerCase() ?? '';
  const thinkingBudget = budget === -1 ? -1 : countIn(budget);
  return {
    ...(typeof includeThoughts === 'boolean' && { includeThoughts }),
    ...(thinkingBudget !== undefined && { thinkingBudget }),
    ...(isEffort(level) && { thinkingLevel: LEVELS[level] }),
  };
}
