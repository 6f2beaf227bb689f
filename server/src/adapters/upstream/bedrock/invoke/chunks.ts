import { isRecord, jsonIn, textIn } from '../../json-value.ts';
import type { Frame } from '../event-frames.ts';
import { errorEvent } from '../exceptions.ts';
import { eventOf, type FrameReader } from '../framed-stream.ts';

const TYPE = /^\s*\{\s*"type"\s*:\s*"(\w+)"/;

/** The messages of InvokeModelWithResponseStream: each has an event of the model's own, JSON in base64. */
export class ModelEvents implements FrameReader {
  read(frame: Frame): string {
    if (frame.kind !== 'event') return errorEvent(frame);
    const part = jsonIn(frame.payload);
    const bytes = isRecord(part) ? textIn(part['bytes']) : undefined;
    if (bytes === undefined) return frame.name === 'unreadable' ? eventOf(frame.payload) : '';
    const event = Buffer.from(bytes, 'base64')
      .toString('utf8')
      .replaceAll(/[\r\n]+/g, ' ');
    return eventOf(event, TYPE.exec(event)?.[1]);
  }
}
