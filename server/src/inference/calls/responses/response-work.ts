import type { ReceiptUsage, ResponseItem, ResponseRequest } from '@tallygate/contract';
import { Problem } from '../../../kernel/problem.ts';
import type { CatalogModel } from '../../../money/catalog/index.ts';
import type { AnswerForm, Delivered } from '../answer-form.ts';
import type { KeptCall } from '../call-context.ts';
import { unpricedFeature } from '../cost-fields/index.ts';
import { BYTES_PER_TOKEN, countText, ROUGH_BYTES_PER_TOKEN } from '../estimate.ts';
import { CountedTools } from '../hosted-tools/counted-tools.ts';
import { CALLS_TO_TRY, type HostedTools, hostedTools, inputOfPasses, sentTools } from '../hosted-tools/declared-tools.ts';
import { toolPromptTokens } from '../input-bound.ts';
import type { Served } from '../served.ts';
import { askedTier } from '../service-tier.ts';
import { thinkingBeside } from '../thinking-beside.ts';
import type { Tokenizer } from '../tokenizer.ts';
import { isRecord, NO_USAGE } from '../usage.ts';
import type { ToldStream, Work } from '../work.ts';
import { chatDialect } from './chat-dialect.ts';
import { checkMedia, mediaOf } from './media.ts';
import { type ResponseFrame, responseForm, withUsage } from './response-form.ts';
import { responseFromChatForm } from './response-from-chat.ts';
import { boundText, type InputSize, inputSize, promptText, responseNeeds, templateTokens } from './response-input.ts';
import { brokenResponse, toldEvents } from './told-events.ts';
import { unpricedItem } from './unpriced-item.ts';
import { ENCRYPTED_REASONING } from './wire.ts';

export interface ResponseWorkOptions {
  /** The whole input: what came before, and what is new. */
  readonly items: readonly ResponseItem[];
  /** What is sent, with all of them ({@link sentBytes}). */
  readonly bytes: number;
  /** Of the audio among them; undefined where nobody has measured it. */
  readonly audioTokens?: number | undefined;
  readonly frame: ResponseFrame;
  readonly requestSha256: () => string;
  /** Whether the provider is to send what the model thought along, so that it can be shown to it again. */
  readonly asksEncrypted?: boolean;
  /** Whether the caller is not to see that. */
  readonly hidesEncrypted?: boolean;
  /** What the answer is read as; left out, as the response that it is. */
  readonly read?: (form: AnswerForm) => AnswerForm;
  /** Given the response whole, with its cost. */
  readonly keep?: (response: Readonly<Record<string, unknown>>, served: Served, call: KeptCall) => Promise<void>;
  /** The same for a stream: the response as far as it came, with all that was told of it. */
  readonly keepStream?: (response: Readonly<Record<string, unknown>>, told: ToldStream) => Promise<void>;
}

const asItIs = (form: AnswerForm): AnswerForm => form;

/** More than any model takes. */
const WINDOW_UNKNOWN = 10_000_000;

/** @throws Problem `unpriced_feature`, `validation_failed` */
export const responseWork = (request: ResponseRequest, options: ResponseWorkOptions): Work => workWith(request, options, CALLS_TO_TRY);

/** @param calls of tools that the provider runs, to be tried one after the other where the request does not bound them */
function workWith(request: ResponseRequest, options: ResponseWorkOptions, [calls, ...fewer]: readonly number[]): Work {
  const { items, bytes, audioTokens, frame, requestSha256, asksEncrypted = false, hidesEncrypted = false, read = asItIs } = options;
  const unpriced = unpricedItem(items);
  if (unpriced) throw unpricedFeature(unpriced);
  checkMedia(mediaOf(items));
  const size = inputSize(request, { items, bytes, audioTokens });
  if (items.length === 0 && !request.instructions) throw nothingToAnswer();
  const hosted = hostedTools(request, items, calls);
  const sent = statelessRequest(request, items, { asksEncrypted, hosted });
  const chat = chatDialect(sent, items, read(responseFromChatForm(sent, frame)));
  const native = responseForm(frame, { hidesEncrypted: asksEncrypted && hidesEncrypted, hosted });
  const bound = (model: CatalogModel, prompt: number) => boundWith(model, prompt, hosted);
  return {
    endpoint: '/v1/responses',
    model: request.model,
    fallbackModels: request.models ?? [],
    isStream: request.stream === true,
    serviceTier: askedTier(request.service_tier),
    needs: responseNeeds(request, items),
    output: {
      asked: request.max_output_tokens ?? undefined,
      choices: 1,
      roughPromptTokens: Math.ceil(size.textBytes / ROUGH_BYTES_PER_TOKEN),
    },
    ...(hosted && { meters: hosted.meters }),
    ...(hosted?.areCallsOurs && fewer.length > 0 && { lighter: () => workWith(request, options, fewer) }),
    cheaper: `lower \`max_output_tokens\`${hosted ? ' or `max_tool_calls`' : ''}, or shorten \`input\``,
    estimatedTokens: Math.ceil(size.textBytes / BYTES_PER_TOKEN),
    dialects: [{ endpoint: '/v1/responses', request: sent, form: read(native) }, ...(chat ? [chat] : [])],
    thinkingTokens: (model) => thinkingBeside(model),
    bound: (model) => bound(model, inputTokenBound(model, size)),
    async countedBound(model, tokenizer) {
      if (size.isOpenEnded || !model.tokenizer) return undefined;
      const tokens = await tokenizer.count(model.tokenizer, boundText(request, items));
      return tokens === undefined
        ? undefined
        : bound(model, inputTokenBound(model, { ...size, textBytes: tokens + templateTokens(request, items) }));
    },
    estimate: (model, delivered, most, tokenizer) =>
      estimateUsage({ request, items, size, hosted, model, delivered, most: (most ?? 0) + thinkingBeside(model) }, tokenizer),
    requestSha256,
    ...keepingOf(options),
  };
}

