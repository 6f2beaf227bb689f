import type { ServerResponse } from 'node:http';
import { plainBody, planAnswer } from './completion.ts';
import { eventStream } from './event-stream.ts';
import type { Step } from './step.ts';

/**
 * Answers without reading more of a request than whether it streams, from bytes made beforehand:
 * the provider must not be what a bench measures.
 */
export function prepared(step: Step, promptTokens: number): (rawBody: Buffer, response: ServerResponse) => void {
  const plan = planAnswer('chatcmpl-fake', {}, step, promptTokens);
  const plain = Buffer.from(JSON.stringify(plainBody(plan)));
  const events = [...eventStream(plan, step, true)].map((event) => Buffer.from(event));
  const plainHead = ['content-type', 'application/json', 'content-length', String(plain.length)];
  const streamHead = ['content-type', 'text/event-stream; charset=utf-8'];
  const gapMs = step.gapMs ?? 0;

  const stream = (response: ServerResponse): void => {
    response.writeHead(200, streamHead);
    if (gapMs === 0) {
      for (const event of events) response.write(event);
      response.end();
      return;
    }
    let sent = 0;
    const timer = setInterval(() => {
      const event = events[sent++];
      if (event && !response.destroyed) response.write(event);
      else {
        clearInterval(timer);
        response.end();
      }
    }, gapMs);
  };
  const respond = (streams: boolean, response: ServerResponse): void => {
    if (streams) stream(response);
    else response.writeHead(200, plainHead).end(plain);
  };
  return (rawBody, response) => {
    const streams = rawBody.includes('"stream":true');
    if (step.delayMs) setTimeout(respond, step.delayMs, streams, response);
    else respond(streams, response);
  };
}
