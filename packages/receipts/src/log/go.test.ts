import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasGo } from '../../scripts/other-languages.ts';
import { checkpointNote, hashOfRange, rootOf } from '../../scripts/vector-log.ts';
import { logCurrent, logRetired, noteKey, stranger } from '../../scripts/vector-receipts.ts';
import { toBase64, utf8 } from '../encoding.ts';
import { toVerifierKey } from './note.ts';
import { consistencyRanges, inclusionRanges, leafHash } from './tree.ts';

/** golang.org/x/mod/sumdb, by whoever has a Go on the machine and the module in reach. */
const GO = join(import.meta.dirname, '../../go');
const canBuild = hasGo() && spawnSync('go', ['mod', 'download'], { cwd: GO, timeout: 60_000 }).status === 0;

const SIZE = 3_001;
const ENTRIES = Array.from({ length: SIZE }, (_, index) => `entry ${index}`);
const LEAVES = ENTRIES.map((entry) => leafHash(utf8(entry)));
const base64Of = (hashes: readonly Uint8Array[]) => hashes.map(toBase64);
const rootAt = (size: number) => toBase64(rootOf(LEAVES.slice(0, size)));

const inclusion = (index: number, size: number) => ({
  Kind: 'inclusion',
  Index: index,
  Size: size,
  Root: rootAt(size),
  Leaf: toBase64(LEAVES[index] ?? new Uint8Array()),
  Path: base64Of(inclusionRanges(index, size).map((range) => hashOfRange(LEAVES, range))),
});
const consistency = (old: number, size: number) => ({
  Kind: 'consistency',
  OldSize: old,
  OldRoot: rootAt(old),
  Size: size,
  Root: rootAt(size),
  Path: base64Of(consistencyRanges(old, size).map((range) => hashOfRange(LEAVES, range))),
});

describe.skipIf(!canBuild)('Go’s own transparency log', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tallygate-go-'));
  const program = join(folder, 'independent');
  beforeAll(() => {
    const { status, stderr } = spawnSync('go', ['build', '-o', program, '.'], { cwd: GO, encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const ask = (cases: readonly object[]): boolean[] => {
    const { stdout, stderr } = spawnSync(program, { input: JSON.stringify(cases), encoding: 'utf8' });
    if (stderr !== '') throw new Error(stderr);
    return JSON.parse(stdout);
  };

  test('has the same roots, from one entry to thousands', () => {
    const sizes = [1, 2, 3, 7, 8, 9, 255, 256, 257, 1_000, SIZE];
    const roots = sizes.map((size) => ({ Kind: 'root', Entries: ENTRIES.slice(0, size), Root: rootAt(size) }));
    expect(ask(roots)).toEqual(sizes.map(() => true));
    expect(ask([{ Kind: 'root', Entries: ENTRIES.slice(0, 9), Root: rootAt(8) }])).toEqual([false]);
  });

  test('accepts our inclusion proofs, and none of another index, leaf, root or path', () => {
    const places = [
      [0, 1],
      [0, 2],
      [1, 2],
      [2, 3],
      [6, 7],
      [255, 256],
      [256, 257],
      [0, SIZE],
      [1_024, SIZE],
      [SIZE - 1, SIZE],
    ] as const;
    const good = places.map(([index, size]) => inclusion(index, size));
    expect(ask(good)).toEqual(places.map(() => true));
    const [proof = inclusion(0, 2)] = good.slice(-2);
    const broken = [
      { ...proof, Index: proof.Index + 1 },
      { ...proof, Leaf: toBase64(LEAVES[5] ?? new Uint8Array()) },
      { ...proof, Root: rootAt(7) },
      { ...proof, Path: proof.Path.slice(1) },
      { ...proof, Path: [...proof.Path, proof.Path[0]] },
    ];
    expect(ask(broken)).toEqual(broken.map(() => false));
  });

  test('accepts our consistency proofs, and none of another beginning', () => {
    const sizes = [
      [1, 2],
      [2, 3],
      [3, 7],
      [4, 8],
      [255, 256],
      [256, SIZE],
      [1_000, SIZE],
      [2_048, SIZE],
      [SIZE - 1, SIZE],
    ] as const;
    expect(ask(sizes.map(([old, size]) => consistency(old, size)))).toEqual(sizes.map(() => true));
    const proof = consistency(1_000, SIZE);
    expect(
      ask([
        { ...proof, OldRoot: rootAt(999) },
        { ...proof, Path: proof.Path.toReversed() },
      ]),
    ).toEqual([false, false]);
  });

  test('opens our signed notes with the key that signed, whoever else did, and with no other', () => {
    const state = { size: SIZE, root: rootOf(LEAVES) };
    const both = checkpointNote(state, { keys: [logRetired, logCurrent], isWitnessed: true });
    const by = (key: typeof logCurrent) => ({ Kind: 'note', Note: both, Key: toVerifierKey(noteKey(key)) });
    expect(ask([by(logCurrent), by(logRetired), by(stranger)])).toEqual([true, true, false]);
    expect(ask([{ ...by(logCurrent), Note: both.replace(`\n${SIZE}\n`, `\n${SIZE + 1}\n`) }])).toEqual([false]);
  });
});
