import { rm, writeFile } from 'node:fs/promises';

/** More than any small request leaves: a disk with less room is full. */
const CONTENT = Buffer.alloc(65_536, 'This could be written.\n');

/** Rejects where no file can be written at the path; whoever asks meanwhile gets the answer of the one that runs. */
export function createFileProbe(path: () => string): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => {
    running ??= probe(path()).finally(() => {
      running = undefined;
    });
    return running;
  };
}

async function probe(path: string): Promise<void> {
  // A process that died may have left it.
  await rm(path, { force: true });
  try {
    await writeFile(path, CONTENT, { flag: 'wx', mode: 0o600 });
  } finally {
    await rm(path, { force: true });
  }
}
