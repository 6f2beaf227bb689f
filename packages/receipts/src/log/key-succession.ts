import { canonicalJson } from '../canonical.ts';
import { verifyEd25519 } from '../ed25519.ts';
import { fromBase64url, utf8 } from '../encoding.ts';
import { jwsSigningInput, readJws } from '../jws.ts';
import type { KeyDeclaration, VaasKeySet } from '../receipt.ts';
import { Refused, refusalAsValue } from '../refusal.ts';
import { entriesOf, loggedBy, type ProvenEntry } from './logged-declarations.ts';

type Key = VaasKeySet['keys'][number];

/** What published keys come to beside those that were kept. */
export interface Succession {
  /** New keys that a key before them has signed, and that the log declares. */
  readonly accepted: readonly Key[];
  /** Keys that have been retired, as the log declares it. */
  readonly retired: readonly Key[];
  /** What contradicts that which was kept, or does not follow from it, a sentence each. */
  readonly refused: readonly { readonly kid: string; readonly reason: string }[];
  /** The states of the log that what was accepted or retired is proven by, signed notes: for `rememberCheckpoint`. */
  readonly states: readonly string[];
}

/**
 * Which of the published keys follow from those that were kept: a new key is signed by one before it and declared in the log, and so is the end of a
 * key. Nothing that was kept goes or changes otherwise.
 *
 * @param log an answer of `GET /v1/log/declarations`, or a list of several: each page is proven against its own checkpoint
 */
export function keySuccession(kept: readonly Key[], published: readonly Key[], log: unknown): Succession {
  const refused: { kid: string; reason: string }[] = [];
  const entries = entriesOf(log);
  const trusted = new Map(kept.map((key) => [key.kid, key]));
  const signed = signedKeys(published, entries, trusted);
  const isLogged = loggedBy([...kept, ...signed.map(({ key }) => key)]);

  const logged = signed.filter(({ entry }) => isLogged(entry));
  const states = new Set(logged.map(({ entry }) => entry.checkpoint));
  const accepted = logged.map(({ key }) => key);
  for (const { kid } of published)
    if (!trusted.has(kid) && !accepted.some((key) => key.kid === kid))
      refused.push({ kid, reason: 'is new, and no kept key has signed it in an entry of the log' });
  const retired: Key[] = [];
  for (const before of kept) {
    const now = published.find(({ kid, purpose }) => kid === before.kid && purpose === before.purpose);
    if (!now) refused.push({ kid: before.kid, reason: 'is published no longer' });
    else if (canonicalJson({ ...now }) !== canonicalJson({ ...before })) {
      const end = entries.find(
        ({ declaration: { kind, ...one } }) =>
          kind === 'key_retired' && 'not_after' in one && one.kid === now.kid && one.not_after === now.not_after,
      );
      const isEnd = before.not_after === null && canonicalJson({ ...now, not_after: null }) === canonicalJson({ ...before });
      if (isEnd && end && isLogged(end)) {
        retired.push(now);
        states.add(end.checkpoint);
      } else
        refused.push({
          kid: before.kid,
          reason: isEnd ? 'is retired, and no entry of the log says so' : `was changed: ${differences(before, now)}`,
        });
    }
  }
  return { accepted, retired, refused, states: [...states] };
}

/** New keys whose declaration a trusted key has signed, or one that is in this list by then. */
function signedKeys(
  published: readonly Key[],
  entries: readonly ProvenEntry[],
  kept: ReadonlyMap<string, Key>,
): { key: Key; entry: ProvenEntry }[] {
  const trusted = new Map(kept);
  const found: { key: Key; entry: ProvenEntry }[] = [];
  for (let before = -1; before !== found.length; ) {
    before = found.length;
    for (const key of published) {
      if (trusted.has(key.kid)) continue;
      const entry = entries.find(
        ({ declaration }) => declaration.kind === 'key' && isOfKey(declaration, key) && isSigned(declaration, trusted),
      );
      if (!entry) continue;
      trusted.set(key.kid, key);
      found.push({ key, entry });
    }
  }
  return found;
}

const isOfKey = (declaration: KeyDeclaration, { kid, x, purpose, not_before }: Key): boolean =>
  declaration.kid === kid && declaration.x === x && declaration.purpose === purpose && declaration.not_before === not_before;

/** By a key that was in force then, of the same purpose; a key for promises is signed by one for receipts. */
function isSigned(declaration: KeyDeclaration, trusted: ReadonlyMap<string, Key>): boolean {
  const { signed_by: signedBy, purpose, declared_at: at } = declaration;
  const signer = signedBy ? trusted.get(signedBy.kid) : undefined;
  if (!signedBy || !signer || signer.purpose !== (purpose === 'promise' ? 'receipt' : purpose)) return false;
  if (signer.not_after !== null && at > signer.not_after) return false;
  const checked = refusalAsValue(() => {
    const { kid, signature, payload } = readJws(signedBy.jws, {
      path: 'signed_by.jws',
      typ: 'tallygate-key',
      code: 'malformed_declaration',
    });
    const input = jwsSigningInput(kid, utf8(canonicalJson({ ...declaration, signed_by: null })), 'tallygate-key');
    if (kid !== signer.kid || payload !== '' || !verifyEd25519(input, signature, fromBase64url(signer.x, 32) ?? new Uint8Array()))
      throw new Refused('bad_signature', `The declaration of ${declaration.kid} is not signed by ${signer.kid}.`);
    return { valid: true as const };
  });
  return checked.valid;
}

function differences(before: Key, now: Key): string {
  const [were, are] = [before, now].map((key) => new Map<string, unknown>(Object.entries(key)));
  const names = [...new Set([...(were?.keys() ?? []), ...(are?.keys() ?? [])])].filter((name) => were?.get(name) !== are?.get(name));
  return names.map((name) => `${name} was ${were?.get(name) ?? 'not set'}, is ${are?.get(name) ?? 'not set'}`).join('; ');
}
