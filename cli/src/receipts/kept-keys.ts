import { isDeepStrictEqual } from 'node:util';
import type { VaasKeySet } from '@tallygate/sdk';

type Key = VaasKeySet['keys'][number];

/** What a look at the published keys comes to, beside those that were kept before. */
interface KeysTogether {
  readonly keys: readonly Key[];
  /** A sentence for every difference that somebody who relies on the keys should look at. */
  readonly changes: readonly string[];
}

/**
 * The kept keys are what receipts are believed by, so nothing that is published later takes their place: they stay as they were, even where
 * they are published no longer. New ones are added, and an end is taken over where there was none: both belong to changing keys, and both are
 * said.
 */
export function keysTogether(kept: readonly Key[], published: readonly Key[]): KeysTogether {
  const changes: string[] = [];
  const stay = kept.map((before) => {
    const now = published.find((key) => nameOf(key) === nameOf(before));
    if (!now) changes.push(`${nameOf(before)} is published no longer; it stays among those that are kept.`);
    if (!now || isDeepStrictEqual({ ...now }, { ...before })) return before;
    const retired = { ...before, not_after: now.not_after };
    if (before.not_after === null && isDeepStrictEqual({ ...now }, retired)) {
      changes.push(`${nameOf(before)} is retired since ${now.not_after}.`);
      return retired;
    }
    changes.push(`${nameOf(before)} was changed: ${differences(before, now)}. The one that is kept stays as it was.`);
    return before;
  });
  const added = published.filter((key) => !kept.some((before) => nameOf(before) === nameOf(key)));
  for (const key of added) changes.push(`${nameOf(key)} is new, valid from ${key.not_before} on.`);
  return { keys: [...stay, ...added], changes };
}

const nameOf = ({ purpose, kid }: Key): string => `The ${purpose === 'receipt' ? 'receipt key' : 'key of the log'} ${kid}`;

function differences(before: Key, now: Key): string {
  const were = new Map<string, unknown>(Object.entries(before));
  const are = new Map<string, unknown>(Object.entries(now));
  const names = [...new Set([...were.keys(), ...are.keys()])].filter((name) => !isDeepStrictEqual(were.get(name), are.get(name)));
  return names.map((name) => `${name} was ${were.get(name) ?? 'not set'}, is ${are.get(name) ?? 'not set'}`).join('; ');
}
