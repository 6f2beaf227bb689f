import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, opendir, readdir, realpath, rename, rm, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { createFileProbe } from '../../kernel/file-probe.ts';
import { newId } from '../../kernel/ids.ts';
import { type BlobStore, type ByteRange, isBlobKey, type PutOutcome, partOf, type StoredBlob, segmentsOf } from './port.ts';

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
/** `@` is in no key, so the file of `a` and the folder that `a/b` lies in have different names. */
const SUFFIX = '@blob';
/** Windows has no such flag; there, making a symbolic link takes a privilege. */
const READ_NO_LINK = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0);
const WHOLE: ByteRange = { start: 0 };

/**
 * Blobs as files of one folder, of one process or of several at the same time.
 *
 * A blob is written in `incoming/`, synced, and then renamed into `objects/<key>@blob`. Folders are made as needed and stay: removing an empty
 * one would pull it away under a put that is about to rename into it. The folder itself may be a symbolic link, to another disk say;
 * nothing inside may be one, or a link planted there would hand out and overwrite files of the whole machine.
 */
export async function openLocalDisk(folder: string): Promise<BlobStore> {
  await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
  const root = await realpath(folder);
  const incoming = join(root, 'incoming');
  const objects = join(root, 'objects');
  await makeFolder(incoming);
  await makeFolder(objects);
  await syncFolder(dirname(root));
  return new LocalDisk(incoming, objects);
}

class LocalDisk implements BlobStore {
  readonly #incoming: string;
  readonly #objects: string;
  readonly #probe: () => Promise<void>;

  constructor(incoming: string, objects: string) {
    this.#incoming = incoming;
    this.#objects = objects;
    this.#probe = createFileProbe(() => join(incoming, newId()));
  }

  async put(key: string, content: AsyncIterable<Uint8Array>, { maxBytes }: { maxBytes: number }): Promise<PutOutcome> {
    const { folders, folder, name } = this.#placeOf(key);
    const unfinished = join(this.#incoming, newId());
    try {
      const written = await writeWhole(unfinished, content, maxBytes);
      if (!written) return { stored: false, reason: 'too_large', maxBytes };
      for (const each of folders) await makeFolder(each);
      await rename(unfinished, join(folder, name));
      await syncFolder(folder);
      return { stored: true, ...written };
    } finally {
      await rm(unfinished, { force: true }); // After the rename there is nothing under this name.
    }
  }

  async get(key: string, { range = WHOLE }: { range?: ByteRange } = {}): Promise<StoredBlob | undefined> {
    const { folder, name } = this.#placeOf(key);
    partOf(0, range); // A senseless range is refused whether or not there is a blob.
    const file = await unlessMissing(async () => {
      await refuseLink(folder);
      return open(join(folder, name), READ_NO_LINK);
    });
    return file && streamOf(file, range);
  }

  async delete(key: string): Promise<void> {
    const { folder, name } = this.#placeOf(key);
    await unlessMissing(async () => {
      await refuseLink(folder);
      await unlink(join(folder, name));
      await syncFolder(folder);
    });
  }

  async *list(prefix: string): AsyncGenerator<string, void, undefined> {
    const segments = prefix === '' ? [] : segmentsOf(prefix);
    const folder = join(this.#objects, ...segments);
    const isThere = await unlessMissing(async () => {
      await refuseLink(folder);
      return true;
    });
    if (isThere) yield* keysIn(folder, segments.map((segment) => `${segment}/`).join(''));
  }

  /** One probe at a time, however many ask: on a disk that hangs each would block a thread of the pool permanently. */
  check(): Promise<void> {
    return this.#probe();
  }

  async sweepUnfinished(before: Date): Promise<void> {
    for (const name of await readdir(this.#incoming)) {
      const path = join(this.#incoming, name);
      await unlessMissing(async () => {
        const { mtime } = await stat(path);
        if (mtime < before) await rm(path, { recursive: true });
      });
    }
  }

  /** `folders` from the outermost to the one that the file is in, which is `folder`. */
  #placeOf(key: string): { folders: string[]; folder: string; name: string } {
    const segments = segmentsOf(key);
    const folders = segments.slice(0, -1).map((_, index) => join(this.#objects, ...segments.slice(0, index + 1)));
    return { folders, folder: folders.at(-1) ?? this.#objects, name: `${segments.at(-1)}${SUFFIX}` };
  }
}

/** Undefined when there is more than `maxBytes`; then an unfinished file is left. */
async function writeWhole(path: string, content: AsyncIterable<Uint8Array>, maxBytes: number) {
  const hash = createHash('sha256');
  let size = 0;
  const file = await open(path, 'wx', FILE_MODE);
  try {
    for await (const chunk of content) {
      size += chunk.byteLength;
      if (size > maxBytes) return undefined;
      hash.update(chunk);
      await file.writeFile(chunk); // Unlike `write`, it goes on after a write that took only a part.
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return { size, sha256: hash.digest('hex') };
}

/** The file is closed by the end of the stream, or here. */
async function streamOf(file: FileHandle, range: ByteRange): Promise<StoredBlob> {
  try {
    const { size } = await file.stat();
    const { start, length } = partOf(size, range);
    if (length > 0) return { size, length, stream: file.createReadStream({ start, end: start + length - 1 }) };
    await file.close();
    return { size, length, stream: Readable.from([]) };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function* keysIn(folder: string, prefix: string): AsyncGenerator<string, void, undefined> {
  for await (const entry of await opendir(folder)) {
    if (entry.isDirectory()) yield* keysIn(join(folder, entry.name), `${prefix}${entry.name}/`);
    const key = prefix + entry.name.slice(0, -SUFFIX.length);
    // What else lies there is not ours: a link, or a file that a desktop or a backup left behind.
    if (entry.isFile() && entry.name.endsWith(SUFFIX) && isBlobKey(key)) yield key;
  }
}

/** Makes the folder, unless it is there, such that it survives a loss of power. */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: FOLDER_MODE });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    await refuseLink(folder);
  }
  // Also when it was there: another put may have made it a moment ago, and not have come this far.
  await syncFolder(dirname(folder));
}

/** @throws when the path leads somewhere else than it says */
async function refuseLink(folder: string): Promise<void> {
  if ((await realpath(folder)) !== folder) throw new Error(`${folder} leads through a symbolic link, which a blob folder must not hold`);
}

/** Makes what was created, renamed or deleted in the folder survive a loss of power. Windows cannot, and NTFS keeps a journal of it. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function unlessMissing<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);
