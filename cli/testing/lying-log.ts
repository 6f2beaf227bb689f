import { generateKeyPairSync, sign } from 'node:crypto';
import { createServer } from 'node:http';
import {
  checkpointText,
  keyThumbprint,
  leafHash,
  type NoteKey,
  nodeHash,
  parseEntriesPath,
  parseTilePath,
  rangeHash,
  signatureLine,
  type TreeNode,
  toVerifierKey,
} from '@tallygate/receipts';

const ORIGIN = 'log.example/v1/log';

/** A log over real HTTP that shows what the test tells it to: of one key and one name, but not of one past. */
export interface LyingLog {
  readonly baseUrl: string;
  /** As `/.well-known/vaas-keys.json` has it. */
  readonly keySet: { readonly keys: readonly object[] };
  /** What it shows from now on: its entries, and where they are said to be others than in the tree, those. */
  show(entries: readonly string[], lies?: Lies): void;
  /** It answers nobody any more. */
  hangUp(): Promise<void>;
  /** The signed state of these entries. */
  note(entries: readonly string[]): string;
  [Symbol.asyncDispose](): Promise<void>;
}

interface Lies {
  /** How many declarations there are, of which none is listed. */
  readonly declared?: { readonly price?: number; readonly policy?: number };
  /** In the place of the state that these entries have. */
  readonly checkpoint?: string;
  /** In the place of the entries. */
  readonly bundles?: readonly string[];
  /** Answers where tiles are asked for, in the place of them. */
  readonly tileStatus?: number;
}

const PROBLEM = JSON.stringify({
  type: 'about:blank',
  title: 'Not found',
  status: 404,
  code: 'not_found',
  detail: 'There is no such file.',
});

const bytesOf = (entry: string): Buffer => Buffer.from(entry);

export async function startLyingLog(): Promise<LyingLog> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const { x = '' } = publicKey.export({ format: 'jwk' });
  const key: NoteKey = { name: ORIGIN, kind: 'signature', publicKey: Buffer.from(x, 'base64url') };
  const note = (entries: readonly string[]): string => {
    const text = checkpointText({ origin: ORIGIN, size: entries.length, root: rootOf(entries) });
    return `${text}\n${signatureLine(key, sign(null, Buffer.from(text), privateKey))}`;
  };
  let shown: { readonly entries: readonly string[]; readonly lies: Lies } = { entries: [], lies: {} };

  const server = createServer((request, response) => {
    // As on every answer of a gateway.
    response.setHeader('x-request-id', 'req_log');
    const path = new URL(request.url ?? '/', 'http://log').pathname.replace('/v1/log/', '');
    const body = answerTo(path, shown, note);
    if (Buffer.isBuffer(body)) response.writeHead(200, path === 'declarations' ? { 'content-type': 'application/json' } : {}).end(body);
    else response.writeHead(body, { 'content-type': 'application/problem+json' }).end(PROBLEM);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The log has no port.');
  const hangUp = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return {
    baseUrl: `http://127.0.0.1:${address.port}`,
    keySet: {
      keys: [
        {
          ...{ kty: 'OKP', crv: 'Ed25519', x, kid: keyThumbprint(x), use: 'sig', alg: 'EdDSA', purpose: 'checkpoint' },
          verifier_key: toVerifierKey(key),
          ...{ not_before: '2026-01-01T00:00:00.000Z', not_after: null },
        },
      ],
    },
    show: (entries, lies = {}) => {
      shown = { entries, lies };
    },
    hangUp,
    note,
    [Symbol.asyncDispose]: hangUp,
  };
}

const NONE = { price: 0, key: 0, key_retired: 0, policy: 0 };
const NOTHING_DECLARED = { tree_size: 1, data: [], has_more: false, next_cursor: null };

/** The bytes, or a status. */
function answerTo(
  path: string,
  { entries, lies }: { readonly entries: readonly string[]; readonly lies: Lies },
  note: (entries: readonly string[]) => string,
): Buffer | number {
  if (path === 'declarations')
    return Buffer.from(JSON.stringify({ ...NOTHING_DECLARED, checkpoint: note(entries), declared: { ...NONE, ...lies.declared } }));
  if (path === 'checkpoint') return Buffer.from(lies.checkpoint ?? note(entries));
  const tile = parseTilePath(path);
  if (tile && lies.tileStatus !== undefined) return lies.tileStatus;
  const bundle = parseEntriesPath(path);
  const place = tile ?? bundle;
  if (!place) return 404;
  const span = tile ? 256 ** tile.level : 1;
  const start = place.index * 256;
  if ((start + place.width) * span > entries.length) return 404;
  const at = Array.from({ length: place.width }, (_, offset) => start + offset);
  if (tile) return Buffer.concat(at.map((index) => hashOf(entries, index * span, (index + 1) * span)));
  const listed = lies.bundles ?? entries;
  if (start + place.width > listed.length) return 404;
  return Buffer.concat(at.map((index) => withLength(bytesOf(listed[index] ?? ''))));
}

function withLength(entry: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(entry.length);
  return Buffer.concat([length, entry]);
}

const rootOf = (entries: readonly string[]): Uint8Array => hashOf(entries, 0, entries.length);

function hashOf(entries: readonly string[], start: number, end: number): Uint8Array {
  const nodeOf = ({ level, index }: TreeNode): Uint8Array =>
    level === 0
      ? leafHash(bytesOf(entries[index] ?? ''))
      : nodeHash(nodeOf({ level: level - 1, index: index * 2 }), nodeOf({ level: level - 1, index: index * 2 + 1 }));
  return rangeHash({ start, end }, nodeOf);
}
