import type { VaasKeySet } from '@tallygate/sdk';

type Key = VaasKeySet['keys'][number];

/** The stored and the published keys, compared. */
interface KeysTogether {
  readonly keys: readonly Key[];
  /** A sentence for every difference that a user of the keys should check. */
  readonly changes: readonly string[];
  /** Of these, the ones that contradict the stored keys, or do not follow from them. */
  readonly contradictions: readonly string[];
  /** The states of the log that prove the changes, signed notes. */
  readonly states: readonly string[];
}

/**
 * The stored keys are trusted to verify receipts, so no later publication replaces them. New keys are added where one before them has
 * signed them and the log declares them; a retirement is stored where the log declares it. Everything else is refused.
 *
 * @param log an answer of `GET /v1/log/declarations`
 */
export async function keysTogether(kept: readonly Key[], published: readonly Key[], log: unknown): Promise<KeysTogether> {
  const { keySuccession } = await import('@tallygate/receipts');
  const { accepted, retired, refused, states } = keySuccession(kept, published, log);
  const isOf = (wanted: Key) => (key: { readonly kid: string }) => key.kid === wanted.kid;
  const nameOfKid = (kid: string): string =>
    nameOf(
      [...kept, ...published].find((key) => key.kid === kid),
      kid,
    );
  return {
    states,
    keys: [
      ...kept.map((before) => published.find((now) => isOf(before)(now) && retired.some(isOf(before))) ?? before),
      ...published.filter((key) => accepted.some(isOf(key))),
    ],
    changes: [
      ...retired.map((key) => `${nameOf(key)} is retired since ${key.not_after}.`),
      ...accepted.map((key) => `${nameOf(key)} is new, valid from ${key.not_before} on, and signed by the one before it.`),
    ],
    contradictions: refused.map(({ kid, reason }) => `${nameOfKid(kid)} ${reason}.`),
  };
}

const KINDS = { receipt: 'receipt key', checkpoint: 'key of the log', promise: 'key of promises' } as const;

const nameOf = (key: Key | undefined, kid = key?.kid): string => `The ${key ? KINDS[key.purpose] : 'key'} ${kid}`;
