import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { describe, expect, it, test } from 'vitest';
import { fromBase64url, utf8 } from '../encoding.ts';
import { checkpointText, parseCheckpoint } from './checkpoint.ts';
import {
  cosignatureLine,
  cosignedText,
  fromVerifierKey,
  type NoteKey,
  parseNote,
  signatureLine,
  signersOf,
  toVerifierKey,
} from './note.ts';
import { checkTlogProof, formatTlogProof, parseTlogProof } from './tlog-proof.ts';
import { leafHash, nodeHash } from './tree.ts';

interface Pair {
  readonly key: NoteKey;
  readonly privateKey: KeyObject;
}

function pairOf(name: string, kind: NoteKey['kind'] = 'signature'): Pair {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return { key: { name, kind, publicKey: fromBase64url(publicKey.export({ format: 'jwk' }).x ?? '') ?? new Uint8Array() }, privateKey };
}
const lineOf = ({ key, privateKey }: Pair, text: string): string => signatureLine(key, sign(null, utf8(text), privateKey));
const cosigned = ({ key, privateKey }: Pair, text: string, time: bigint): string =>
  cosignatureLine(key, time, sign(null, utf8(cosignedText(text, time)), privateKey));

describe('a note', () => {
  // The example of Go's own golang.org/x/mod/sumdb/note.
  const KEY = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
  const TEXT = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n";
  const LINE = '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n';
  const key = fromVerifierKey(KEY);
  const keys = key ? [key] : [];

  it('that Go signed holds', () => {
    const note = parseNote(`${TEXT}\n${LINE}`);
    expect(note?.text).toBe(TEXT);
    expect(note && signersOf(note, keys)).toEqual([{ key, time: null }]);
    expect(key && toVerifierKey(key)).toBe(KEY);
  });

  it('that was changed does not, and by strangers alone it has no signer', () => {
    const changed = parseNote(`${TEXT.replace('problem,', 'problem;')}\n${LINE}`);
    expect(changed && signersOf(changed, keys)).toBeUndefined();
    const stranger = parseNote(`${TEXT}\n${lineOf(pairOf('stranger'), TEXT)}`);
    expect(stranger && signersOf(stranger, keys)).toEqual([]);
  });

  it('may have signatures of strangers beside the known one', () => {
    const note = parseNote(`${TEXT}\n${lineOf(pairOf('PeterNeumann'), TEXT)}${LINE}`);
    expect(note && signersOf(note, keys)).toHaveLength(1);
  });

  test.each([
    ['has no signatures', `${TEXT}\n`],
    ['ends in the middle of a line', `${TEXT}\n${LINE.trimEnd()}`],
    ['has a line that is no signature', `${TEXT}\nhello\n`],
    ['has control characters', `a\u0007\n\n${LINE}`],
    ['has an empty name', `${TEXT}\n—  x08g\n`],
    ['has no text', `\n\n${LINE}`.slice(2)],
    ['is too large', `${'a'.repeat(1_000_000)}\n\n${LINE}`],
    ['has too many signatures', `${TEXT}\n${LINE.repeat(101)}`],
  ])('is none where it %s', (_, text) => {
    expect(parseNote(text)).toBeUndefined();
  });

  test.each([
    ['has another key’s id', KEY.replace('c74f20a3', 'c74f20a4')],
    ['is of an unknown kind', KEY.replace('+ARpc', '+Axpc')],
    ['is of an unknown kind, with the id of a witness’s', key ? toVerifierKey({ ...key, kind: 'cosignature' }).replace('+B', '+A') : KEY],
    ['is cut short', KEY.slice(0, -4)],
    ['has no name', KEY.slice('PeterNeumann'.length)],
  ])('is signed by no key that %s', (_, text) => {
    expect(fromVerifierKey(text)).toBeUndefined();
  });
});

