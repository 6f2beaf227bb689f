import { parentPort } from 'node:worker_threads';
import { countTokensGuarded, loadVocabulary } from './token-count.ts';
import type { Progress, Question } from './tokenizer.ts';

const tell = (progress: Progress) => parentPort?.postMessage(progress);

async function answer({ id, encoding, text }: Question): Promise<void> {
  await loadVocabulary(encoding);
  tell({ id, tokens: undefined });
  tell({ id, tokens: await countTokensGuarded(encoding, text) });
}

/** One after the other: what is told to have begun is what is counted. */
let last = Promise.resolve();
parentPort?.on('message', (question: Question) => {
  last = last.then(() => answer(question));
});
