import type { ApiKey } from './api-key.ts';

const FIELDS = [
  'livemode',
  'scopes',
  'expiresAt',
  'monthlyCap',
  'allowedModels',
  'allowedEndpoints',
  'requestsPerMinute',
  'tokensPerMinute',
  'concurrency',
  'requireSignature',
] as const;

/** How far a key reaches: everything in which one key may be more than another. */
export type Reach = Pick<ApiKey, (typeof FIELDS)[number]>;
export type Dimension = (typeof FIELDS)[number];

/** A copy that later changes of the key leave alone. */
export const reachOf = (key: Reach): Reach => ({
  livemode: key.livemode,
  scopes: [...key.scopes],
  expiresAt: key.expiresAt ?? null,
  monthlyCap: key.monthlyCap ?? null,
  allowedModels: key.allowedModels ?? null,
  allowedEndpoints: key.allowedEndpoints ?? null,
  requestsPerMinute: key.requestsPerMinute ?? null,
  tokensPerMinute: key.tokensPerMinute ?? null,
  concurrency: key.concurrency ?? null,
  requireSignature: key.requireSignature,
});

/** In what the first reaches further than the second. */
export const excessOf = (key: Reach, other: Reach): Dimension[] => FIELDS.filter((field) => exceeds[field](key, other));

const isWider = <T>(one: readonly T[] | null | undefined, other: readonly T[] | null | undefined): boolean =>
  Boolean(other && (!one || one.some((item) => !other.includes(item))));
const isMore = <T extends number | bigint | Date>(one: T | null | undefined, other: T | null | undefined): boolean =>
  other != null && (one == null || one > other);

const exceeds: Record<Dimension, (key: Reach, other: Reach) => boolean> = {
  livemode: (key, other) => key.livemode && !other.livemode,
  scopes: (key, other) => isWider(key.scopes, other.scopes),
  expiresAt: (key, other) => isMore(key.expiresAt, other.expiresAt),
  monthlyCap: (key, other) => isMore(key.monthlyCap, other.monthlyCap),
  allowedModels: (key, other) => isWider(key.allowedModels, other.allowedModels),
  allowedEndpoints: (key, other) => isWider(key.allowedEndpoints, other.allowedEndpoints),
  requestsPerMinute: (key, other) => isMore(key.requestsPerMinute, other.requestsPerMinute),
  tokensPerMinute: (key, other) => isMore(key.tokensPerMinute, other.tokensPerMinute),
  concurrency: (key, other) => isMore(key.concurrency, other.concurrency),
  requireSignature: (key, other) => !key.requireSignature && other.requireSignature,
};
