import { type Fields, isFields } from '../fields.ts';
import type { StreamForm } from '../step.ts';
import { type Message, plainMessage } from './message.ts';

/** The answer as server-sent events, one string each, in the order of https://platform.claude.com/docs/en/build-with-claude/streaming. */
export function* messageEvents(message: Message, form: StreamForm): Generator<string> {
  const lineEnd = form.lineEnd ?? '\n';
  const frame = (event: Fields): string => `event: ${String(event['type'])}${lineEnd}data: ${JSON.stringify(event)}${lineEnd}${lineEnd}`;
  const ping = form.pings ? frame({ type: 'ping' }) : '';
  let sent = 0;
  for (const event of events(message)) {
    if (sent === form.errorAfter) {
      yield frame({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' }, request_id: 'req_fake' });
      return;
    }
    if (event['type'] === 'message_stop' && form.done === false) return;
    yield ping + frame(event);
    sent++;
  }
}

function* events(message: Message): Generator<Fields> {
  const { blocks, stopReason, stopDetails, usage } = message;
  const begun = { ...plainMessage(message), content: [], stop_reason: null, stop_details: null, usage: usageAtStart(usage) };
  yield { type: 'message_start', message: begun };
  for (const [index, { opening, deltas }] of blocks.entries()) {
    yield { type: 'content_block_start', index, content_block: opening };
    for (const delta of deltas) yield { type: 'content_block_delta', index, delta };
    yield { type: 'content_block_stop', index };
  }
  const delta = { stop_reason: stopReason, stop_sequence: null, ...(stopDetails && { stop_details: stopDetails }) };
  yield { type: 'message_delta', delta, usage: usageAtEnd(usage) };
  yield { type: 'message_stop' };
}

/** When a stream begins, the prompt is counted and the answer hardly so. */
const usageAtStart = (usage: unknown): unknown => {
  if (!isFields(usage)) return usage;
  const { output_tokens_details: _, ...begun } = usage;
  return { ...begun, output_tokens: 1 };
};

/** The end repeats the sums without their breakdown by lifetime. */
const usageAtEnd = (usage: unknown): unknown => {
  if (!isFields(usage)) return usage;
  const { cache_creation: _, service_tier: __, ...ended } = usage;
  return ended;
};
