import type { ReceiptUsage } from '@tallygate/contract';
import { statedUsage } from '../../../kernel/stated-usage.ts';
import { writtenJson } from '../../../kernel/written-json.ts';
import type { ToolUsage } from '../../../money/catalog/index.ts';
import type { AnswerForm, ShownCost } from '../answer-form.ts';
import { CountedTools } from '../hosted-tools/counted-tools.ts';
import type { HostedTools } from '../hosted-tools/declared-tools.ts';
import { jsonObjectOf } from '../json-answer.ts';
import { tierSaid } from '../service-tier.ts';
import { type EventForm, TypedEventStream } from '../typed-event-stream.ts';
import { isRecord, isSaid, isUsed, readTokens, textUsage, usageOfAnswer, usedUsage } from '../usage.ts';
import { shownResponse, withoutEncrypted } from './wire.ts';

type Json = Readonly<Record<string, unknown>>;

/** Fields of a response that replace those of the provider: it was asked without state, and under another name. */
export type ResponseFrame = Json & { readonly id: string };

/** Events that carry the response as a whole. */
const WHOLE = new Set(['response.created', 'response.queued', 'response.in_progress', 'response.completed', 'response.incomplete']);
const FINAL = new Set(['response.completed', 'response.incomplete']);

export interface ResponseFormOptions {
  readonly hidesEncrypted?: boolean;
  /** What the provider may run. */
  readonly hosted?: HostedTools | undefined;
}

/** Answers of a provider that has Responses itself. */
export const responseForm = (frame: ResponseFrame, { hidesEncrypted = false, hosted }: ResponseFormOptions = {}): AnswerForm => ({
  async read(bytes) {
    const value = await jsonObjectOf(bytes);
    if (value?.['object'] !== 'response' || !Array.isArray(value['output'])) return undefined;
    const text = textOfOutput(value['output']);
    const tools = hosted && new CountedTools(hosted).addResponse(value).run;
    const said = withTools(readResponseUsage(statedUsage(value)), tools?.usage);
    const hasFailed = value['status'] === 'failed';
    // One that costs nothing is no answer: another provider may give one.
    if (hasFailed && !isUsed(said)) return undefined;
    const response = { ...value, ...frame };
    return {
      contentType: 'application/json',
      // Of one that failed, what was used is what it says.
      ...usageOfAnswer(said, () => (text !== '' || (tools?.calls ?? 0) > 0) && !hasFailed),
      ...(hasFailed && { hasFailed }),
      delivered: { text, scale: 1, ...(tools && { tools }) },
      serviceTier: tierSaid(value),
      value: response,
      toBytes: (cost) => writtenJson(withUsage(shownResponse(response, !hidesEncrypted), cost)),
    };
  },
  openStream: () => new TypedEventStream(eventForm(frame, hidesEncrypted, hosted)),
  // Of an answer that was not kept nobody has counted the calls.
  usageIn: (usage) => usedUsage(withTools(readResponseUsage(usage), hosted?.most)),
});

/** Where the provider counts no tokens, what its tools have used is no report of the whole. */
const withTools = (usage: ReceiptUsage | undefined, tools: ToolUsage | undefined): ReceiptUsage | undefined =>
  usage && tools ? { ...usage, ...tools } : usage;

/** Events that carry an item whole, and with it what the model thought. */
const ITEMS = new Set(['response.output_item.added', 'response.output_item.done']);

const ITEM_DONE = 'response.output_item.done';

function eventForm(frame: ResponseFrame, hidesEncrypted: boolean, hosted: HostedTools | undefined): EventForm {
  const form = tokenEvents(frame, hidesEncrypted);
  return hosted ? withToolEvents(form, hosted) : form;
}

/** Items that are done say what was run by then, and the response at the end what all of them were. */
function withToolEvents(form: EventForm, hosted: HostedTools): EventForm {
  const counted = new CountedTools(hosted);
  return {
    ...form,
    isWatched: (type) => type === ITEM_DONE || form.isWatched(type),
    rewrite: (event) => (event['type'] === ITEM_DONE && !form.isWatched(ITEM_DONE) ? event : (form.rewrite?.(event) ?? event)),
    readUsage(event) {
      if (event['type'] === ITEM_DONE) counted.add(event['item'], event['output_index']);
      else counted.addResponse(responseOf(event));
      return withTools(form.readUsage(event), counted.run.usage);
    },
    tools: () => counted.run,
  };
}

const tokenEvents = (frame: ResponseFrame, hidesEncrypted: boolean): EventForm => ({
  isWatched: (type) => WHOLE.has(type) || type === 'response.failed' || (hidesEncrypted && ITEMS.has(type)),
  isFinal: (type) => FINAL.has(type),
  rewrite: (event) =>
    isRecord(event['item'])
      ? { ...event, item: withoutEncrypted(event['item']) }
      : { ...event, response: { ...shownResponse(responseOf(event), !hidesEncrypted), ...frame } },
  readUsage: (event) => readResponseUsage(statedUsage(event)),
  tierOf: (event) => tierSaid(responseOf(event)),
  withCost: (final, cost) => ({
    ...final,
    response: withUsage({ ...shownResponse(responseOf(final), !hidesEncrypted), ...frame }, cost),
  }),
  textOf: ({ delta }) => (typeof delta === 'string' ? delta : ''),
  wholeTextOf: (final) => {
    const { output } = responseOf(final);
    return Array.isArray(output) ? textOfOutput(output) : '';
  },
  valueOf: (final) => ({ ...responseOf(final), ...frame }),
});

const responseOf = ({ response }: Json): Json => (isRecord(response) ? response : {});

/** OpenAI's usage of a response; undefined where it is missing or cannot be a count. */
function readResponseUsage(usage: unknown): ReceiptUsage | undefined {
  const tokens = readTokens(usage);
  return tokens && textUsage(tokens);
}

/** A response with its usage, ours where the provider reported none, and its cost. */
export function withUsage(response: Json, { usage, costUsd }: ShownCost): Json {
  const reported = isSaid(readResponseUsage(response['usage']), usage) && isRecord(response['usage']) ? response['usage'] : undefined;
  const shown = reported ?? {
    input_tokens: usage.input_tokens,
    input_tokens_details: { cached_tokens: usage.cached_input_tokens, cache_write_tokens: usage.cache_write_tokens },
    output_tokens: usage.output_tokens,
    output_tokens_details: { reasoning_tokens: usage.reasoning_tokens },
    total_tokens: usage.input_tokens + usage.output_tokens,
  };
  return { ...response, usage: { ...shown, cost: costUsd } };
}

/** Everything in the output that the model wrote, as text. */
export const textOfOutput = (output: readonly unknown[]): string => output.map(textOfItem).join('');

function textOfItem(item: unknown): string {
  if (!isRecord(item)) return '';
  const parts = [item['content'], item['summary']].flatMap((list) => (Array.isArray(list) ? list : [])).filter(isRecord);
  const written = parts.map(({ text, refusal }) => (typeof text === 'string' ? text : typeof refusal === 'string' ? refusal : ''));
  const called = [item['name'], item['arguments'], item['input']].filter((value) => typeof value === 'string');
  return [...written, ...called].join('');
}
