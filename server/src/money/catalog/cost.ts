import type { ReceiptUsage } from '@tallygate/contract';
import { madeOnce } from '../../kernel/made-once.ts';
import { maxOf, type NanoUsd, type PicoUsd } from '../../kernel/money.ts';
import type { Price, UnitPrices } from './price.ts';
import { ceilDiv, type Factor, factorOf } from './price-factor.ts';

export interface Cost {
  readonly nanoUsd: NanoUsd;
  /** The unit prices that were applied. */
  readonly unit: UnitPrices;
  /** The long-context tier that was applied, or null. */
  readonly tierAboveInputTokens: number | null;
}

const PICO_PER_NANO = 1_000n;

/** The prices for a request of that many input tokens: its tier prices the whole request. */
function pricesFor(price: Price, inputTokens: number): { unit: UnitPrices; tierAboveInputTokens: number | null } {
  const tier = price.tiers.findLast(({ aboveInputTokens }) => inputTokens > aboveInputTokens);
  return tier ? { unit: tier.unit, tierAboveInputTokens: tier.aboveInputTokens } : { unit: price.unit, tierAboveInputTokens: null };
}

/**
 * What the usage costs, rounded up once. A part of the input or output costs the price of its whole where it has none of its own; what
 * the price does not name at all is counted and costs nothing.
 *
 * @param factor on all prices but those of tools, an exact decimal such as a price's `batchFactor`
 */
export function costOf(price: Price, usage: ReceiptUsage, factor = '1'): Cost {
  const { unit, tierAboveInputTokens } = pricesFor(price, usage.input_tokens);
  const { part, whole } = factorOf(factor);
  const pico = picoOf(unit, usage) * part + picoOfTools(unit, usage) * whole;
  return { nanoUsd: ceilDiv(pico, whole * PICO_PER_NANO), unit, tierAboveInputTokens };
}

/** What tools of the provider use: a part of nothing, at the whole price in a batch too. */
export const TOOL_METERS = [
  'web_searches',
  'web_search_previews',
  'file_searches',
  'container_gigabytes',
  'image_tool_text_input_tokens',
  'image_tool_image_input_tokens',
  'image_tool_text_output_tokens',
  'image_tool_image_output_tokens',
] as const;

/** Units by meter. */
export type ToolUsage = Readonly<Partial<Record<(typeof TOOL_METERS)[number], number | undefined>>>;

/** Of most meters nothing is used, and a product of large integers is not free. */
const times = (count: number | undefined, price: PicoUsd | undefined): PicoUsd =>
  count === undefined || count === 0 || price === undefined ? 0n : BigInt(count) * price;

function picoOfTools(unit: UnitPrices, used: ToolUsage): PicoUsd {
  let sum = 0n;
  for (const meter of TOOL_METERS) sum += times(used[meter], unit[meter]);
  return sum;
}

function picoOf(unit: UnitPrices, usage: ReceiptUsage): PicoUsd {
  const { cache_write_1h_tokens: hourly = 0, audio_input_tokens: audio = 0, image_output_tokens: imageOut = 0 } = usage;
  const { cached_audio_input_tokens: cachedAudio = 0, image_input_tokens: image = 0 } = usage;
  const { cached_image_input_tokens: cachedImage = 0, audio_output_tokens: audioOut = 0 } = usage;
  const fresh = usage.input_tokens - usage.cached_input_tokens - usage.cache_write_tokens - hourly - audio - image;
  const each = pricesWithFallbacks(unit);
  return (
    times(fresh, each.input) +
    times(usage.cached_input_tokens, each.cached) +
    times(usage.cache_write_tokens, each.cacheWrite) +
    times(hourly, each.cacheWriteHour) +
    times(audio - cachedAudio, each.audio) +
    times(cachedAudio, each.cachedAudio) +
    times(image - cachedImage, each.image) +
    times(cachedImage, each.cachedImage) +
    times(usage.output_tokens - imageOut - audioOut, each.output) +
    times(imageOut, each.imageOutput) +
    times(audioOut, each.audioOutput) +
    times(usage.input_characters, each.character) +
    times(usage.audio_seconds, each.audioSecond) +
    times(usage.video_seconds, each.videoSecond) +
    times(usage.search_units, each.searchUnit)
  );
}

type WholePrices = ReturnType<typeof withFallbacks>;

