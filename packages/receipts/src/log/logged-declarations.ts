import { fromBase64 } from '../encoding.ts';
import { logKeysOf } from '../keys.ts';
import type { Declaration, VaasKeySet } from '../receipt.ts';
import { refusalAsValue } from '../refusal.ts';
import { count, LONGEST_LIST, listOf, object, type Shape, string } from '../shape.ts';
import { hashes } from '../structure.ts';
import type { Checkpoint } from './checkpoint.ts';
import { declarationDigest, readDeclaration } from './declaration.ts';
import { isIncluded } from './proofs.ts';
import { verifyCheckpoint } from './receipt-log.ts';
import { leafHash } from './tree.ts';

type Key = VaasKeySet['keys'][number];

interface Entry {
  index: number;
  declaration: Declaration;
  inclusion_path: string[];
}

interface Page {
  checkpoint: string;
  declared: Record<Declaration['kind'], number>;
  data: Entry[];
}

/** An answer of `GET /v1/log/declarations`. */
const page = object<Page>({
  checkpoint: string,
  declared: object<Page['declared']>({ price: count, key: count, key_retired: count, policy: count }),
  data: listOf(
    object<Entry>({
      index: count,
      declaration: ((value, { path }) => readDeclaration(value, path)) satisfies Shape<Declaration>,
      inclusion_path: hashes,
    }),
    LONGEST_LIST,
  ),
});

export interface ProvenEntry extends Entry {
  /** The signed note that the proof is against. */
  readonly checkpoint: string;
}

interface ProvenPage extends Page {
  readonly data: ProvenEntry[];
}

/** Throws `Refused` with `malformed_declaration`. */
export const readPages = (log: readonly unknown[]): ProvenPage[] =>
  log.map((one) => {
    const read = page(one, { path: 'declarations', code: 'malformed_declaration' });
    return { ...read, data: read.data.map((entry) => ({ ...entry, checkpoint: read.checkpoint })) };
  });

/** Of all pages; of one that is malformed, none. */
export const entriesOf = (log: unknown): ProvenEntry[] =>
  (Array.isArray(log) ? log : [log]).flatMap((one) => {
    const read = refusalAsValue(() => ({ valid: true as const, pages: readPages([one]) }));
    return read.valid ? read.pages.flatMap(({ data }) => data) : [];
  });

/** By the keys that they were checked with: the lists of several kinds are proven by one checkpoint, as long as the log does not grow meanwhile. */
const verified = new WeakMap<readonly Key[], Map<string, Checkpoint | undefined>>();

/** Whether an entry is proven by a checkpoint that one of these keys has signed. */
export function loggedBy(keys: readonly Key[]): (entry: ProvenEntry | undefined) => boolean {
  const states = verified.get(keys) ?? new Map<string, Checkpoint | undefined>();
  verified.set(keys, states);
  return (entry) => {
    if (!entry) return false;
    if (!states.has(entry.checkpoint)) states.set(entry.checkpoint, verifiedState(entry.checkpoint, keys));
    const state = states.get(entry.checkpoint);
    return state !== undefined && isEntryOf(state, entry);
  };
}

function verifiedState(note: string, keys: readonly Key[]): Checkpoint | undefined {
  const keySet = { keys };
  if (logKeysOf(keySet).length === 0) return undefined;
  const found = verifyCheckpoint(note, keySet);
  return found.valid ? found.checkpoint : undefined;
}

const isEntryOf = ({ size, root }: Checkpoint, { index, declaration, inclusion_path: path }: Entry): boolean =>
  isIncluded({
    ...{ index, size, root, leafHash: leafHash(declarationDigest(declaration)) },
    path: path.map((hash) => fromBase64(hash) ?? new Uint8Array()),
  });
