import type { Step } from '../step.ts';
import { framed } from './framing.ts';
import type { BedrockSaying } from './saying.ts';

export { exceptionFrame, frame, framed } from './framing.ts';
export { chunkFrame } from './invoke.ts';

/** Bedrock's error answer: the exception is named in a header. */
export const refused = (status: number, exception: string, message: string): Step => ({
  status,
  headers: { 'x-amzn-errortype': `${exception}:http://internal.amazon.com/coral/com.amazon.bedrock/` },
  body: { message },
});

export const invalid = (message: string): Step => refused(400, 'ValidationException', message);
export const throttled = (): Step => refused(429, 'ThrottlingException', 'Too many requests, please wait before trying again.');
export const modelTimeout = (): Step => refused(408, 'ModelTimeoutException', 'Model request timed out.');
export const unavailable = (): Step => refused(503, 'ServiceUnavailableException', 'Bedrock is unable to process your request.');
export const tokenExpired = (): Step => refused(403, 'ExpiredTokenException', 'The security token included in the request is expired');

export const saying = (bedrock: BedrockSaying): Step => ({ bedrock });

/** Of the prompt, so much was read from the cache and written to it; `promptTokens` come on top, as Bedrock counts. */
export const cached = ({ read = 0, write5m = 0, write1h = 0 }: { read?: number; write5m?: number; write1h?: number }): Step =>
  saying({
    usage: (exact) => ({
      ...exact,
      totalTokens: exact.totalTokens + read + write5m + write1h,
      cacheReadInputTokens: read,
      cacheWriteInputTokens: write5m + write1h,
      cacheDetails: [
        ...(write1h > 0 ? [{ ttl: '1h', inputTokens: write1h }] : []),
        ...(write5m > 0 ? [{ ttl: '5m', inputTokens: write5m }] : []),
      ],
    }),
  });

/** A stream of these messages and no others. */
export const stream = (...frames: readonly Uint8Array[]): Step => ({
  body: Buffer.concat(frames),
  headers: { 'content-type': 'application/vnd.amazon.eventstream' },
});

/** A message whose checksum is wrong. */
export function garbled(): Buffer {
  const frame = framed({ ':event-type': 'contentBlockDelta', ':message-type': 'event' }, '{"delta":{"text":"garbled"}}');
  frame.writeUInt8(frame.readUInt8(frame.length - 1) ^ 0xff, frame.length - 1);
  return frame;
}
