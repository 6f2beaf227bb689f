import type { ModelPricing } from '@tallygate/sdk';
import { shifted, usd } from '../format.ts';

export type Meter = keyof ModelPricing['prices'];

const MILLION_DIGITS = 6;

export const meterName = (meter: string): string => meter.replaceAll('_', ' ');
export const perMillion = (price: string): string => shifted(price, MILLION_DIGITS);

/** Tokens and characters are priced by the million everywhere; a search or a picture by itself. */
const isByMillion = (meter: string): boolean => /tokens|characters/.test(meter);
export const unitOf = (meter: string): string => (isByMillion(meter) ? 'a million' : 'each');
export const priceOf = (meter: string, price: string | undefined): string =>
  price === undefined ? '–' : usd(isByMillion(meter) ? perMillion(price) : price);

/** The service tier that a version is the price of: "flex" of `2026-07-24/flex`; undefined for the standard one. */
export const tierOf = ({ version }: ModelPricing): string | undefined => {
  const slash = version.lastIndexOf('/');
  return slash < 0 ? undefined : version.slice(slash + 1);
};

/** The prices of other service tiers that are charged beside a version. */
export const tiersBeside = ({ version }: ModelPricing, versions: readonly ModelPricing[]): readonly ModelPricing[] =>
  versions.filter((other) => other.version.startsWith(`${version}/`));

/** Two decimal numbers multiplied, exactly: ("0.000002", "0.5") → "0.000001". */
export function times(a: string, b: string): string {
  const parts = [a, b].map((text) => text.split('.') as [string, string?]);
  const places = parts.reduce((sum, [, part = '']) => sum + part.length, 0);
  const digits = parts.reduce((product, [whole, part = '']) => product * BigInt(whole + part), 1n);
  const padded = digits.toString().padStart(places + 1, '0');
  const cut = padded.length - places;
  return `${padded.slice(0, cut)}.${padded.slice(cut)}`.replace(/\.?0+$/, '');
}