describe('a checkpoint', () => {
  const root = leafHash(utf8('a'));
  it('reads back as it was written, extensions passed over', () => {
    const text = checkpointText({ origin: 'log.example/receipts', size: 7, root });
    expect(parseCheckpoint(text)).toEqual({ origin: 'log.example/receipts', size: 7, root });
    expect(parseCheckpoint(`${text}extension\n`)).toMatchObject({ size: 7 });
  });

  test.each(['07', '-1', '7.0', '1e3', '9999999999999999', ' 7', ''])('is none with the size "%s"', (size) => {
    expect(parseCheckpoint(checkpointText({ origin: 'log', size: 7, root }).replace('\n7\n', `\n${size}\n`))).toBeUndefined();
  });

  test.each(['', 'AA==', 'no base64'])('is none with the root "%s"', (encoded) => {
    expect(parseCheckpoint(`log\n7\n${encoded}\n`)).toBeUndefined();
  });
});

describe('a proof in a file', () => {
  const log = pairOf('log.example/receipts');
  const next = pairOf('log.example/receipts');
  const witness = pairOf('witness.example', 'cosignature');
  const origin = log.key.name;
  const keys = [log.key, witness.key];
  const [first, second] = [utf8('first'), utf8('second')];
  const text = checkpointText({ origin, size: 2, root: nodeHash(leafHash(first), leafHash(second)) });
  const checkpoint = `${text}\n${lineOf(log, text)}${lineOf(next, text)}${cosigned(witness, text, 1_763_712_000n)}`;
  const proof = formatTlogProof({ index: 1, path: [leafHash(first)], checkpoint });

  it('shows that the entry stands in the log, who signed for the log, and what the witness saw when', () => {
    expect(checkTlogProof(proof, second, { origin, keys })).toEqual({
      index: 1,
      checkpoint: { origin, size: 2, root: nodeHash(leafHash(first), leafHash(second)) },
      signers: [
        { key: log.key, time: null },
        { key: witness.key, time: 1_763_712_000n },
      ],
    });
    // Whoever knows only the key that comes next can check it too.
    expect(checkTlogProof(proof, second, { origin, keys: [next.key] })).toMatchObject({ index: 1 });
  });

  it('may say something else beside', () => {
    expect(parseTlogProof(proof.replace('\nindex', '\nextra YQ==\nindex'))).toEqual(parseTlogProof(proof));
  });

  const lateWitness = checkpoint.replace(cosigned(witness, text, 1_763_712_000n), '');
  test.each([
    ['of another entry', proof, first, keys, origin, 'not_included'],
    ['with another index', proof.replace('index 1', 'index 0'), second, keys, origin, 'not_included'],
    ['of another log', proof, second, keys, 'log.example/other', 'other_log'],
    ['without a key of the log', proof, second, [witness.key], origin, 'unknown_log_key'],
    ['with another size', proof.replace('\n2\n', '\n3\n'), second, keys, origin, 'bad_note_signature'],
    [
      'with a witness that signed something else',
      formatTlogProof({ index: 1, path: [leafHash(first)], checkpoint: `${lateWitness}${cosigned(witness, `${text}more\n`, 1n)}` }),
      second,
      keys,
      origin,
      'bad_note_signature',
    ],
    ['without its note', proof.slice(0, proof.indexOf('\n\n')), second, keys, origin, 'malformed_proof'],
    ['of another version', proof.replace('@v1', '@v2'), second, keys, origin, 'malformed_proof'],
    ['with a hash that is none', proof.replace('index 1\n', 'index 1\nAAAA\n'), second, keys, origin, 'malformed_proof'],
    ['with a note that is no checkpoint', proof.replace(`${origin}\n2`, `${origin}\ntwo`), second, keys, origin, 'malformed_checkpoint'],
  ] as const)('%s shows nothing', (_, file, entry, known, wanted, fault) => {
    expect(checkTlogProof(file, entry, { origin: wanted, keys: known })).toBe(fault);
  });
});
