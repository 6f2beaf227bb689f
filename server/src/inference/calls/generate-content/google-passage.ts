import type { ReceiptUsage } from '@tallygate/contract';
import { GOOGLE_TIER_HEADER, googleTierIn, googleUsageOf } from '../../../adapters/upstream/port.ts';
import { andThen, inOrder, type Soon } from '../../../kernel/soon.ts';
import { statedUsage } from '../../../kernel/stated-usage.ts';
import { writtenJson } from '../../../kernel/written-json.ts';
import type { AnswerForm, HeaderOf, PlainAnswer, ShownCost, StreamError } from '../answer-form.ts';
import type { Json } from '../event-data.ts';
import { jsonObjectOf } from '../json-answer.ts';
import { type EventForm, TypedEventStream } from '../typed-event-stream.ts';
import { isRecord, isSaid, leastUsage, readUsage, usageOfAnswer, usedUsage } from '../usage.ts';
import { streamedError } from './google-errors.ts';
import { usageMetadata } from './google-usage.ts';
import { ListStream } from './list-stream.ts';
import { StreamedUsage } from './streamed-usage.ts';

/** Google's answers where Google serves: they pass as they are, with the cost in their usage. */
export const googlePassage = ({ isSse }: { readonly isSse: boolean }): AnswerForm => ({
  read: readAnswer,
  openStream(_, headerOf) {
    const events = new PassedEvents(new StreamedUsage(), tierOf(headerOf));
    return isSse ? events : new ListStream(events);
  },
  usageIn: (usage) => usedUsage(leastUsage(googleUsageOf(usage))),
});

/** Google's head says it, and its usage may. */
const tierOf = (headerOf?: HeaderOf): string | undefined => googleTierIn(headerOf?.(GOOGLE_TIER_HEADER));
const tierSaid = ({ usageMetadata }: Json): string | undefined =>
  isRecord(usageMetadata) ? googleTierIn(usageMetadata['serviceTier']) : undefined;

async function readAnswer(bytes: Buffer, _: string | null, headerOf?: HeaderOf): Promise<PlainAnswer | undefined> {
  const value = await jsonObjectOf(bytes);
  if (!value || (partsOf(value) === undefined && !isBlocked(value))) return undefined;
  const text = (await inOrder(partsOf(value) ?? [], writtenOf)).join('');
  const stated = googleUsageOf(statedUsage(value));
  const said = readUsage(stated);
  const { usage, usageSaid } = usageOfAnswer(said, () => text !== '', leastUsage(stated));
  return {
    contentType: 'application/json',
    ...{ usage, usageSaid },
    delivered: { text, scale: 1 },
    serviceTier: tierSaid(value) ?? tierOf(headerOf),
    value,
    toBytes: (cost) => writtenJson(withCost(value, usage && said, cost)),
  };
}

/** Google's own words of the usage where they are what is settled, and the cost. */
const withCost = (answer: Json, said: ReceiptUsage | undefined, { usage, costUsd }: ShownCost): Json => ({
  ...answer,
  usageMetadata: {
    ...(isSaid(said, usage) && isRecord(answer['usageMetadata']) ? answer['usageMetadata'] : usageMetadata(usage)),
    cost: costUsd,
  },
});

/** Why Google did not let the model see the prompt. */
const isBlocked = ({ promptFeedback }: Json): boolean => isRecord(promptFeedback) && typeof promptFeedback['blockReason'] === 'string';

const candidatesOf = ({ candidates }: Json): Json[] | undefined => {
  const found = Array.isArray(candidates) ? candidates.filter(isRecord) : [];
  return found.length === 0 ? undefined : found;
};

/** What all candidates say; undefined where there is none. */
const partsOf = (answer: Json): Json[] | undefined =>
  candidatesOf(answer)?.flatMap(({ content }) => {
    const parts = isRecord(content) ? content['parts'] : undefined;
    return Array.isArray(parts) ? parts.filter(isRecord) : [];
  });

const textOf = ({ text }: Json): string => (typeof text === 'string' ? text : '');

/** Everything that the model wrote, a call as its JSON: which may be large. */
const writtenOf = (part: Json): Soon<string> =>
  isRecord(part['functionCall']) ? andThen(writtenJson(part['functionCall']), (call) => call.toString()) : textOf(part);

class PassedEvents extends TypedEventStream {
  readonly #told: StreamedUsage;
  readonly #tier: string | undefined;

  /** @param tier that its head names */
  constructor(told: StreamedUsage, tier: string | undefined) {
    super(eventForm(told));
    this.#told = told;
    this.#tier = tier;
  }

  override get serviceTier(): string | undefined {
    return super.serviceTier ?? this.#tier;
  }

  /** What an error says is all that is billed; else the last event has to have said it of the whole. */
  override get usage(): ReceiptUsage | undefined {
    return this.error || this.#told.whole ? super.usage : undefined;
  }

  override get hasUsageDecreased(): boolean {
    return super.hasUsageDecreased || this.#told.hasDecreased;
  }

  get promptSaid(): ReceiptUsage | undefined {
    return this.#told.prompt;
  }

  override errorBytes(error: StreamError): Buffer {
    return Buffer.from(`data: ${JSON.stringify(streamedError(error))}\n\n`);
  }
}

const EVENT_MEMBERS = ['candidates', 'promptFeedback', 'usageMetadata', 'modelVersion', 'responseId'];
const SAID = 'said';
const ENDING = 'ending';

/** Google's events name no type, and none says that it is the last: from the first with a reason why it ended on, each may be. */
function eventForm(told: StreamedUsage): EventForm {
  let isEnding = false;
  const typeOf = (event: Json): string => {
    if (!EVENT_MEMBERS.some((name) => name in event)) return '';
    isEnding ||= isBlocked(event) || (candidatesOf(event) ?? []).some(({ finishReason }) => typeof finishReason === 'string');
    return isEnding ? ENDING : SAID;
  };
  const textIn = (event: Json): string =>
    (partsOf(event) ?? []).map((part) => (isRecord(part['functionCall']) ? JSON.stringify(part['functionCall']) : textOf(part))).join('');
  const hasSpoken = (event: Json): boolean => (partsOf(event) ?? []).some((part) => textOf(part) !== '' || 'functionCall' in part);
  return {
    typeOf,
    endsWithBody: true,
    isWatched: () => true,
    isFinal: () => false,
    isEnding: (type) => type === ENDING,
    readUsage: (event) => told.read(event, hasSpoken(event)),
    tierOf: tierSaid,
    withCost: (event, cost) => withCost(event, told.whole, cost),
    codeOf: ({ status }) => status,
    textOf: textIn,
  };
}
