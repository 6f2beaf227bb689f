import { open, readFile, rename } from 'node:fs/promises';
import type { KeptState } from '../receipts/index.ts';

/** The state in a file beside the gateway's keys: whole or not at all, and durable before anything is built on it. */
export function keptLogState(path: string): KeptState {
  // One after the other: two at a time would write into one file.
  let kept: Promise<void> = Promise.resolve();
  return {
    read: () => readFile(path, 'utf8').catch(undefinedIfMissing),
    keep(note) {
      const next = kept.then(() => replace(path, note));
      kept = next.catch(() => {});
      return next;
    },
  };
}

async function replace(path: string, note: string): Promise<void> {
  const beside = `${path}.new`;
  const file = await open(beside, 'w', 0o600);
  try {
    await file.writeFile(note);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(beside, path);
}

function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
