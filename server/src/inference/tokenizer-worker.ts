import { parentPort } from 'node:worker_threads';
import { countTokensGuarded } from './token-count.ts';
import type { Encoding } from './tokenizer.ts';

parentPort?.on('message', async ({ id, encoding, text }: { id: number; encoding: Encoding; text: string }) => {
  parentPort?.postMessage({ id, tokens: await countTokensGuarded(encoding, text) });
});
