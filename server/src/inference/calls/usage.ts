import { MAX_MODEL_TOKENS, type ReceiptUsage } from '@tallygate/contract';
import type { UpstreamFault } from '../../adapters/upstream/port.ts';
import { plainUsage } from '../../kernel/stated-usage.ts';
import type { CatalogModel } from '../../money/catalog/index.ts';
import type { AnswerForm, PlainAnswer } from './answer-form.ts';

export const NO_USAGE: ReceiptUsage = {
  input_tokens: 0,
  cached_input_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
};

/** Whether what a model answers is text, charged by its tokens. */
export const writesText = ({ kind }: Pick<CatalogModel, 'kind'>): boolean => kind === 'chat' || kind === 'completion';

/** What claims to be more than any model can take or give is no count. */
export const isCount = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MAX_MODEL_TOKENS;
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
/** Whether a usage says no more than the least. */
export const isPartial = (usage: unknown): boolean => isRecord(usage) && usage['is_partial'] === true;
/** A part of a whole: never more than that, whatever the provider says; undefined where it does not tell the part. */
export const partIn = (details: unknown, name: string, most: number): number | undefined => {
  const value = isRecord(details) ? details[name] : undefined;
  return isCount(value) ? Math.min(value, most) : undefined;
};

/** Where the parts do not add up to the total, the larger is billed. What the model thought was counted beside a whole that is smaller. */
function outputOf(input: number, said: number, total: unknown, details: unknown): number {
  const thought = isRecord(details) ? details['reasoning_tokens'] : undefined;
  const counted = isCount(thought) && thought > said ? said + thought : said;
  return isCount(total) ? Math.max(counted, total - input) : counted;
}

/** The largest of them. Where the first name of a list is no count, the others, which are counted beside it, say nothing. */
function mostOf(usage: Record<string, unknown>, names: readonly (readonly [string, ...string[]])[]): number | undefined {
  let most: number | undefined;
  for (const added of names) {
    if (!isCount(usage[added[0]])) continue;
    let sum = 0;
    for (const name of added) {
      const count = usage[name];
      if (isCount(count)) sum += count;
    }
    if (most === undefined || sum > most) most = sum;
  }
  return most;
}

/** OpenAI's names, old and new, Anthropic's, which counts the cache beside the rest of the prompt, and Google's. */
const INPUT = [
  ['prompt_tokens'],
  ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'],
  ['prompt_token_count', 'tool_use_prompt_token_count'],
  ['input_token_count'],
] as const;
const OUTPUT = [
  ['completion_tokens'],
  ['output_tokens'],
  ['candidates_token_count', 'thoughts_token_count'],
  ['output_token_count'],
  ['completion_token_count'],
] as const;
const TOTAL = [['total_tokens'], ['total_token_count']] as const;

/** What a usage says of the two sides, whatever it calls them; undefined where it says no count. */
export const sidesOf = (stated: unknown) => sidesOfPlain(plainUsage(stated) ?? {});

const sidesOfPlain = (usage: Record<string, unknown>) => ({
  input: mostOf(usage, INPUT),
  output: mostOf(usage, OUTPUT),
  total: mostOf(usage, TOTAL),
});

/**
 * The provider's usage in OpenAI's form; undefined where it is missing or cannot be a count (negative, a word, absurd).
 * `is_partial` is our word: one of the counts that its provider adds up was none, or it broke off.
 * Some write it in the words of the newer endpoints. Where what came out is not said, the rest of the total is that.
 * xAI and Google count what the model thought beside `completion_tokens`, and bill it as output: there the total alone has all of it.
 */
export function readUsage(stated: unknown): ReceiptUsage | undefined {
  const usage = plainUsage(stated);
  if (!usage) return undefined;
  const { input, output: named, total } = sidesOfPlain(usage);
  const inputDetails = usage['prompt_tokens_details'] ?? usage['input_tokens_details'];
  const outputDetails = usage['completion_tokens_details'] ?? usage['output_tokens_details'];
  const said = named ?? (input !== undefined && total !== undefined && total >= input ? total - input : undefined);
  if (input === undefined || said === undefined || isPartial(usage)) return undefined;
  return textUsage({ input, output: outputOf(input, said, total, outputDetails), inputDetails, outputDetails });
}

