import { toHex, utf8 } from '../encoding.ts';
import { sha256 } from '../sha256.ts';

/**
 * Where the states of logs are kept that were seen: one text for each log. Processes that share a store do not lose what another has kept,
 * because each replaces only the text that it has read.
 */
export interface LogStore {
  /** Undefined for a log of which nothing is kept. */
  read(origin: string): Promise<string | undefined>;
  /** Keeps `next` in the place of `before`. @returns false where something else is kept by now, which may have been made of `next` */
  replace(origin: string, before: string | undefined, next: string): Promise<boolean>;
  /** Keeps what shows that two states contradict each other. The same text twice is kept once. @returns where it is */
  keepEvidence(origin: string, text: string): Promise<string>;
}

/** Kept for as long as the process lasts. */
export function memoryLogStore(): LogStore & { readonly evidence: ReadonlyMap<string, string> } {
  const states = new Map<string, string>();
  const evidence = new Map<string, string>();
  return {
    evidence,
    read: async (origin) => states.get(origin),
    replace: async (origin, before, next) => {
      if (states.get(origin) !== before) return false;
      states.set(origin, next);
      return true;
    },
    keepEvidence: async (origin, text) => {
      const name = `memory: ${evidenceName(origin, text)}`;
      evidence.set(name, text);
      return name;
    },
  };
}

/** What of a browser's `localStorage` is used here. */
interface WebStorage {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
}

const PREFIX = 'tallygate-log:';

/** In a browser: `webLogStore(localStorage)`. */
export const webLogStore = (storage: WebStorage): LogStore => ({
  read: async (origin) => storage.getItem(`${PREFIX}${origin}`) ?? undefined,
  // Nothing of this page runs between the look and the change.
  replace: async (origin, before, next) => {
    if ((storage.getItem(`${PREFIX}${origin}`) ?? undefined) !== before) return false;
    storage.setItem(`${PREFIX}${origin}`, next);
    return true;
  },
  keepEvidence: async (origin, text) => {
    const name = `${PREFIX}${evidenceName(origin, text)}`;
    storage.setItem(name, text);
    return name;
  },
});

/** The name of a file for what is kept of a log: legible, and another one for every origin. */
export const fileNameOf = (origin: string): string => `${origin.replaceAll(/[^A-Za-z0-9.-]+/g, '_').slice(0, 80)}.${fingerprint(origin)}`;

/** Follows from the text, so that the same evidence is kept once, however often it is met. */
export const evidenceName = (origin: string, text: string): string => `${fileNameOf(origin)}.fork-${fingerprint(text)}.json`;

const fingerprint = (text: string): string => toHex(sha256(utf8(text))).slice(0, 12);
