import { parentPort } from 'node:worker_threads';
import type { Asked, Progress } from './question-thread.ts';

/**
 * The worker's side of a question thread: one question after the other, so the question reported as started is the one in work.
 *
 * @param load what a question needs, which may take any time; called for each question
 */
export function answerQuestions<Question, Answer>(
  answer: (question: Question) => Answer | Promise<Answer>,
  load: (question: Question) => unknown = () => {},
): void {
  const tell = (progress: Progress<Answer>) => parentPort?.postMessage(progress);
  const work = async ({ id, question }: Asked<Question>) => {
    await load(question);
    tell({ id, begun: true });
    tell({ id, answer: await answer(question) });
  };
  let last = Promise.resolve();
  parentPort?.on('message', (asked: Asked<Question>) => {
    last = last.then(() => work(asked));
  });
}
