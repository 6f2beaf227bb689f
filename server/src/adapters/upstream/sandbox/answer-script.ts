import type { ChatCall } from '../port.ts';
import type { Answer } from './answer.ts';
import { completionBody, completionEvents, type Head, type StreamEvent, serverSentEvent, type Usage, usageOf } from './chat-completion.ts';
import type { SandboxFault } from './faults.ts';

/** How a body goes over the wire: its pieces in order, the gap between two of them, and how it ends. */
export interface AnswerScript {
  readonly pieces: readonly (string | Buffer)[];
  readonly contentType: string;
  readonly gapMs: number;
  readonly ending: 'complete' | 'reset' | 'stall';
}

const GARBAGE = '<html><body>This is not the JSON you are looking for.</body></html>';

/** The answer in the form that the call asked for, and with the fault that it asked for. */
export function scriptOf(call: ChatCall, head: Head, answer: Answer, fault: SandboxFault | undefined): AnswerScript {
  const usage = billedUsage(call, answer, fault);
  if (call.stream) return streamScript(completionEvents(head, answer, call.request, usage), fault);
  return plainScript(completionBody(head, answer, call.request, usage), fault);
}

function billedUsage({ maxOutputTokens, request }: ChatCall, answer: Answer, fault: SandboxFault | undefined): Usage | undefined {
  const usage = usageOf(answer);
  if (fault?.name === 'no-usage') return undefined;
  if (fault?.name !== 'overrun') return usage;
  // A provider that ignores the bound: twice of what was held, and more than nothing where nothing was.
  const completion_tokens = 2 * maxOutputTokens * (request.n ?? 1) + 16;
  return { ...usage, completion_tokens, total_tokens: usage.prompt_tokens + completion_tokens };
}

function plainScript(body: string, fault: SandboxFault | undefined): AnswerScript {
  const whole: AnswerScript = { contentType: 'application/json', pieces: [body], gapMs: 0, ending: 'complete' };
  const half = Math.floor(body.length / 2);
  switch (fault?.name) {
    case 'cut':
      return { ...whole, pieces: [body.slice(0, half)], ending: 'reset' };
    case 'stall':
      return { ...whole, pieces: [body.slice(0, half)], ending: 'stall' };
    case 'slow':
      return { ...whole, pieces: [body.slice(0, half), body.slice(half)], gapMs: fault.amount ?? 0 };
    case 'error-event':
      return { ...whole, pieces: [JSON.stringify(MID_STREAM_ERROR)] };
    case 'malformed':
      return { ...whole, pieces: [GARBAGE] };
    default:
      return whole;
  }
}

function streamScript(events: readonly StreamEvent[], fault: SandboxFault | undefined): AnswerScript {
  const pieces = events.map(({ text }) => text);
  const whole: AnswerScript = { contentType: 'text/event-stream', pieces, gapMs: 0, ending: 'complete' };
  switch (fault?.name) {
    case 'cut':
      return { ...whole, pieces: beginning(events, fault), ending: 'reset' };
    case 'stall':
      return { ...whole, pieces: beginning(events, fault), ending: 'stall' };
    case 'slow':
      return { ...whole, gapMs: fault.amount ?? 0 };
    case 'error-event':
      return { ...whole, pieces: [...beginning(events, fault), serverSentEvent(MID_STREAM_ERROR)] };
    case 'malformed':
      return { ...whole, pieces: [...pieces.slice(0, 1), `data: ${GARBAGE}\n\n`, ...pieces.slice(-1)] };
    default:
      return whole;
  }
}

/** OpenAI's way to fail after the first byte: an event with `error` at its top, at which its SDKs throw. */
const MID_STREAM_ERROR = {
  error: {
    message: 'The sandbox failed on request (X-Sandbox-Fault: error-event).',
    type: 'server_error',
    param: null,
    code: 'sandbox_fault',
  },
};

/** The events as far as the fault's number of content chunks; never so far that the answer would be complete. */
function beginning(events: readonly StreamEvent[], { amount }: SandboxFault): string[] {
  let contents = 0;
  const end = events.findIndex(({ part }) => {
    if (part === 'role') return false;
    contents += 1;
    return part !== 'content' || contents > (amount ?? 0);
  });
  return events.slice(0, end).map(({ text }) => text);
}
