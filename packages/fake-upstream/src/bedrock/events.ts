import type { Fields } from '../fields.ts';
import type { StreamForm } from '../step.ts';
import type { ConverseAnswer } from './answer.ts';
import { exceptionFrame, frame } from './framing.ts';

/** Of the padding that AWS puts into each event, so that its length tells nothing of the text. */
const PADDING = 'abcdefghijklmnopqrstuvwxyz';

/** The answer as messages of an event stream. There is no end marker: the usage comes last, behind the reason for the end. */
export function* answerFrames(answer: ConverseAnswer, form: StreamForm): Generator<Buffer> {
  let sent = 0;
  for (const [name, event] of events(answer, form)) {
    if (sent === form.errorAfter) {
      yield exceptionFrame('modelStreamErrorException', { message: 'The model failed.', originalStatusCode: 500 });
      return;
    }
    yield frame(name, { ...event, p: PADDING.slice(0, 1 + (sent % PADDING.length)) });
    sent++;
  }
}

function* events({ blocks, stopReason, usage }: ConverseAnswer, { done }: StreamForm): Generator<readonly [name: string, event: Fields]> {
  yield ['messageStart', { role: 'assistant' }];
  for (const [contentBlockIndex, { start, deltas }] of blocks.entries()) {
    if (start) yield ['contentBlockStart', { contentBlockIndex, start }];
    for (const delta of deltas) yield ['contentBlockDelta', { contentBlockIndex, delta }];
    yield ['contentBlockStop', { contentBlockIndex }];
  }
  yield ['messageStop', { stopReason }];
  if (done !== false) yield ['metadata', { metrics: { latencyMs: 12 }, usage }];
}