/** A usage in the words of all newer endpoints, responses, images and sound. */
export interface TokenUsage {
  readonly input: number;
  readonly output: number;
  readonly inputDetails: unknown;
  readonly outputDetails: unknown;
}

/**
 * Undefined where it is missing or neither side can be a count. A side that is none counts as zero, which is no report of an answer with content:
 * the other is the least that is charged then. What its parts mean, each endpoint knows.
 */
export function readTokens(stated: unknown): TokenUsage | undefined {
  const usage = plainUsage(stated);
  if (!usage) return undefined;
  const { input, output: said, total } = sidesOfPlain(usage);
  const inputDetails = usage['input_tokens_details'] ?? usage['input_token_details'] ?? usage['prompt_tokens_details'];
  const outputDetails = usage['output_tokens_details'] ?? usage['completion_tokens_details'];
  if (input !== undefined && said !== undefined)
    return { input, output: outputOf(input, said, total, outputDetails), inputDetails, outputDetails };
  if (input === undefined && said === undefined) return undefined;
  return { input: input ?? 0, output: said ?? 0, inputDetails, outputDetails };
}

/** Of a text: what was read from a cache and written to one, and what the model thought. */
export function textUsage({ input, output, inputDetails, outputDetails }: TokenUsage): ReceiptUsage {
  const cached = partIn(inputDetails, 'cached_tokens', input) ?? 0;
  const written = partIn(inputDetails, 'cache_write_tokens', input - cached) ?? 0;
  const forAnHour = partIn(inputDetails, 'cache_write_1h_tokens', input - cached - written) ?? 0;
  const usage: ReceiptUsage = {
    input_tokens: input,
    cached_input_tokens: cached,
    cache_write_tokens: written,
    output_tokens: output,
    reasoning_tokens: partIn(outputDetails, 'reasoning_tokens', output) ?? 0,
  };
  if (forAnHour > 0) usage.cache_write_1h_tokens = forAnHour;
  return usage;
}

/** Of a usage that is no whole report: what its counts say at the least, of either side. */
export const leastUsage = (usage: unknown): ReceiptUsage | undefined => {
  if (typeof usage !== 'object' || usage === null) return undefined;
  const whole = readUsage(usage);
  if (whole) return whole;
  const { input, output } = sidesOf(usage);
  return readUsage({ prompt_tokens: input ?? 0, completion_tokens: output ?? 0 });
};

/** As {@link readUsage}, of an answer that has not ended: there may be no count of what came out yet. */
export const readUsageSoFar = (usage: unknown): ReceiptUsage | undefined =>
  isRecord(usage) ? (readUsage(usage) ?? readUsage({ ...usage, completion_tokens: 0, total_tokens: null })) : undefined;

/** Whether anything of it may cost something. */
export function isUsed(usage: ReceiptUsage | undefined): boolean {
  for (const meter in usage) if ((usage[meter as keyof ReceiptUsage] ?? 0) > 0) return true;
  return false;
}

/**
 * What the provider reported; undefined where it is no report: servers that do not count say that an answer with content took no tokens, or
 * none on one of its sides. How many images were made is counted here.
 */
export const reportedUsage = (usage: ReceiptUsage | undefined, hasContent: () => boolean): ReceiptUsage | undefined =>
  usage && isPlaceholder(usage) && hasContent() ? undefined : usage;

function isPlaceholder(usage: ReceiptUsage): boolean {
  if (usage.input_tokens > 0 && usage.output_tokens > 0) return false;
  return !isUsed({ ...usage, images: 0 }) || (usage.input_tokens === 0) !== (usage.output_tokens === 0);
}

/** What was used, where anything was. */
export const usedUsage = (usage: ReceiptUsage | undefined): ReceiptUsage | undefined =>
  isUsed({ ...NO_USAGE, ...usage, images: 0 }) ? usage : undefined;

