import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hashOfRange, rootOf } from '../../scripts/vector-log.ts';
import { utf8 } from '../encoding.ts';
import { isConsistent, isIncluded } from './proofs.ts';
import { auditGrowth } from './tile-audit.ts';
import { entriesPath, parseEntriesPath, parseTilePath, rangesFromTiles, type Tile, tilePath } from './tiles.ts';
import { consistencyRanges, inclusionRanges, leafHash } from './tree.ts';

/** Enough for a second level of tiles, and a ragged edge on both. */
const SIZE = 1_000;
const LEAVES = Array.from({ length: SIZE }, (_, index) => leafHash(utf8(`entry ${index}`)));
const leavesOf = (size: number) => LEAVES.slice(0, size);

/** As a server has them, of a log that may be larger than the one that is asked about. */
function tilesOf(leaves: readonly Uint8Array[]) {
  const asked: string[] = [];
  const readTile = async (tile: Tile): Promise<Uint8Array> => {
    asked.push(tilePath(tile));
    const span = 256 ** tile.level;
    return Buffer.concat(
      Array.from({ length: tile.width }, (_, at) => {
        const start = (tile.index * 256 + at) * span;
        return hashOfRange(leaves, { start, end: start + span });
      }),
    );
  };
  return { asked, readTile };
}

describe('the address of a tile', () => {
  test.each([
    [{ level: 0, index: 0, width: 256 }, 'tile/0/000'],
    [{ level: 1, index: 0, width: 7 }, 'tile/1/000.p/7'],
    [{ level: 0, index: 1_234_067, width: 256 }, 'tile/0/x001/x234/067'],
    [{ level: 0, index: 256_000, width: 255 }, 'tile/0/x256/000.p/255'],
  ])('of %j is %s', (tile, path) => {
    expect(tilePath(tile)).toBe(path);
    expect(parseTilePath(path)).toEqual(tile);
  });

  test('of a bundle of entries has them in the place of the level', () => {
    const bundle = { index: 256_000, width: 255 };
    expect(entriesPath(bundle)).toBe('tile/entries/x256/000.p/255');
    expect(parseEntriesPath('tile/entries/x256/000.p/255')).toEqual(bundle);
    expect(parseEntriesPath('tile/0/x256/000.p/255')).toBeUndefined();
    expect(parseEntriesPath('tile/entries/000.p/256')).toBeUndefined();
  });

  test('reads back as it was written, whatever the tile', () => {
    const tiles = fc.record({ level: fc.nat({ max: 63 }), index: fc.nat({ max: 2 ** 40 }), width: fc.integer({ min: 1, max: 256 }) });
    fc.assert(
      fc.property(tiles, (tile) => {
        expect(parseTilePath(tilePath(tile))).toEqual(tile);
      }),
    );
  });

  test.each([
    'tile/0/0',
    'tile/00/000',
    'tile/64/000',
    'tile/0/x000/001',
    'tile/0/001/x002',
    'tile/0/000.p/0',
    'tile/0/000.p/256',
    'tile/0/000.p/07',
    'tile/0/000/',
    'tile/-1/000',
    'tile/entries/000',
    'tile/entry/000',
    'tile/0/../000',
  ])('is not %s', (path) => {
    expect(parseTilePath(path)).toBeUndefined();
  });
});

test('any proof can be worked out from tiles alone', async () => {
  const places = fc
    .integer({ min: 1, max: SIZE })
    .chain((size) => fc.tuple(fc.constant(size), fc.nat({ max: size - 1 }), fc.nat({ max: size })));
  await fc.assert(
    fc.asyncProperty(places, async ([size, index, oldSize]) => {
      const { readTile } = tilesOf(leavesOf(size));
      const root = rootOf(leavesOf(size));
      expect(await rangesFromTiles([{ start: 0, end: size }], size, readTile)).toEqual([root]);
      const path = await rangesFromTiles(inclusionRanges(index, size), size, readTile);
      expect(isIncluded({ index, size, leafHash: LEAVES[index] ?? new Uint8Array(), root, path })).toBe(true);
      const growth = await rangesFromTiles(consistencyRanges(oldSize, size), size, readTile);
      const oldRoot = hashOfRange(LEAVES, { start: 0, end: oldSize });
      if (oldSize > 0) expect(isConsistent({ oldSize, oldRoot, newSize: size, newRoot: root, path: growth })).toBe(true);
    }),
    { numRuns: 12 },
  );
});

test('a tile of another width than the log’s size calls for is no tile', async () => {
  const readTile = async () => new Uint8Array(32);
  await expect(rangesFromTiles([{ start: 0, end: 9 }], 9, readTile)).rejects.toThrow('32 bytes in place of 288');
  await expect(rangesFromTiles([{ start: 0, end: 10 }], 9, tilesOf(leavesOf(9)).readTile)).rejects.toThrow(RangeError);
});

describe('an audit', () => {
  const stateOf = (size: number, leaves = leavesOf(size)) => ({ size, root: rootOf(leaves) });

  test('is content with a log that only grew, and reads no more than what is new', async () => {
    for (const [old, size] of [
      [1, 1],
      [1, 300],
      [255, 256],
      [256, 257],
      [700, 1_000],
      [1_000, 1_000],
    ] as const) {
      const { readTile, asked } = tilesOf(leavesOf(size));
      expect(await auditGrowth({ from: stateOf(old), to: stateOf(size), readTile })).toBe('ok');
      const whole = asked.filter((path) => path.startsWith('tile/0/'));
      expect(new Set(whole).size).toBeLessThanOrEqual(Math.ceil(size / 256) - Math.floor(old / 256) + 2);
    }
    expect(await auditGrowth({ to: stateOf(SIZE), readTile: tilesOf(LEAVES).readTile })).toBe('ok');
  });

  test('sees that an entry was changed, old or new, and that the log was cut', async () => {
    const forged = LEAVES.map((leaf, index) => (index === 300 ? leafHash(utf8('forged')) : leaf));
    const { readTile } = tilesOf(forged);
    expect(await auditGrowth({ from: stateOf(700), to: stateOf(SIZE, forged), readTile })).toBe('rewritten');
    expect(await auditGrowth({ from: stateOf(200), to: stateOf(SIZE), readTile })).toBe('other_root');
    expect(await auditGrowth({ to: stateOf(SIZE), readTile })).toBe('other_root');
    expect(await auditGrowth({ from: stateOf(SIZE), to: stateOf(700), readTile: tilesOf(LEAVES).readTile })).toBe('shrunk');
  });

  test('sees that the upper tiles are not those of the lower ones', async () => {
    const { readTile } = tilesOf(LEAVES);
    const twisted = async (tile: Tile) => (tile.level === 1 ? new Uint8Array(tile.width * 32) : readTile(tile));
    expect(await auditGrowth({ to: stateOf(SIZE), readTile: twisted })).toBe('tiles_disagree');
  });
});
