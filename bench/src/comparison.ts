import { median, quantile } from './statistics.ts';

/** Two measurements taken one right after the other, in an order that a coin decided; milliseconds. */
export interface Pair {
  readonly known: number;
  readonly unknown: number;
}

/** Milliseconds throughout; a difference is known minus unknown. */
export interface Comparison {
  readonly pairs: number;
  readonly known: number;
  readonly unknown: number;
  /** Median of the pairs' differences: what disturbs both of a pair is not in it. */
  readonly difference: number;
  /** Bootstrap interval of that median, 95 %. */
  readonly interval: readonly [from: number, to: number];
  /** How often chance alone would make so great a difference: Wilcoxon's signed-rank test, two-sided. */
  readonly p: number;
}

const RESAMPLES = 2_000;
const CONFIDENCE = 0.95;

export function compare(pairs: readonly Pair[]): Comparison {
  const differences = pairs.map(({ known, unknown }) => known - unknown);
  return {
    pairs: pairs.length,
    known: median(pairs.map(({ known }) => known)),
    unknown: median(pairs.map(({ unknown }) => unknown)),
    difference: median(differences),
    interval: bootstrapMedian(differences),
    p: signedRankTest(differences),
  };
}

/** Medians of samples drawn with replacement; what lies between their outer fortieths. */
function bootstrapMedian(values: readonly number[]): [from: number, to: number] {
  const drawn = () => values[Math.floor(Math.random() * values.length)] ?? Number.NaN;
  const medians = Array.from({ length: RESAMPLES }, () => median(values.map(drawn)));
  return [quantile(medians, (1 - CONFIDENCE) / 2), quantile(medians, (1 + CONFIDENCE) / 2)];
}

/**
 * The permutation test in which every pair may be swapped, on ranks, so that one slow answer counts no more than its place. Since a
 * coin decided each pair's order, a swap changes nothing where nothing differs. By the normal approximation, good from some 20 pairs on;
 * times of nanoseconds have no ties worth correcting for.
 */
function signedRankTest(differences: readonly number[]): number {
  const ranked = differences.filter((difference) => difference !== 0).sort((a, b) => Math.abs(a) - Math.abs(b));
  const count = ranked.length;
  if (count === 0) return 1;
  const sum = ranked.reduce((total, difference, at) => total + Math.sign(difference) * (at + 1), 0);
  const deviation = Math.sqrt((count * (count + 1) * (2 * count + 1)) / 6);
  return twoSidedTail(Math.abs(sum) / deviation);
}

/** How much of a normal distribution lies beyond `z` on both sides: Abramowitz and Stegun 7.1.26, right to seven digits. */
function twoSidedTail(z: number): number {
  const x = z / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * x);
  const series = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592].reduce((sum, factor) => (sum + factor) * t, 0);
  return series * Math.exp(-x * x);
}
