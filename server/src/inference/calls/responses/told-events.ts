import { breather } from '../../../kernel/turn.ts';
import type { StreamError } from '../answer-form.ts';
import { dataOf, jsonOf, LONGEST_PARSED, readLarge } from '../event-data.ts';
import { eventsOf } from '../event-frames.ts';
import { isCount, isRecord } from '../usage.ts';
import type { Json } from './stored-responses.ts';

/** The events among bytes that were sent, each with its number: that of its provider, or else its place. Other work has its turn meanwhile. */
export async function toldEvents(bytes: Buffer): Promise<Json[]> {
  const rest = breather();
  const told: Json[] = [];
  for (const event of eventsOf(bytes)) {
    const value = event.length > LONGEST_PARSED ? (await readLarge(event))?.value : jsonOf(dataOf(event.toString('utf8')));
    if (value) told.push(isCount(value['sequence_number']) ? value : { ...value, sequence_number: told.length });
    await rest();
  }
  return told;
}

/**
 * A response as far as it was told before its stream broke off: failed over the error, or incomplete where its client hung up. Texts stay
 * as far as they came; what else was not whole is left out: half a call is none. Undefined where not even its beginning was told.
 */
export function brokenResponse(events: readonly Json[], error: StreamError | undefined): Json | undefined {
  const begun = events.map(({ response }) => response).find(isRecord);
  if (!begun) return undefined;
  const items = new Map<number, Item>();
  for (const event of events) tell(items, event);
  const output = [...items]
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item)
    .filter(({ value, isWhole }) => isWhole || value['type'] === 'message')
    .map(({ value, isWhole }) => (isWhole ? value : { ...value, status: 'incomplete' }));
  return {
    ...begun,
    output,
    status: error ? 'failed' : 'incomplete',
    error: error ? { code: error.code ?? 'server_error', message: error.message } : null,
    incomplete_details: error ? null : { reason: 'interrupted' },
  };
}

interface Item {
  readonly value: Json;
  readonly isWhole: boolean;
}

function tell(items: Map<number, Item>, event: Json): void {
  const { type, output_index: at, item } = event;
  if (!isCount(at)) return;
  if (isRecord(item)) items.set(at, { value: item, isWhole: type === 'response.output_item.done' });
  const told = items.get(at);
  const place = event['content_index'];
  if (!told || told.isWhole || !isCount(place)) return;
  const content = Array.isArray(told.value['content']) ? told.value['content'].filter(isRecord) : [];
  const part = partTold(content[place], event);
  if (part && place <= content.length)
    items.set(at, { ...told, value: { ...told.value, content: [...content.slice(0, place), part, ...content.slice(place + 1)] } });
}

/** The part of a message as it is after the event. */
function partTold(before: Json | undefined, { type, part, delta }: Json): Json | undefined {
  if (isRecord(part)) return part;
  if (!before || typeof delta !== 'string') return undefined;
  if (type === 'response.output_text.delta') return { ...before, text: `${before['text'] ?? ''}${delta}` };
  return type === 'response.refusal.delta' ? { ...before, refusal: `${before['refusal'] ?? ''}${delta}` } : undefined;
}
