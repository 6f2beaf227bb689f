import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  checkpointText,
  completedBy,
  consistencyRanges,
  fromVerifierKey,
  type LeafRange,
  leafHash,
  type NoteKey,
  parseNote,
  rangeHash,
  signatureLine,
  signersOf,
  type TreeNode,
  toVerifierKey,
} from '@tallygate/receipts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type RunningWitness, startWitness } from './server.ts';

const NOW = Date.parse('2026-11-21T10:00:00Z');
const NAME = 'witness.example';

interface Pair {
  readonly key: NoteKey;
  readonly privateKey: KeyObject;
}
function pairOf(name: string): Pair {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return { key: { name, kind: 'signature', publicKey: Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url') }, privateKey };
}
const log = pairOf('log.example');

/** The hashes of a log with these entries. */
function treeOf(entries: readonly string[]) {
  const nodes = new Map<string, Uint8Array>();
  const read = ({ level, index }: TreeNode): Uint8Array => nodes.get(`${level}/${index}`) ?? new Uint8Array();
  for (const [index, entry] of entries.entries())
    for (const node of completedBy({ index, hash: leafHash(Buffer.from(entry)) }, read))
      nodes.set(`${node.level}/${node.index}`, node.hash);
  return (range: LeafRange): Uint8Array => rangeHash(range, read);
}
const ENTRIES = Array.from({ length: 20 }, (_, index) => `entry ${index}`);
const OTHERS = ENTRIES.map((entry, index) => (index === 2 ? 'forged' : entry));

function noteOf(size: number, { entries = ENTRIES, by = log, origin = 'log.example' } = {}): string {
  const text = checkpointText({ origin, size, root: treeOf(entries)({ start: 0, end: size }) });
  return `${text}\n${signatureLine({ ...by.key, name: origin }, sign(null, Buffer.from(text), by.privateKey))}`;
}

function bodyOf(old: number, size: number, options: Parameters<typeof noteOf>[1] & { path?: readonly string[] } = {}): string {
  const hashes = consistencyRanges(old, Math.max(old, size)).map(treeOf(options.entries ?? ENTRIES));
  const path = options.path ?? hashes.map((hash) => Buffer.from(hash).toString('base64'));
  return [`old ${old}`, ...path, '', noteOf(size, options)].join('\n');
}

let folder: string;
let witness: RunningWitness;
const start = async () => {
  witness = await startWitness({ name: NAME, seed: Buffer.alloc(32, 7), logs: [toVerifierKey(log.key)], folder, now: () => NOW });
};
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tallygate-witness-'));
  await start();
});
afterEach(async () => {
  await witness.close();
  rmSync(folder, { recursive: true });
});

async function add(body: string) {
  const response = await fetch(`${witness.url}/add-checkpoint`, { method: 'POST', body });
  return { status: response.status, contentType: response.headers.get('content-type'), text: await response.text() };
}

describe('a witness', () => {
  test('cosigns a log that grows, and says when', async () => {
    for (const [old, size] of [
      [0, 1],
      [1, 3],
      [3, 3],
      [3, 16],
      [16, 20],
    ] as const) {
      const { status, text } = await add(bodyOf(old, size));
      expect(status).toBe(200);
      const key = fromVerifierKey(witness.verifierKey);
      const note = parseNote(`${noteOf(size)}${text}`);
      expect(note && key && signersOf(note, [key])).toMatchObject([{ key: { name: NAME }, time: BigInt(NOW / 1000) }]);
    }
  });

  test('answers a wrong size with the size it has seen, also after a restart', async () => {
    await add(bodyOf(0, 5));
    await witness.close();
    await start();
    for (const old of [0, 3]) expect(await add(bodyOf(old, 7))).toEqual({ status: 409, contentType: 'text/x.tlog.size', text: '5\n' });
    expect((await add(bodyOf(5, 7))).status).toBe(200);
  });

  test('never cosigns what contradicts it: another past, another root of one size, a smaller size', async () => {
    await add(bodyOf(0, 5));
    expect((await add(bodyOf(5, 9, { entries: OTHERS }))).status).toBe(422);
    expect((await add(bodyOf(5, 9, { path: [] }))).status).toBe(422);
    expect(await add(bodyOf(5, 5, { entries: OTHERS }))).toMatchObject({ status: 409, text: '5\n' });
    expect((await add(bodyOf(5, 4))).status).toBe(400);
    expect((await add(bodyOf(5, 9))).status).toBe(200);
  });

  test('cosigns one of two histories, also under concurrent requests', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => add(bodyOf(0, 4 + (at % 2), { entries: at % 2 ? OTHERS : ENTRIES }))),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(19);
  });

  test.each([
    ['an unknown log', bodyOf(0, 1, { origin: 'other.example' }), 404],
    ['a key that is not the log’s', bodyOf(0, 1, { by: pairOf('log.example') }), 403],
    ['a changed checkpoint', bodyOf(0, 1).replace('\n1\n', '\n2\n'), 403],
    ['no old size', bodyOf(0, 1).replace('old 0\n', ''), 400],
    ['an old size in another spelling', bodyOf(0, 1).replace('old 0', 'old 00'), 400],
    ['a hash that is none', bodyOf(0, 1, { path: ['AAAA'] }), 400],
    ['too many hashes', bodyOf(0, 1, { path: Array.from({ length: 64 }, () => Buffer.alloc(32).toString('base64')) }), 400],
    ['a path where there is no old state', bodyOf(0, 1, { path: [Buffer.alloc(32).toString('base64')] }), 422],
    ['nothing', '', 400],
  ])('refuses %s', async (_, body, status) => {
    expect((await add(body)).status).toBe(status);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('signs nothing where what it has seen cannot be read or written', async () => {
    await add(bodyOf(0, 5));
    const [file = ''] = readdirSync(folder);
    writeFileSync(join(folder, file), 'damaged');
    await expect(add(bodyOf(0, 5))).rejects.toThrow();
    await expect(fetch(`${witness.url}/other`)).resolves.toMatchObject({ status: 404 });
    await expect(add('x'.repeat(70_000))).resolves.toMatchObject({ status: 413 });
  });
});
