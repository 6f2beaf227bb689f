import { ProviderPreference } from '@tallygate/contract';
import { isRecord } from './usage.ts';

/** What a request wants of its providers. */
export interface Preference {
  /** Names of providers, in lower case. */
  readonly order: readonly string[];
  readonly only: ReadonlySet<string> | undefined;
  readonly ignore: ReadonlySet<string>;
  readonly allowsFallbacks: boolean;
  readonly sort: 'price' | 'latency' | 'throughput' | undefined;
  /** Pico-USD of a token, at most. */
  readonly maxInput: bigint | undefined;
  readonly maxOutput: bigint | undefined;
}

const inLowerCase = (names: readonly string[] | null | undefined): string[] => (names ?? []).map((name) => name.toLowerCase());

/** USD per million → pico-USD of one: both are 10⁶ apart. */
function picoOf(usd: string | number | null | undefined): bigint | undefined {
  if (usd === null || usd === undefined) return undefined;
  const [whole = '0', fraction = ''] = String(usd).split('.');
  return BigInt(whole + fraction.padEnd(6, '0'));
}

/** Of a request whose `provider` was validated; undefined where it has none. */
export function preferenceOf(request: unknown): Preference | undefined {
  const field = isRecord(request) ? request['provider'] : undefined;
  const given = field === undefined || field === null ? undefined : ProviderPreference.safeParse(field).data;
  if (!given) return undefined;
  const { order, only, ignore, allow_fallbacks, sort, max_price } = given;
  return {
    order: inLowerCase(order),
    only: only ? new Set(inLowerCase(only)) : undefined,
    ignore: new Set(inLowerCase(ignore)),
    allowsFallbacks: allow_fallbacks ?? true,
    sort: sort ?? undefined,
    maxInput: picoOf(max_price?.prompt),
    maxOutput: picoOf(max_price?.completion),
  };
}

/** What was measured of a deployment by now; null before the first time. */
export interface Measured {
  readonly latencyMs: number | null;
  readonly tokensPerSecond: number | null;
}

/** Of the deployments that can be asked now: where the request wants no fallback, and names no order, the first alone. */
export const withoutFallbacks = <One>(ready: readonly One[], preference: Preference | undefined): readonly One[] =>
  preference && !preference.allowsFallbacks && preference.order.length === 0 ? ready.slice(0, 1) : ready;

interface Sorted {
  readonly provider: string;
}

/**
 * The deployments that the request wants, those first that it wants first. What has not been measured comes before all others, so that it
 * will be. Otherwise the order stays that of the weights.
 */
export function preferred<One extends Sorted>(
  all: readonly One[],
  preference: Preference,
  measured: (one: One) => Measured,
): readonly One[] {
  const { order, only, ignore, allowsFallbacks, sort } = preference;
  const nameOf = ({ provider }: One) => provider.toLowerCase();
  const allowed = all.filter((one) => (only?.has(nameOf(one)) ?? true) && !ignore.has(nameOf(one)));
  const sorted = sort === 'latency' || sort === 'throughput' ? allowed.toSorted(by((one) => rankOf(measured(one), sort))) : allowed;
  if (order.length === 0) return sorted;
  const placeOf = (one: One) => (order.includes(nameOf(one)) ? order.indexOf(nameOf(one)) : order.length);
  const ordered = sorted.toSorted(by(placeOf));
  return allowsFallbacks ? ordered : ordered.filter((one) => placeOf(one) < order.length);
}

const by =
  <One>(rank: (one: One) => number) =>
  (a: One, b: One): number =>
    rank(a) - rank(b);

const rankOf = ({ latencyMs, tokensPerSecond }: Measured, sort: 'latency' | 'throughput'): number =>
  sort === 'latency' ? (latencyMs ?? -1) : -(tokensPerSecond ?? Number.MAX_SAFE_INTEGER);