/** There are few unit prices, and the cost of every request is computed with some of them several times. */
const pricesWithFallbacks = madeOnce(withFallbacks);

function withFallbacks(unit: UnitPrices) {
  const input = unit.input_tokens ?? 0n;
  // Image models may have a price for image tokens out alone: no provider gives the others away.
  const output = unit.output_tokens ?? unit.image_output_tokens ?? 0n;
  const cacheWrite = unit.cache_write_tokens ?? input;
  const image = unit.image_input_tokens ?? input;
  const audio = unit.audio_input_tokens ?? input;
  return {
    input,
    cached: unit.cached_input_tokens ?? input,
    cacheWrite,
    cacheWriteHour: unit.cache_write_1h_tokens ?? cacheWrite,
    audio,
    cachedAudio: unit.cached_audio_input_tokens ?? audio,
    image,
    cachedImage: unit.cached_image_input_tokens ?? image,
    output,
    imageOutput: unit.image_output_tokens ?? output,
    audioOutput: unit.audio_output_tokens ?? output,
    character: unit.input_characters ?? 0n,
    audioSecond: unit.audio_seconds ?? 0n,
    videoSecond: unit.video_seconds ?? 0n,
    searchUnit: unit.search_units ?? 0n,
  };
}

/** The most of each unit that a request can come to. What is left out is none. */
export interface UsageBound {
  /** Tokens in of any kind. */
  readonly inputTokens: number;
  /** Tokens out that the bound on tokens out does not cover, such as rejected predictions. */
  readonly fixedOutputTokens?: number;
  /** Image tokens out. The bound on tokens out does not cover them. */
  readonly imageOutputTokens?: number;
  readonly inputCharacters?: number;
  readonly audioSeconds?: number;
  readonly videoSeconds?: number;
  /** Searches of a rerank model. */
  readonly searchUnits?: number;
  /** Tokens that the output bound counts may be sound. */
  readonly mayHaveAudioOut?: boolean;
  readonly tools?: ToolUsage;
  /** How often what comes out may be read again on the way, as part of the input. */
  readonly rereads?: number;
}

export interface CostBound {
  /** Worst case of everything but the tokens out. */
  readonly fixed: PicoUsd;
  /** Of one token out. */
  readonly perOutputToken: PicoUsd;
}

/**
 * Worst case over every way the provider may count within the bound: the dearest input meter, image tokens out that are not told apart from
 * text, and every tier that the input can reach.
 */
export function costBound(price: Price, bound: UsageBound, factor = '1'): CostBound {
  // Of what is read again nobody knows here how much it is.
  const tiers = price.tiers.filter((tier) => bound.rereads || bound.inputTokens > tier.aboveInputTokens);
  const units = [price.unit, ...tiers.map(({ unit }) => unit)];
  const dearest = tiers.length === 0 ? dearestBelowTiers(price) : dearestOf(units);
  const perOutput = bound.mayHaveAudioOut ? maxOf(dearest.output, dearest.audioOutput) : dearest.output;
  const perOutputToken = perOutput + times(bound.rereads, dearest.inputOfAnyKind);
  const fixed =
    times(bound.inputTokens, dearest.inputOfAnyKind) +
    times(bound.fixedOutputTokens, perOutputToken) +
    times(bound.imageOutputTokens, maxOf(dearest.imageOutput, dearest.output)) +
    times(bound.inputCharacters, dearest.character) +
    times(bound.audioSeconds, dearest.audioSecond) +
    times(bound.videoSeconds, dearest.videoSecond) +
    times(bound.searchUnits, dearest.searchUnit);
  const by = factorOf(factor);
  return { fixed: scaled(fixed, by) + mostOfTools(units, bound.tools), perOutputToken: scaled(perOutputToken, by) };
}

interface Dearest extends WholePrices {
  /** The dearest of all meters that input may be counted under. */
  readonly inputOfAnyKind: PicoUsd;
}

