import { ConnectionError, TallygateError } from '../errors.ts';
import type { Deadline } from './deadline.ts';

/** Fetch Standard, "null body status". */
const NO_BODY: ReadonlySet<number> = new Set([101, 103, 204, 205, 304]);

/**
 * The response with its body still to come: read it with `bytes()`, `text()`, or piece by piece from `body`. A body that breaks off throws
 * `ConnectionError` with code `stream_cut`; silence longer than the time-out, `TimeoutError`.
 */
export function downloadOf(response: Response, deadline: Deadline): Response {
  // Chromium gives a 204 a stream of nothing, which no other response may be made of.
  if (response.body === null || NO_BODY.has(response.status)) {
    deadline.clear();
    return response;
  }
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          deadline.clear();
          controller.close();
        } else {
          deadline.restart();
          controller.enqueue(value);
        }
      } catch (error) {
        deadline.clear();
        const { aborted, reason } = deadline.signal;
        controller.error(
          aborted && reason instanceof TallygateError
            ? reason
            : new ConnectionError('The download broke off before its end.', error, 'stream_cut'),
        );
      }
    },
    cancel(reason) {
      deadline.clear();
      return reader.cancel(reason);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
}
