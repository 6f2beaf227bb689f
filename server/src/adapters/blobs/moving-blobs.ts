import type { BlobStore } from './port.ts';

/**
 * One store while blobs are moved into it from another: what is stored goes into `to`, what is not there yet is read from `from`. Blobs are
 * deleted in `from` first: see {@link moveBlob}. While a blob is moved, `list` may name it twice.
 */
export function movingBlobs(from: BlobStore, to: BlobStore): BlobStore {
  return {
    async put(key, content, limits) {
      const outcome = await to.put(key, content, limits);
      if (outcome.stored) await from.delete(key);
      return outcome;
    },
    // Where it is in neither, it may have been moved in between.
    get: async (key, options) => (await to.get(key, options)) ?? (await from.get(key, options)) ?? to.get(key, options),
    async delete(key) {
      await from.delete(key);
      await to.delete(key);
    },
    async *list(prefix) {
      yield* from.list(prefix);
      yield* to.list(prefix);
    },
    check: () => to.check(),
    async sweepUnfinished(before) {
      await from.sweepUnfinished(before);
      await to.sweepUnfinished(before);
    },
  };
}

export interface Moved {
  readonly blobs: number;
  readonly bytes: number;
}

/**
 * Moves all blobs, while {@link movingBlobs} of the same stores serves them. Repeated after an interruption, it moves what is left.
 * @param lost another move may be under way from now on: nothing is moved any more
 */
export async function moveBlobs(from: BlobStore, to: BlobStore, lost?: AbortSignal): Promise<Moved> {
  let moved: Moved = { blobs: 0, bytes: 0 };
  for await (const key of from.list('')) {
    const bytes = await moveBlob(from, to, key, lost);
    if (bytes === undefined) continue;
    moved = { blobs: moved.blobs + 1, bytes: moved.bytes + bytes };
  }
  return moved;
}

/**
 * Keys are never used again, so what `to` has under the key is the same blob. Who deletes one deletes it in `from` and then in `to`: when it is
 * gone from `from` after the copy, its deletion may have come too early for the copy, which is deleted too.
 *
 * @returns how many bytes it has; undefined when it was deleted meanwhile
 */
async function moveBlob(from: BlobStore, to: BlobStore, key: string, lost: AbortSignal | undefined): Promise<number | undefined> {
  lost?.throwIfAborted();
  const blob = await from.get(key);
  if (!blob) return undefined;
  const outcome = await to.put(key, blob.stream, { maxBytes: blob.size });
  if (!outcome.stored || outcome.size !== blob.size) throw new Error(`The blob ${key} was copied in part`);
  const left = await from.get(key, { range: { start: 0, end: 0 } });
  left?.stream.destroy();
  lost?.throwIfAborted();
  if (left) await from.delete(key);
  else await to.delete(key);
  return left && blob.size;
}
