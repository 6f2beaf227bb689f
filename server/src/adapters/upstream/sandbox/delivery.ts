import type { Composition, EventStream, Piece, PlainBody, StreamError } from './composition.ts';
import type { SandboxFault } from './faults.ts';

/** How a body goes over the wire: its pieces in order, the gap between two of them, and how it ends. */
export interface Delivery {
  readonly pieces: readonly Piece[];
  readonly contentType: string;
  readonly gapMs: number;
  readonly ending: 'complete' | 'reset' | 'stall';
}

const GARBAGE = '<html><body>This is not the JSON you are looking for.</body></html>';

/** OpenAI's way to fail after the head: clients throw at an `error`. */
const ERROR: StreamError = {
  message: 'The sandbox failed on request (X-Sandbox-Fault: error-event).',
  type: 'server_error',
  param: null,
  code: 'sandbox_fault',
};

/** The answer, with the fault that was asked for. */
export const deliveryOf = (answer: Composition, fault: SandboxFault | undefined): Delivery =>
  'events' in answer ? streamDelivery(answer, fault) : plainDelivery(answer, fault);

function plainDelivery({ contentType, pieces }: PlainBody, fault: SandboxFault | undefined): Delivery {
  const whole: Delivery = { contentType, pieces, gapMs: 0, ending: 'complete' };
  switch (fault?.name) {
    case 'cut':
      return { ...whole, pieces: halves(pieces)[0], ending: 'reset' };
    case 'stall':
      return { ...whole, pieces: halves(pieces)[0], ending: 'stall' };
    case 'slow': {
      const [first, second] = halves(pieces).map((half) => Buffer.concat(half.map(made)));
      return { ...whole, pieces: [first ?? '', second ?? ''], gapMs: fault.amount ?? 0 };
    }
    case 'error-event':
      return { ...whole, contentType: 'application/json', pieces: [JSON.stringify({ error: ERROR })] };
    case 'malformed':
      return { ...whole, pieces: [GARBAGE] };
    default:
      return whole;
  }
}

/** The pieces in two parts; a single piece is broken in its middle. */
function halves(pieces: readonly Piece[]): [Piece[], Piece[]] {
  const [only, ...more] = pieces.length === 1 ? pieces : pieces.filter((piece) => piece !== '');
  if (only === undefined) return [[], []];
  if (more.length > 0) {
    const middle = Math.ceil(pieces.length / 2);
    return [pieces.slice(0, middle), pieces.slice(middle)];
  }
  const bytes = made(only);
  const middle = Math.floor(bytes.length / 2);
  return [[bytes.subarray(0, middle)], [bytes.subarray(middle)]];
}

/** The piece's bytes. */
export function made(piece: Piece): Buffer {
  const said = typeof piece === 'function' ? piece() : piece;
  return typeof said === 'string' ? Buffer.from(said) : said;
}

function streamDelivery(stream: EventStream, fault: SandboxFault | undefined): Delivery {
  const pieces = stream.events.map(({ text }) => text);
  const whole: Delivery = { contentType: 'text/event-stream', pieces, gapMs: 0, ending: 'complete' };
  switch (fault?.name) {
    case 'cut':
      return { ...whole, pieces: beginning(stream, fault), ending: 'reset' };
    case 'stall':
      return { ...whole, pieces: beginning(stream, fault), ending: 'stall' };
    case 'slow':
      return { ...whole, gapMs: fault.amount ?? 0 };
    case 'error-event': {
      const sent = beginning(stream, fault);
      return { ...whole, pieces: [...sent, stream.failure(ERROR, sent.length)] };
    }
    case 'malformed':
      return { ...whole, pieces: [...pieces.slice(0, 1), `data: ${GARBAGE}\n\n`, ...pieces.slice(1).slice(-1)] };
    default:
      return whole;
  }
}

/** The events as far as the fault's number of content events; never so far that the answer would be complete. */
function beginning({ events }: EventStream, { amount }: SandboxFault): Piece[] {
  let contents = 0;
  const end = events.findIndex(({ part }) => {
    if (part === 'content') contents += 1;
    return part === 'closing' || contents > (amount ?? 0);
  });
  return events.slice(0, end === -1 ? -1 : end).map(({ text }) => text);
}