/** Whether what is settled is what the provider said: then its own words are shown. */
export const isSaid = (said: ReceiptUsage | undefined, settled: ReceiptUsage): boolean =>
  said !== undefined &&
  said.input_tokens === settled.input_tokens &&
  said.output_tokens === settled.output_tokens &&
  (usedUsage(said) !== undefined || usedUsage(settled) === undefined);

/** Of an answer that was not kept, and so has content: a text took tokens on both sides. */
export function usageOfLarge(
  said: unknown,
  { usageIn }: Pick<AnswerForm, 'usageIn'>,
  model: Pick<CatalogModel, 'kind'>,
): ReceiptUsage | undefined {
  const found = isPartial(said) ? undefined : usageIn(said);
  return writesText(model) ? reportedUsage(found, () => true) : found;
}

/** Of a whole answer: what its provider reported, and what it said at the least where that is no report. */
export const usageOfAnswer = (
  usage: ReceiptUsage | undefined,
  hasContent: () => boolean,
  least = usage,
): Pick<PlainAnswer, 'usage' | 'usageSaid'> => ({ usage: reportedUsage(usage, hasContent), usageSaid: least });

/**
 * What a provider says beside its error that it has used, and so bills; undefined where that is nothing. What is priced by the request alone
 * costs nothing where nothing was made.
 */
export function usageOfFault({ usage }: Pick<UpstreamFault, 'usage'>, { usageIn }: Pick<AnswerForm, 'usageIn'>): ReceiptUsage | undefined {
  if (usage === undefined || usageIn(undefined) !== undefined) return undefined;
  const used = usageIn(usage);
  return isUsed(used) ? used : undefined;
}

const PROMPT_METERS: ReadonlySet<string> = new Set<keyof ReceiptUsage>([
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'cache_write_1h_tokens',
  'audio_input_tokens',
  'cached_audio_input_tokens',
  'image_input_tokens',
  'cached_image_input_tokens',
]);

const metersOf = (usage: ReceiptUsage, arePrompt: boolean): [string, number][] =>
  Object.entries(usage).flatMap(([meter, count]) =>
    PROMPT_METERS.has(meter) === arePrompt && count !== undefined ? [[meter, count]] : [],
  );

/**
 * Our count for a stream that never reached its end, corrected by what the provider had said of the prompt by then: what it read from its
 * cache costs a tenth, and we cannot know of it. A prompt of no tokens is a placeholder.
 */
export function withPromptOf(said: ReceiptUsage | undefined, counted: ReceiptUsage): ReceiptUsage {
  if (!said || said.input_tokens === 0) return counted;
  return { ...NO_USAGE, ...Object.fromEntries([...metersOf(said, true), ...metersOf(counted, false)]) };
}

/** No less than the provider has said: the larger prompt with its parts, and the larger of all other counts. */
export function atLeast(said: ReceiptUsage | undefined, usage: ReceiptUsage): ReceiptUsage {
  if (!said) return usage;
  const prompt = metersOf(said.input_tokens > usage.input_tokens ? said : usage, true);
  const others = new Map(metersOf(usage, false));
  for (const [meter, count] of metersOf(said, false)) others.set(meter, Math.max(count, others.get(meter) ?? 0));
  return { ...NO_USAGE, ...Object.fromEntries([...prompt, ...others]) };
}

/** OpenAI's usage as the client sees it: the provider's own where it is written so, or one made from what is charged. */
export const usageForClient = (reported: unknown, usage: ReceiptUsage): Record<string, unknown> =>
  isRecord(reported) && isCount(reported['prompt_tokens']) && isCount(reported['completion_tokens'])
    ? reported
    : {
        prompt_tokens: usage.input_tokens,
        completion_tokens: usage.output_tokens,
        total_tokens: usage.input_tokens + usage.output_tokens,
        prompt_tokens_details: { cached_tokens: usage.cached_input_tokens },
        completion_tokens_details: { reasoning_tokens: usage.reasoning_tokens },
      };