/** Where the provider has responses it is not told of a budget of thought: the most is held. */
function boundWith(model: CatalogModel, prompt: number, hosted: HostedTools | undefined) {
  const fixedOutputTokens = thinkingBeside(model);
  return {
    inputTokens: hosted ? inputOfPasses(prompt, hosted, model.contextWindow) : prompt,
    ...(fixedOutputTokens > 0 && { fixedOutputTokens }),
    ...(hosted && { tools: hosted.most, rereads: hosted.passes - 1 }),
  };
}

/** How the response is stored, with its cost. */
const keepingOf = ({ keep, keepStream }: ResponseWorkOptions): Pick<Work, 'keep' | 'keepStream'> => ({
  ...(keep && { keep: (answer, cost, served, call) => keep(withUsage(isRecord(answer) ? answer : {}, cost), served, call) }),
  ...(keepStream && {
    keepStream: async (told, cost) => {
      const response = told.isComplete ? told.value : told.events && brokenResponse(await toldEvents(told.events), told.error);
      if (isRecord(response)) await keepStream(withUsage(response, cost), told);
    },
  }),
});

interface Asking {
  readonly asksEncrypted: boolean;
  readonly hosted: HostedTools | undefined;
}

/** The provider is asked without state: everything that came before is in the input, and nothing is to stay there. */
function statelessRequest(request: ResponseRequest, items: readonly ResponseItem[], { asksEncrypted, hosted }: Asking): ResponseRequest {
  const { previous_response_id: _, conversation: __, background: ___, metadata: ____, truncation: _____, ...rest } = request;
  const include = asksEncrypted ? [...new Set([...(request.include ?? []), ENCRYPTED_REASONING])] : request.include;
  return {
    ...rest,
    ...(include && { include }),
    ...(hosted && { max_tool_calls: hosted.calls }),
    ...(hosted && rest.tools && { tools: sentTools(rest.tools) }),
    input: items.flatMap(statelessItem),
    store: false,
  };
}

/** Ids name what the provider keeps, and it keeps nothing. Only reasoning needs its own, and is worth nothing there without its content. */
function statelessItem(item: ResponseItem): ResponseItem[] {
  if (item.type === 'reasoning') return typeof item['encrypted_content'] === 'string' ? [item] : [];
  if (!NAMELESS.has(item.type ?? 'message')) return [item];
  const { id: _, ...sent } = item;
  return [sent];
}

/** Items that a provider takes without their id. */
const NAMELESS = new Set(['message', 'function_call', 'function_call_output', 'custom_tool_call', 'custom_tool_call_output']);

function inputTokenBound(model: CatalogModel, { textBytes: written, audioTokens, images, isOpenEnded, hasTools }: InputSize): number {
  const { contextWindow, imageTokenBound } = model;
  const textBytes = written + audioTokens + toolPromptTokens(model, hasTools);
  if (isOpenEnded || (images > 0 && imageTokenBound === null)) return textBytes + (contextWindow ?? WINDOW_UNKNOWN);
  return textBytes + images * (imageTokenBound ?? 0);
}

interface Estimated {
  readonly request: ResponseRequest;
  readonly items: readonly ResponseItem[];
  readonly size: InputSize;
  readonly hosted: HostedTools | undefined;
  readonly model: CatalogModel;
  readonly delivered: Delivered;
  readonly most: number;
}

async function estimateUsage(
  { request, items, size, hosted, model, delivered, most }: Estimated,
  tokenizer: Tokenizer,
): Promise<ReceiptUsage> {
  const [prompt, output] = await Promise.all([
    countText(promptText(request, items), model, tokenizer),
    countText(delivered.text, model, tokenizer),
  ]);
  // Of an answer that could not be read nothing is known to have run; its containers were made with the request.
  const tools = delivered.tools ?? (hosted && new CountedTools(hosted).run);
  const onePass = Math.min(prompt + size.audioTokens + size.images * (model.imageTokenBound ?? 0), inputTokenBound(model, size));
  return {
    ...NO_USAGE,
    // Each call is followed by another pass over the prompt.
    input_tokens: onePass * (1 + (tools?.calls ?? 0)),
    output_tokens: Math.min(Math.ceil(output * delivered.scale), most),
    ...tools?.usage,
  };
}

function nothingToAnswer(): Problem {
  const msg = 'Expected something to answer: a text, items, or a conversation that has some';
  return new Problem('validation_failed', `\`input\` is missing. ${msg}.`, {
    param: 'input',
    errors: [{ loc: ['body', 'input'], msg, type: 'missing' }],
  });
}
