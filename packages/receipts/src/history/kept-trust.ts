import { isPlainObject } from '../canonical.ts';
import { keySuccession } from '../log/key-succession.ts';
import type { VaasKeySet } from '../receipt.ts';
import type { LogStore } from './log-store.ts';

type Keys = readonly VaasKeySet['keys'][number][];

/** A service publishes keys that contradict those it has published before, or do not follow from them. Both are kept as evidence. */
export class KeysContradictedError extends Error {
  override readonly name = 'KeysContradictedError';
  readonly code = 'keys_contradicted';
  /** Where the evidence is: of a file store, the path of a file. */
  readonly evidence: string;

  constructor(reason: string, evidence: string) {
    super(reason);
    this.evidence = evidence;
  }
}

/** What a reader has seen of a service, and relies on from then on. */
interface KeptTrust {
  readonly keys: Keys;
  /** The entry of the newest policy in the log; null before any was seen. */
  readonly policy: number | null;
}

const NOTHING: KeptTrust = { keys: [], policy: null };

/**
 * Compares the keys that a service publishes with those that were seen there, and keeps them: the first ones are believed, later ones have to
 * follow from them by entries of the log.
 *
 * @param service its address
 * @param declared asks for all pages of `GET /v1/log/declarations?kind=key` and `kind=key_retired`, where something has changed
 * @returns the keys to verify with
 * @throws KeysContradictedError
 */
export async function rememberKeys(
  service: string,
  published: Keys,
  { store, declared }: { readonly store: LogStore; readonly declared: () => Promise<readonly unknown[]> },
): Promise<Keys> {
  let log: readonly unknown[] | undefined;
  return changed(store, service, async (kept) => {
    if (kept.keys.length === 0) return { ...kept, keys: published };
    if (JSON.stringify(sorted(kept.keys)) === JSON.stringify(sorted(published))) return kept;
    log ??= await declared();
    const { accepted, retired, refused } = keySuccession(kept.keys, published, log);
    if (refused.length > 0) {
      const reasons = refused.map(({ kid, reason }) => `The key ${kid} ${reason}.`);
      const evidence = { object: 'key_contradiction_evidence', service, reasons, kept: kept.keys, met: published, declarations: log };
      throw new KeysContradictedError(reasons.join(' '), await store.keepEvidence(nameOf(service), textOf(evidence)));
    }
    return { ...kept, keys: [...kept.keys.map((key) => retired.find(({ kid }) => kid === key.kid) ?? key), ...accepted] };
  }).then(({ keys }) => keys);
}

/**
 * Keeps which entry of the log is the newest policy: who was shown one is not shown a log without it later.
 *
 * @param pages answers of `GET /v1/log/declarations?kind=policy`, all pages
 * @returns where the evidence is, if the newest one that is shown now is older than the one that was kept
 */
export async function rememberPolicy(
  service: string,
  index: number,
  pages: readonly unknown[],
  store: LogStore,
): Promise<string | undefined> {
  const { policy } = await changed(store, service, async (kept) => (index > (kept.policy ?? -1) ? { ...kept, policy: index } : kept));
  if (policy === null || policy <= index) return undefined;
  const evidence = { object: 'withheld_policy_evidence', service, kept: policy, met: index, declarations: pages };
  return store.keepEvidence(nameOf(service), textOf(evidence));
}

/** @returns what is kept afterwards */
async function changed(store: LogStore, service: string, next: (kept: KeptTrust) => Promise<KeptTrust>): Promise<KeptTrust> {
  for (;;) {
    const before = await store.read(nameOf(service));
    const kept = readTrust(before);
    const wanted = await next(kept);
    // Another process may have kept something meanwhile: then that is to be compared too.
    if (wanted === kept || (await store.replace(nameOf(service), before, textOf(wanted)))) return wanted;
  }
}

function readTrust(text: string | undefined): KeptTrust {
  if (text === undefined) return NOTHING;
  const value: unknown = JSON.parse(text);
  if (!isPlainObject(value) || !Array.isArray(value['keys'])) throw new TypeError('What was kept of the keys of a service is damaged.');
  return { keys: value['keys'], policy: typeof value['policy'] === 'number' ? value['policy'] : null };
}

const nameOf = (service: string): string => `keys of ${service}`;
const textOf = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;
const sorted = (keys: Keys): Keys => [...keys].sort((a, b) => (a.kid < b.kid ? -1 : 1));
