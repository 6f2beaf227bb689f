import { describe, expect, it } from 'vitest';
import { checkpointNote, hashOfRange, rootOf } from '../../scripts/vector-log.ts';
import { fromBase64, utf8 } from '../encoding.ts';
import { consistencyOf } from '../log/proofs.ts';
import type { ReadTile } from '../log/tiles.ts';
import { consistencyRanges, leafHash } from '../log/tree.ts';
import { stateOfNote } from './kept-log.ts';
import { LogAwayError, LogForkError } from './log-fork-error.ts';
import { memoryLogStore, webLogStore } from './log-store.ts';
import { compareState, rememberCheckpoint } from './remember.ts';

const leavesOf = (size: number, word = 'entry') => Array.from({ length: size }, (_, at) => leafHash(utf8(`${word} ${at}`)));
const HONEST = leavesOf(300);
/** The same up to its fifth entry. */
const FORKED = [...leavesOf(5), ...leavesOf(295, 'other')];

const noteOf = (leaves: readonly Uint8Array[], size: number) => checkpointNote({ size, root: rootOf(leaves.slice(0, size)) });
const tilesOf =
  (leaves: readonly Uint8Array[]): ReadTile =>
  async ({ level, index, width }) =>
    Buffer.concat(
      Array.from({ length: width }, (_, at) => {
        const span = 256 ** level;
        const start = (index * 256 + at) * span;
        if (start + span > leaves.length) throw new Error('404');
        return hashOfRange(leaves, { start, end: start + span });
      }),
    );
const away: ReadTile = async () => {
  throw new LogAwayError('Nobody answers.');
};

const caught = async (attempt: Promise<unknown>): Promise<LogForkError> => {
  const error = await attempt.catch((thrown: unknown) => thrown);
  if (error instanceof LogForkError) return error;
  throw new Error(`No fork was seen: ${error}`);
};

