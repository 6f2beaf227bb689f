import { ERRORS, type ErrorCode } from './errors.ts';

/**
 * The APIs of other makers that are served beside our own, which is OpenAI's. A surface is its operations (routes with `surface` in their
 * metadata), the form of its refusals, and, where it shares a path with our own API, the header that its clients send.
 */
export const SURFACES = ['anthropic', 'google'] as const;
export type Surface = (typeof SURFACES)[number];

/** What only clients of a surface send: at a path that both APIs have, it decides in whose form the answer is. */
export const SURFACE_HEADERS: Readonly<Record<Surface, string>> = { anthropic: 'anthropic-version', google: 'x-goog-api-key' };

/** The statuses that a surface has in place of others. */
const STATUSES: Readonly<Record<Surface, Readonly<Record<number, number>>>> = {
  // Its clients know no 422, and 529 is its word for "not now".
  anthropic: { 422: 400, 503: 529 },
  google: { 422: 400 },
};

/** What must not be repeated is not called overloaded, which clients repeat. */
const KEPT: ReadonlySet<ErrorCode> = new Set(['no_provider_configured']);

/** A status that a provider has given, as the clients of a surface know it. */
export const statusAt = (surface: Surface, status: number): number => STATUSES[surface][status] ?? status;

/** The status that a refusal has on a surface. */
export function statusOn(surface: Surface, code: ErrorCode): number {
  const { status } = ERRORS[code];
  return KEPT.has(code) ? status : statusAt(surface, status);
}
