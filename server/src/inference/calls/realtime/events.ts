import { ERRORS, openAiCodeAt } from '@tallygate/contract';
import { randomBase62 } from '../../../kernel/ids.ts';
import { HARMLESS_BYTES, INFERENCE_JSON, isTooComplex } from '../../../kernel/json-scan.ts';
import { Problem } from '../../../kernel/problem.ts';
import { readJson } from '../../../kernel/read-json.ts';
import { andThen, type Soon } from '../../../kernel/soon.ts';
import { LONGEST_PARSED } from '../event-data.ts';
import { isRecord } from '../usage.ts';

export const REALTIME = '/v1/realtime';

/** What a client may say in a conversation. */
export const ITEMS: ReadonlySet<unknown> = new Set(['message', 'function_call', 'function_call_output']);

/** An event of either side. */
export interface RealtimeEvent {
  readonly type: string;
  readonly event_id?: string | undefined;
  readonly [field: string]: unknown;
}

export const newEventId = (): string => `event_${randomBase62(20)}`;

/** @throws Problem `validation_failed` for what is no event of a client */
export async function readClientEvent(frame: Buffer, isText: boolean): Promise<RealtimeEvent> {
  if (!isText) throw invalid('Events are JSON in text frames: send sound in `input_audio_buffer.append`, base64.');
  if (frame.length > HARMLESS_BYTES && (await isTooComplex(frame, INFERENCE_JSON)))
    throw invalid('The event has too many values, or is nested too deep.');
  const event = await parsed(frame);
  if (!isRecord(event) || typeof event['type'] !== 'string') throw invalid('An event is a JSON object with a `type`.', 'type');
  const { event_id: id } = event;
  if (id !== undefined && (typeof id !== 'string' || id.length > MOST_ID_CHARACTERS))
    throw invalid(`\`event_id\` has to be a text of at most ${MOST_ID_CHARACTERS} characters.`, 'event_id');
  return event as unknown as RealtimeEvent;
}

const MOST_ID_CHARACTERS = 512;

async function parsed(frame: Buffer): Promise<unknown> {
  try {
    return await readJson(frame);
  } catch (error) {
    if (error instanceof SyntaxError) throw invalid('The event is no valid JSON.');
    throw error;
  }
}

export const invalid = (detail: string, param?: string): Problem =>
  new Problem('validation_failed', detail, {
    ...(param !== undefined && { param }),
    errors: [{ loc: ['body', ...(param === undefined ? [] : [param])], msg: detail, type: 'invalid' }],
  });

/** What a client is told on its connection, as OpenAI tells it. `retry_after` is ours: seconds. */
export function errorEvent({ code, message, extras }: Problem, causedBy?: string): string {
  const { param = null, retryAfterSeconds, upstream } = extras;
  const error = {
    type: upstream?.type ?? ERRORS[code].type,
    code: upstream?.code ?? openAiCodeAt(REALTIME, code),
    message,
    param,
    event_id: causedBy ?? null,
    ...(retryAfterSeconds !== undefined && { retry_after: retryAfterSeconds }),
  };
  return JSON.stringify({ type: 'error', event_id: newEventId(), error });
}

/** What says so much and costs nothing: passed on as it came. */
const PASSED_ON =
  /^\{\s*(?:"event_id"\s*:\s*"[^"]*"\s*,\s*)?"type"\s*:\s*"(?:response\.[a-z_.]*delta|response\.(?:output_item|content_part|output_text|output_audio|output_audio_transcript|function_call_arguments)\.[a-z]+|rate_limits\.updated)"/;
const LOOKED_AT_BYTES = 256;

/** An event of the provider; undefined where nothing in it is looked for. @throws SyntaxError also for one that is too complex to be parsed */
export function readProviderEvent(frame: Buffer): Soon<RealtimeEvent | undefined> {
  if (PASSED_ON.test(frame.toString('latin1', 0, LOOKED_AT_BYTES))) return undefined;
  return andThen(frame.length > HARMLESS_BYTES ? readBounded(frame) : (readJson(frame) as Soon<unknown>), (event) =>
    isRecord(event) && typeof event['type'] === 'string' ? (event as unknown as RealtimeEvent) : undefined,
  );
}

/** One that is small may be as dense as an event of a client. */
async function readBounded(frame: Buffer): Promise<unknown> {
  if (await isTooComplex(frame, frame.length > LONGEST_PARSED ? undefined : INFERENCE_JSON))
    throw new SyntaxError('The event of the provider has too many values, or is nested too deep.');
  return readJson(frame);
}
