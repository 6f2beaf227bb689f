import { isPlainObject } from '../canonical.ts';
import { checkDeclarationChain, type DeclarationKind } from '../log/declaration-chain.ts';
import { keySuccession } from '../log/key-succession.ts';
import type { ProvenEntry } from '../log/logged-declarations.ts';
import type { VaasKeySet } from '../receipt.ts';
import { refusalAsValue } from '../refusal.ts';
import type { LogStore } from './log-store.ts';

type Keys = readonly VaasKeySet['keys'][number][];

class ContradictionError extends Error {
  /** Where the evidence is: of a file store, the path of a file. */
  readonly evidence: string;

  constructor(reason: string, evidence: string) {
    super(reason);
    this.evidence = evidence;
  }
}

/** A service publishes keys that contradict those it has published before, or do not follow from them. Both are kept as evidence. */
export class KeysContradictedError extends ContradictionError {
  override readonly name = 'KeysContradictedError';
  readonly code = 'keys_contradicted';
}

/** A list of what the log declares leaves something out, or contradicts itself or one that was seen before. The list is kept as evidence, with what was seen. */
export class DeclarationsContradictedError extends ContradictionError {
  override readonly name = 'DeclarationsContradictedError';
  readonly code = 'declarations_contradicted';
}

interface KeptDeclaration extends ProvenEntry {
  /** Of the page that had it: the next look begins there. Absent where that is the first one. */
  readonly cursor?: string | undefined;
}

/** What a reader has seen of a service, and relies on from then on. */
interface KeptTrust {
  readonly keys: Keys;
  /** The newest declaration of each kind, with its proof. */
  readonly declared: { readonly [Kind in DeclarationKind]?: KeptDeclaration | undefined };
}

interface Asking {
  readonly store: LogStore;
  /** Compares a signed state of the log that proves what is taken from it with those that were seen before, as `rememberCheckpoint` does. */
  readonly remember: (note: string) => Promise<unknown>;
}

const NOTHING: KeptTrust = { keys: [], declared: {} };

/**
 * Compares the keys that a service publishes with those that were seen there, and keeps them: the first ones are believed, later ones have to
 * follow from them by entries of the log.
 *
 * @param service its address
 * @param declared asks for all pages of `GET /v1/log/declarations?kind=key` and `kind=key_retired`, where something has changed
 * @returns the keys to verify with
 * @throws KeysContradictedError
 * @throws LogForkError of `remember`
 */
export async function rememberKeys(
  service: string,
  published: Keys,
  { store, declared, remember }: Asking & { readonly declared: () => Promise<readonly unknown[]> },
): Promise<Keys> {
  let log: readonly unknown[] | undefined;
  return changed(store, service, async (kept) => {
    if (kept.keys.length === 0) return { ...kept, keys: published };
    if (JSON.stringify(sorted(kept.keys)) === JSON.stringify(sorted(published))) return kept;
    log ??= await declared();
    const { accepted, retired, refused, states } = keySuccession(kept.keys, published, log);
    if (refused.length > 0) {
      const reasons = refused.map(({ kid, reason }) => `The key ${kid} ${reason}.`);
      const evidence = { object: 'key_contradiction_evidence', service, reasons, kept: kept.keys, met: published, declarations: log };
      throw new KeysContradictedError(reasons.join(' '), await store.keepEvidence(nameOf(service), textOf(evidence)));
    }
    for (const state of states) await remember(state);
    return { ...kept, keys: [...kept.keys.map((key) => retired.find(({ kid }) => kid === key.kid) ?? key), ...accepted] };
  }).then(({ keys }) => keys);
}

/**
 * Compares the lists of what the log declares with those that were seen before, and keeps the newest of each kind: an entry that is left out later is
 * missed, and one that is left out between others at once. What was seen is not read again, but for the page that the newest was on: it names all
 * before it.
 *
 * @param listed asks for all pages of `GET /v1/log/declarations` of that kind, from that cursor on
 * @returns the pages, by kind
 * @throws DeclarationsContradictedError
 * @throws LogForkError of `remember`
 */
export async function rememberDeclarations<Kind extends DeclarationKind, Page>(
  service: string,
  kinds: readonly Kind[],
  {
    keys,
    store,
    remember,
    listed,
  }: Asking & { readonly keys: Keys; readonly listed: (kind: Kind, cursor?: string) => Promise<readonly Page[]> },
): Promise<Record<Kind, readonly Page[]>> {
  const found = {} as Record<Kind, readonly Page[]>;
  for (const kind of kinds)
    await changed(store, service, async (kept) => {
      // Asked after what is kept was read: another process may keep a newer one meanwhile.
      const before = kept.declared[kind];
      const pages = await listed(kind, before?.cursor);
      found[kind] = pages;
      const options = { keys, kept: before, isPart: before?.cursor !== undefined };
      const read = refusalAsValue(() => ({ valid: true as const, newest: checkDeclarationChain(kind, pages, options) }));
      if (read.valid) {
        if (read.newest) await remember(read.newest.checkpoint);
        if (read.newest?.index === before?.index) return kept;
        const newest = read.newest && { ...read.newest, cursor: cursorOfLast(pages) ?? before?.cursor };
        return { ...kept, declared: { ...kept.declared, [kind]: newest } };
      }
      const { code, reason } = read;
      const evidence = { object: 'declaration_evidence', service, code, reason, kept: before ?? null, declarations: pages };
      throw new DeclarationsContradictedError(reason, await store.keepEvidence(nameOf(service), textOf(evidence)));
    });
  return found;
}

/** By which the last page was asked for; undefined of the only one. */
function cursorOfLast(pages: readonly unknown[]): string | undefined {
  const { next_cursor: cursor } = Object(pages.at(-2));
  return typeof cursor === 'string' ? cursor : undefined;
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
  return { keys: value['keys'], declared: value['declared'] ?? {} };
}

const nameOf = (service: string): string => `keys of ${service}`;
const textOf = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;
const sorted = (keys: Keys): Keys => [...keys].sort((a, b) => (a.kid < b.kid ? -1 : 1));
