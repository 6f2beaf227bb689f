import { canonicalJson } from '../src/canonical.ts';
import { toBase64, toHex, utf8 } from '../src/encoding.ts';
import { detachedJws, jwsSigningInput } from '../src/jws.ts';
import { declarationDigest } from '../src/log/declaration.ts';
import { leafHash } from '../src/log/tree.ts';
import type { Declaration, KeyDeclaration, VaasKeySet } from '../src/receipt.ts';
import { checkpointNote, pathOf, rootOf } from './vector-log.ts';
import { current, future, keySet, logCurrent, sign, stranger, type VectorKey } from './vector-receipts.ts';

type Key = VaasKeySet['keys'][number];

/** What is published beside `kept`, with the log's entries of it, and what of it is refused. */
export interface SuccessionVector {
  readonly why: string;
  readonly kept: readonly Key[];
  readonly published: readonly Key[];
  readonly log: object;
  readonly accepted: readonly string[];
  readonly refused: readonly string[];
}

const AT = '2026-11-21T08:00:00.000Z';
const VERSION = 'tallygate-declaration/v1';
const [currentKey, ...others] = keySet.keys.filter(({ kid }) => kid !== future.kid) as [Key, ...Key[]];
const kept = [currentKey, ...others];
const next: Key = { ...currentKey, ...{ kid: future.kid, x: future.x, not_before: AT, not_after: null } };

function declared(key: Key, signer: VectorKey | null): KeyDeclaration {
  const { purpose, kid, x, not_before } = key;
  const place = key === next ? { number: 2, previous: toHex(declarationDigest(first)) } : { number: 1, previous: null };
  const unsigned: KeyDeclaration = {
    version: VERSION,
    ...place,
    kind: 'key',
    declared_at: AT,
    purpose,
    kid,
    x,
    not_before,
    signed_by: null,
  };
  if (!signer) return unsigned;
  const signature = sign(jwsSigningInput(signer.kid, utf8(canonicalJson(unsigned)), 'tallygate-key'), signer);
  return { ...unsigned, signed_by: { kid: signer.kid, jws: detachedJws(signer.kid, signature, 'tallygate-key') } };
}

const KINDS = ['price', 'key', 'key_retired', 'policy'] as const;

/** As `GET /v1/log/declarations` answers, of a log with these entries alone. */
export function logOf(declarations: readonly Declaration[], keys: readonly VectorKey[] = [logCurrent]): object {
  const leaves = declarations.map((declaration) => leafHash(declarationDigest(declaration)));
  return {
    checkpoint: checkpointNote({ size: leaves.length, root: rootOf(leaves) }, { keys }),
    tree_size: leaves.length,
    declared: Object.fromEntries(KINDS.map((kind) => [kind, declarations.filter((one) => one.kind === kind).length])),
    data: declarations.map((declaration, index) => ({
      index,
      digest: toHex(declarationDigest(declaration)),
      declaration,
      inclusion_path: pathOf(leaves, index).map(toBase64),
    })),
    has_more: false,
    next_cursor: null,
  };
}

const ended = { ...currentKey, not_after: '2026-12-01T00:00:00.000Z' };
const end: Declaration = {
  ...{ version: VERSION, number: 1, previous: null, kind: 'key_retired', declared_at: '2026-12-01T00:00:00.000Z' },
  ...{ purpose: 'receipt', kid: current.kid, not_after: ended.not_after },
};
const first = declared(currentKey, null);

interface Case extends Partial<SuccessionVector> {
  readonly why: string;
}

const made = ({
  published = [next, ...kept],
  log = logOf([first, declared(next, current)]),
  accepted = [],
  refused = [],
  why,
}: Case): SuccessionVector => ({
  ...{ why, kept, published, log, accepted, refused },
});

export const successionVectors: Readonly<Record<string, SuccessionVector>> = {
  rotation: made({ why: 'The key in force has signed the next one, and the log declares it.', accepted: [future.kid] }),
  retirement: made({
    why: 'The log declares the next key and the end of the one before.',
    published: [next, ended, ...others],
    log: logOf([first, declared(next, current), end]),
    accepted: [future.kid],
  }),
  unsigned: made({ why: 'Nobody has signed the new key.', log: logOf([first, declared(next, null)]), refused: [future.kid] }),
  'signed-by-a-stranger': made({
    why: 'A key that was never kept has signed the new one.',
    log: logOf([first, declared(next, stranger)]),
    refused: [future.kid],
  }),
  'dated-back': made({
    why: 'The new key is published as valid from an earlier time than was declared.',
    published: [{ ...next, not_before: '2026-01-01T00:00:00.000Z' }, ...kept],
    refused: [future.kid],
  }),
  'not-in-the-log': made({
    why: 'The proof is of another log, which a stranger has signed.',
    log: logOf([first, declared(next, current)], [stranger]),
    refused: [future.kid],
  }),
  'retirement-not-declared': made({
    why: 'A key is published as retired, and the log does not say so.',
    published: [ended, ...others],
    refused: [current.kid],
  }),
  gone: made({ why: 'A kept key is published no longer.', published: others, refused: [current.kid] }),
  changed: made({
    why: 'A kept key is published with another time.',
    published: [{ ...currentKey, not_before: '2020-01-01T00:00:00.000Z' }, ...others],
    refused: [current.kid],
  }),
};
