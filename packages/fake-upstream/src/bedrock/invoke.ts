import { messageEvents } from '../anthropic/events.ts';
import { messageOf, plainMessage } from '../anthropic/message.ts';
import { whatIsWrongWith } from '../anthropic/request.ts';
import type { Answer, Question } from '../dialect.ts';
import { type Fields, isFields } from '../fields.ts';
import { exceptionFrame, frame } from './framing.ts';

const VERSION = 'bedrock-2023-05-31';
const DIMENSIONS = 4;
const TOKENS_A_TEXT = 10;

const isClaude = (path: string): boolean => path.includes('anthropic.claude');

/** What a model would refuse that is asked in its own words. */
export function whatIsWrongWithInvoked(path: string, body: Fields): string | undefined {
  if (!isClaude(path)) return wrongTexts(body);
  const { anthropic_version: version, anthropic_beta: betas = [], ...message } = body;
  if (version !== VERSION) return 'anthropic_version: Field required';
  if ('model' in body || 'stream' in body || 'service_tier' in body) return 'Malformed input request: extraneous key is not permitted';
  if (!Array.isArray(betas) || betas.some((beta) => /^(?:claude-code|oauth|prompt-caching)/.test(String(beta)))) return 'invalid beta flag';
  return whatIsWrongWith({ model: 'claude', ...message });
}

function wrongTexts({ inputText, texts, input_type: type }: Fields): string | undefined {
  if (typeof inputText === 'string') return undefined;
  return Array.isArray(texts) && texts.length > 0 && texts.length <= 96 && typeof type === 'string'
    ? undefined
    : 'Malformed input request: required key is missing';
}

/** InvokeModel, whole and streamed: a message of Claude's, or vectors. */
export function invokedAnswer(question: Question): Pick<Answer, 'plain' | 'exactUsage' | 'leadingEvents' | 'events' | 'headers'> {
  const { request, step } = question;
  if (!isClaude(question.path)) {
    const texts = Array.isArray(request['texts']) ? request['texts'].length : 1;
    const usage = { inputTokens: texts * TOKENS_A_TEXT * (step.usageTimes ?? 1) };
    return {
      plain: () => vectors(request, texts, usage.inputTokens),
      exactUsage: () => usage,
      headers: step.usage ? {} : { 'x-amzn-bedrock-input-token-count': String(usage.inputTokens) },
      events: () => [],
    };
  }
  const message = () => messageOf({ ...question, request: { ...request, model: 'claude-of-bedrock' } });
  return {
    plain: () => plainMessage(message()),
    exactUsage: () => message().exact,
    leadingEvents: 2,
    *events() {
      for (const event of messageEvents(message(), step)) yield framedEvent(event);
    },
  };
}

function vectors({ inputText, dimensions }: Fields, texts: number, inputTextTokenCount: number): Fields {
  const vector = Array.from({ length: Number(dimensions ?? DIMENSIONS) }, () => 0.5);
  if (typeof inputText === 'string') return { embedding: vector, inputTextTokenCount };
  return { id: 'fake', response_type: 'embeddings_by_type', embeddings: { float: Array.from({ length: texts }, () => vector) } };
}

/** A server-sent event of Anthropic's as Bedrock sends it. */
function framedEvent(said: string): Buffer {
  const data = said.split(/\r\n|\r|\n/).find((line) => line.startsWith('data: ')) ?? 'data: {}';
  const text = data.slice('data: '.length);
  const event: unknown = JSON.parse(text);
  if (isFields(event) && event['type'] === 'error') return exceptionFrame('modelStreamErrorException', { message: 'The model failed.' });
  return chunkFrame(text);
}

/** An event of a model's own stream. */
export const chunkFrame = (event: string): Buffer => frame('chunk', { bytes: Buffer.from(event).toString('base64'), p: 'abc' });
