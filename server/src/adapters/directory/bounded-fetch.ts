/** Of keys and identities a directory says a few KiB. */
export const MOST_ANSWER_BYTES = 1024 * 1024;

/** As `fetch`; an answer that is larger than a directory's are breaks off. Whole in memory, 40 MB of JSON would hold the event loop for half a second. */
export async function boundedFetch(url: string, init: object): Promise<Response> {
  const response = await fetch(url, init);
  if (!response.body) return response;
  let bytes = 0;
  const bound = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > MOST_ANSWER_BYTES) throw new Error(`The directory’s answer is larger than ${MOST_ANSWER_BYTES} bytes.`);
      controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(bound), response);
}
