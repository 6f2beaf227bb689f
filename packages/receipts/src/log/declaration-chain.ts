import type { Declaration, VaasKeySet } from '../receipt.ts';
import { Refused } from '../refusal.ts';
import { digestHex } from './declaration.ts';
import { loggedBy, type ProvenEntry, readPages } from './logged-declarations.ts';

export type DeclarationKind = Declaration['kind'];

interface ChainOptions {
  /** Whose checkpoints count. */
  readonly keys: readonly VaasKeySet['keys'][number][];
  /** The newest one of that kind that was seen before. */
  readonly kept?: ProvenEntry | undefined;
  /** The list may begin behind the first: with any that is not behind the one that was seen before, which names all before it. */
  readonly isPart?: boolean;
}

/**
 * Checks that a list of the declarations of one kind has each of them: every one names the number and the digest of the one before it, the list says
 * how many there are, and what was seen before is still there.
 *
 * @param log answers of `GET /v1/log/declarations?kind=…`, all pages in their order
 * @returns the newest one, which the log proves; undefined where there is none
 * @throws Refused with `malformed_declaration`, `declaration_missing`, `declaration_forked` or `declaration_not_in_log`
 */
export function checkDeclarationChain(
  kind: DeclarationKind,
  log: readonly unknown[],
  { keys, kept, isPart = false }: ChainOptions,
): ProvenEntry | undefined {
  const pages = readPages(log);
  const entries = pages.flatMap(({ data }) => data).filter(({ declaration }) => declaration.kind === kind);
  entries.forEach((entry, at) => {
    if (at > 0 || !(kept && isPart)) checkLink(entry, entries[at - 1]);
  });
  const total = pages.at(-1)?.declared[kind] ?? 0;
  const newest = entries.at(-1);
  const last = newest?.declaration.number ?? 0;
  if (last !== total) throw missing(`The list ends with declaration ${last} (${kind}), and says that there are ${total}.`);
  if (newest && !loggedBy(keys)(newest)) throw new Refused('declaration_not_in_log', `The log does not prove entry ${newest.index}.`);
  if (kept) checkKept(kept, entries);
  return newest;
}

function checkLink({ index, declaration: { kind, number, previous } }: ProvenEntry, before: ProvenEntry | undefined): void {
  const expected = (before?.declaration.number ?? 0) + 1;
  if (number !== expected) throw missing(`Declaration ${expected} (${kind}) is left out: ${number} is in its place.`);
  if (previous !== (before ? digestHex(before.declaration) : null) || (before && index <= before.index))
    throw new Refused('declaration_forked', `Declaration ${number} (${kind}) does not follow the one before it in the list.`);
}

function checkKept({ declaration }: ProvenEntry, entries: readonly ProvenEntry[]): void {
  const { kind, number } = declaration;
  const now = entries.find((entry) => entry.declaration.number === number);
  if (!now) throw missing(`Declaration ${number} (${kind}) was shown before, and is left out now.`);
  if (digestHex(now.declaration) !== digestHex(declaration))
    throw new Refused('declaration_forked', `Declaration ${number} (${kind}) is another one than was shown before.`);
}

const missing = (reason: string): Refused => new Refused('declaration_missing', reason);
