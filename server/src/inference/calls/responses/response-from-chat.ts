import type { ResponseRequest } from '@tallygate/contract';
import { joined } from '../../../kernel/joined.ts';
import { andThen, inOrder, type Soon } from '../../../kernel/soon.ts';
import { writtenJson } from '../../../kernel/written-json.ts';
import type { AnswerForm, PlainAnswer, ShownCost, StreamError } from '../answer-form.ts';
import { textOfChunk, usageOfChunk } from '../chat-chunk.ts';
import { DerivedStream } from '../derived-stream.ts';
import { writtenEvent } from '../event-frames.ts';
import { jsonObjectOf } from '../json-answer.ts';
import { tierSaid } from '../service-tier.ts';
import { SseFilter } from '../sse-filter.ts';
import { isRecord, leastUsage, readUsage, usageOfAnswer, usedUsage } from '../usage.ts';
import { type Json, OutputBuilder, type OutputEvent } from './output-builder.ts';
import { type ResponseFrame, withUsage } from './response-form.ts';

/** Responses made of a provider's chat completions. */
export const responseFromChatForm = (request: ResponseRequest, frame: ResponseFrame): AnswerForm => ({
  read: (bytes) => readCompletion(bytes, request, frame),
  openStream: () => new ResponseFromChatStream(request, frame),
  usageIn: (usage) => usedUsage(leastUsage(usage)),
});

async function readCompletion(bytes: Buffer, request: ResponseRequest, frame: ResponseFrame): Promise<PlainAnswer | undefined> {
  const completion = await jsonObjectOf(bytes);
  const [choice] = Array.isArray(completion?.['choices']) ? completion['choices'].filter(isRecord) : [];
  if (!completion || !choice || !isRecord(choice['message'])) return undefined;
  const builder = new OutputBuilder(frame.id);
  builder.add(choice['message'], logprobsOf(choice));
  const { isTooLarge } = builder;
  builder.finish(choice['finish_reason']);
  const text = textOfChunk(completion);
  const stated = usageOfChunk(completion);
  const response = responseObject(request, frame, { model: completion['model'], created: completion['created'], builder });
  return {
    contentType: 'application/json',
    ...usageOfAnswer(readUsage(stated), () => text !== '', leastUsage(stated)),
    delivered: { text, scale: 1 },
    serviceTier: tierSaid(completion),
    value: response,
    ...(isTooLarge && { isTooLarge }),
    // Chat's usage is in other words: ours are written in any case.
    toBytes: (cost) => writtenJson(withUsage(response, cost)),
  };
}

const logprobsOf = ({ logprobs }: Json): unknown[] => (isRecord(logprobs) && Array.isArray(logprobs['content']) ? logprobs['content'] : []);

interface Made {
  readonly model: unknown;
  readonly created: unknown;
  readonly builder: OutputBuilder;
}

/** The response so far: complete, cut by its bound, or in progress. */
function responseObject(request: ResponseRequest, frame: ResponseFrame, { model, created, builder }: Made, isInProgress = false): Json {
  const reason = builder.incompleteReason;
  return {
    object: 'response',
    created_at: typeof created === 'number' ? created : 0,
    status: isInProgress ? 'in_progress' : reason ? 'incomplete' : 'completed',
    error: null,
    incomplete_details: reason && !isInProgress ? { reason } : null,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: request.max_tool_calls ?? null,
    model: typeof model === 'string' ? model : request.model,
    output: isInProgress ? [] : builder.output,
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    reasoning: request.reasoning ?? null,
    temperature: request.temperature ?? 1,
    text: request.text ?? { format: { type: 'text' } },
    tool_choice: request.tool_choice ?? 'auto',
    tools: request.tools ?? [],
    top_p: request.top_p ?? 1,
    top_logprobs: request.top_logprobs ?? 0,
    ...frame,
  };
}

/** Chunks of a chat become the events of a response, each as soon as it can be said. */
class ResponseFromChatStream extends DerivedStream<SseFilter> {
  readonly contentType = 'text/event-stream';
  readonly #builder: OutputBuilder;
  readonly #request: ResponseRequest;
  readonly #frame: ResponseFrame;
  #sequence = 0;
  #model: unknown;
  #created: unknown;
  #hasBegun = false;
  #isFinished = false;

  constructor(request: ResponseRequest, frame: ResponseFrame) {
    super(new SseFilter());
    this.#request = request;
    this.#frame = frame;
    this.#builder = new OutputBuilder(frame.id);
  }

  get usage() {
    return readUsage(this.source.usage);
  }

  get value(): Json {
    this.#builder.finish(undefined);
    return this.#response();
  }

  lastBytes(cost: ShownCost): Soon<Buffer> {
    const closing = this.#close();
    const type = this.#builder.incompleteReason ? 'response.incomplete' : 'response.completed';
    return this.#say([...closing, { type, response: withUsage(this.#response(), cost) }]);
  }

  errorBytes({ message, code }: StreamError): Buffer {
    const event = this.#numbered({ type: 'error', code: code ?? 'server_error', message, param: null });
    return Buffer.from(`event: error\ndata: ${JSON.stringify(event)}\n\n`);
  }

  protected said(chunk: Json | undefined): Soon<Buffer> {
    const [choice] = Array.isArray(chunk?.['choices']) ? chunk['choices'].filter(isRecord) : [];
    if (!chunk || !choice) return EMPTY;
    const begun = this.#begin(chunk);
    const events = isRecord(choice['delta']) ? this.#builder.add(choice['delta'], logprobsOf(choice)) : [];
    if (this.#builder.isTooLarge) {
      this.leaveOut();
      return EMPTY;
    }
    if (typeof choice['finish_reason'] === 'string') this.#builder.finish(choice['finish_reason']);
    return this.#say([...begun, ...events]);
  }

  /** The events that begin the response; once. */
  #begin({ model, created }: Json): OutputEvent[] {
    if (this.#hasBegun) return [];
    this.#hasBegun = true;
    this.#model = model;
    this.#created = created;
    const response = this.#response(true);
    return ['response.created', 'response.in_progress'].map((type) => ({ type, response }));
  }

  /** The events that complete what is still open; once. */
  #close(): OutputEvent[] {
    if (this.#isFinished) return [];
    this.#isFinished = true;
    return this.#builder.close();
  }

  #response(isInProgress = false): Json {
    return responseObject(this.#request, this.#frame, { model: this.#model, created: this.#created, builder: this.#builder }, isInProgress);
  }

  /** Each on its own: what they repeat of a large answer is written in pieces. */
  #say(events: readonly OutputEvent[]): Soon<Buffer> {
    return andThen(
      inOrder(events, (event) => writtenEvent(this.#numbered(event))),
      joined,
    );
  }

  #numbered(event: Json): Json {
    const numbered = { ...event, sequence_number: this.#sequence };
    this.#sequence += 1;
    return numbered;
  }
}

const EMPTY = Buffer.alloc(0);
