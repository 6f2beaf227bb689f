import { open, readFile, rename } from 'node:fs/promises';
import type { KeptState } from '../receipts/index.ts';

/** The state in a file beside the gateway's keys: whole or not at all, and durable before anything is built on it. */
export function keptLogState(path: string): KeptState {
  return {
    read: () => readFile(path, 'utf8').catch(undefinedIfMissing),

    async keep(note) {
      const beside = `${path}.new`;
      const file = await open(beside, 'w', 0o600);
      try {
        await file.writeFile(note);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(beside, path);
    },
  };
}

function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