describe('a state of a log', () => {
  it('is kept when it is the first, and compared by the log’s tiles from then on', async () => {
    const store = memoryLogStore();
    const readTile = tilesOf(HONEST);
    expect(await rememberCheckpoint(noteOf(HONEST, 7), { store })).toBe('first');
    expect(await rememberCheckpoint(noteOf(HONEST, 300), { store, readTile })).toBe('proven');
    expect(await rememberCheckpoint(noteOf(HONEST, 256), { store, readTile })).toBe('proven');
    expect(await rememberCheckpoint(noteOf(HONEST, 7), { store, readTile: away })).toBe('known');
    expect(await rememberCheckpoint(noteOf(HONEST, 256), { store, readTile: away })).toBe('known');
  });

  it.each([
    ['larger, of a log that was no whole tree', 7, 12],
    ['larger, of a log that was a whole tree', 8, 12],
    ['larger by tiles of two levels', 256, 300],
    ['smaller', 12, 7],
    ['smaller, of a whole tree', 12, 8],
    ['of the same size', 12, 12],
  ])('that contradicts the kept one is refused with proof: %s', async (_, kept, met) => {
    const store = memoryLogStore();
    await rememberCheckpoint(noteOf(HONEST, kept), { store });
    // A log that lies shows each the tiles of the history that goes with what it has shown last.
    const readTile = tilesOf(kept < met ? FORKED : HONEST);
    const error = await caught(rememberCheckpoint(noteOf(FORKED, met), { store, readTile }));
    expect(error).toMatchObject({ code: 'log_forked', kept: noteOf(HONEST, kept), met: noteOf(FORKED, met) });
    const evidence = JSON.parse(store.evidence.get(error.evidence) ?? '{}');
    expect(evidence).toMatchObject({ kept: error.kept, met: error.met });
    if (kept === met) return;
    // Anybody who has the file can check it, without the log.
    const [old, young] = [stateOfNote(kept < met ? evidence.kept : evidence.met), stateOfNote(kept < met ? evidence.met : evidence.kept)];
    const bytes = (text: string) => fromBase64(text) ?? new Uint8Array();
    const claim = { oldSize: old.size, oldRoot: old.root, newSize: young.size, newRoot: young.root };
    const { path, beginning } = evidence.consistency;
    expect(consistencyOf({ ...claim, path: path.map(bytes), beginning: bytes(beginning) })).toBe('other_beginning');
    expect(path).toHaveLength(consistencyRanges(old.size, young.size).length);
  });

  it.each([
    ['shows the tiles of its other history', tilesOf(HONEST)],
    ['does not hand out its tiles', tilesOf([])],
    ['hands out something else', async () => utf8('no tile')],
  ])('is refused where the log %s', async (_, readTile) => {
    const store = memoryLogStore();
    await rememberCheckpoint(noteOf(HONEST, 7), { store });
    const error = await caught(rememberCheckpoint(noteOf(FORKED, 12), { store, readTile }));
    expect(error).toMatchObject({ code: 'log_not_consistent', evidence: expect.stringContaining('fork-') });
    // What was kept stays what counts.
    expect(await rememberCheckpoint(noteOf(HONEST, 12), { store, readTile: tilesOf(HONEST) })).toBe('proven');
  });

  it('that was met while nobody answered is kept, and compared at the next opportunity', async () => {
    const store = memoryLogStore();
    await rememberCheckpoint(noteOf(HONEST, 7), { store });
    expect(await rememberCheckpoint(noteOf(FORKED, 12), { store, readTile: away })).toBe('unproven');
    // Two states of one size exclude each other without the log.
    expect((await caught(rememberCheckpoint(noteOf(HONEST, 12), { store }))).code).toBe('log_forked');
    const readTile = tilesOf(HONEST);
    expect(await caught(rememberCheckpoint(noteOf(HONEST, 30), { store, readTile }))).toMatchObject({ met: noteOf(FORKED, 12) });

    const honest = memoryLogStore();
    await rememberCheckpoint(noteOf(HONEST, 7), { store: honest });
    await rememberCheckpoint(noteOf(HONEST, 12), { store: honest });
    await rememberCheckpoint(noteOf(HONEST, 30), { store: honest, readTile });
    expect(await rememberCheckpoint(noteOf(HONEST, 12), { store: honest })).toBe('known');
  });

  it('on a chain is compared with the kept one, and not kept', async () => {
    const store = memoryLogStore();
    const origin = stateOfNote(noteOf(HONEST, 7)).origin;
    const onChain = (leaves: readonly Uint8Array[], size: number) => ({ origin, size, root: rootOf(leaves.slice(0, size)) });
    expect(await compareState(onChain(FORKED, 12), 'chain 1', { store })).toBe('first');
    await rememberCheckpoint(noteOf(HONEST, 7), { store });
    expect(await compareState(onChain(HONEST, 12), 'chain 1', { store, readTile: tilesOf(HONEST) })).toBe('proven');
    expect(await caught(compareState(onChain(FORKED, 12), 'chain 1', { store, readTile: tilesOf(FORKED) }))).toMatchObject({
      code: 'log_forked',
      met: 'chain 1',
    });
    expect(await rememberCheckpoint(noteOf(HONEST, 12), { store, readTile: tilesOf(HONEST) })).toBe('proven');
  });

  it('stays what another process has kept meanwhile', async () => {
    const items = new Map<string, string>();
    const store = webLogStore({ getItem: (name) => items.get(name) ?? null, setItem: (name, value) => void items.set(name, value) });
    await rememberCheckpoint(noteOf(HONEST, 3), { store });
    let isFirst = true;
    const readTile: ReadTile = async (tile) => {
      const answer = tilesOf(HONEST)(tile);
      if (!isFirst) return answer;
      isFirst = false;
      await rememberCheckpoint(noteOf(HONEST, 20), { store, readTile: tilesOf(HONEST) });
      return answer;
    };
    expect(await rememberCheckpoint(noteOf(HONEST, 12), { store, readTile })).toBe('proven');
    for (const size of [3, 12, 20]) expect(await rememberCheckpoint(noteOf(HONEST, size), { store })).toBe('known');
  });
});