/** Each meter at its dearest. */
function dearestOf(units: readonly UnitPrices[]): Dearest {
  const reachable = units.map(pricesWithFallbacks);
  const dearest = (meter: keyof WholePrices): PicoUsd => reachable.map((each) => each[meter]).reduce(maxOf, 0n);
  return {
    input: dearest('input'),
    cached: dearest('cached'),
    cacheWrite: dearest('cacheWrite'),
    cacheWriteHour: dearest('cacheWriteHour'),
    audio: dearest('audio'),
    cachedAudio: dearest('cachedAudio'),
    image: dearest('image'),
    cachedImage: dearest('cachedImage'),
    output: dearest('output'),
    imageOutput: dearest('imageOutput'),
    audioOutput: dearest('audioOutput'),
    character: dearest('character'),
    audioSecond: dearest('audioSecond'),
    videoSecond: dearest('videoSecond'),
    searchUnit: dearest('searchUnit'),
    inputOfAnyKind: INPUT_METERS.map(dearest).reduce(maxOf, 0n),
  };
}

/** Of each price, for the requests that reach none of its tiers: nearly all. */
const dearestBelowTiers = madeOnce(({ unit }: Price): Dearest => dearestOf([unit]));

function mostOfTools(units: readonly UnitPrices[], tools: ToolUsage | undefined): PicoUsd {
  if (tools === undefined) return 0n;
  return units.map((unit) => picoOfTools(unit, tools)).reduce(maxOf, 0n);
}

/** Rounded up, so that a bound stays one. */
const scaled = (amount: PicoUsd, { part, whole }: Factor): PicoUsd => ceilDiv(amount * part, whole);

/** The input meters that a provider may count a prompt under, dearest first where prices are equal to the plain one. */
const INPUT_METERS = ['input', 'cacheWriteHour', 'cacheWrite', 'audio', 'cachedAudio', 'image', 'cachedImage', 'cached'] as const;

/** The dearest usage within the bound, for a request whose real usage stays unknown. It costs at most what {@link costBound} says. */
export function usageBound(price: Price, { rereads = 0, ...given }: UsageBound, outputTokens: number): ReceiptUsage {
  const bound = { ...given, inputTokens: given.inputTokens + rereads * (outputTokens + (given.fixedOutputTokens ?? 0)) };
  const whole = usageOfInput(price, bound, outputTokens);
  // A long-context tier is mostly the dearer one; where it is not, a shorter prompt would cost more.
  const shorter = price.tiers.filter(({ aboveInputTokens }) => aboveInputTokens < bound.inputTokens);
  return shorter
    .map(({ aboveInputTokens }) => usageOfInput(price, { ...bound, inputTokens: aboveInputTokens }, outputTokens))
    .reduce((most, usage) => (costOf(price, usage).nanoUsd > costOf(price, most).nanoUsd ? usage : most), whole);
}

function usageOfInput(price: Price, bound: UsageBound, outputTokens: number): ReceiptUsage {
  const each = pricesWithFallbacks(pricesFor(price, bound.inputTokens).unit);
  const { inputTokens: input } = bound;
  const dearest = INPUT_METERS.reduce((most, meter) => (each[meter] > each[most] ? meter : most));
  const images = bound.imageOutputTokens ?? 0;
  const imageOutput = each.imageOutput >= each.output ? images : 0;
  const usage: ReceiptUsage = {
    input_tokens: input,
    cached_input_tokens: dearest === 'cached' ? input : 0,
    cache_write_tokens: dearest === 'cacheWrite' ? input : 0,
    output_tokens: outputTokens + (bound.fixedOutputTokens ?? 0) + images,
    reasoning_tokens: 0,
  };
  const set = (meter: keyof ReceiptUsage, count: number | undefined) => {
    if (count) usage[meter] = count;
  };
  set('cache_write_1h_tokens', dearest === 'cacheWriteHour' ? input : 0);
  set('audio_input_tokens', dearest === 'audio' || dearest === 'cachedAudio' ? input : 0);
  set('cached_audio_input_tokens', dearest === 'cachedAudio' ? input : 0);
  set('image_input_tokens', dearest === 'image' || dearest === 'cachedImage' ? input : 0);
  set('cached_image_input_tokens', dearest === 'cachedImage' ? input : 0);
  set('image_output_tokens', imageOutput);
  set('input_characters', bound.inputCharacters);
  set('audio_seconds', bound.audioSeconds);
  set('video_seconds', bound.videoSeconds);
  set('search_units', bound.searchUnits);
  set('audio_output_tokens', bound.mayHaveAudioOut && each.audioOutput >= each.output ? outputTokens : 0);
  return Object.assign(usage, bound.tools);
}
