import {
  type BatchEmbedContentsRequest,
  type EmbedContentRequest,
  EmbeddingRequest,
  type GoogleContent,
  type InferenceEndpoint,
} from '@tallygate/contract';
import { invalidInput } from '../../../kernel/invalid-input.ts';
import { statedUsage } from '../../../kernel/stated-usage.ts';
import { writtenJson } from '../../../kernel/written-json.ts';
import type { AnswerForm, ShownCost } from '../answer-form.ts';
import type { Dialect } from '../dialect.ts';
import { embeddingWork, readEmbeddingUsage } from '../embedding-work.ts';
import type { Json } from '../event-data.ts';
import { jsonObjectOf } from '../json-answer.ts';
import type { Received } from '../operation.ts';
import { isRecord } from '../usage.ts';
import type { Work } from '../work.ts';

/** What keys are narrowed to, and what usage and receipts are filed under: the model is in the path on the wire. */
export const EMBED_CONTENT = '/v1beta/models:embedContent' satisfies InferenceEndpoint;

/** @throws Problem `validation_failed` */
export const embedContentWork = (request: EmbedContentRequest, received: Received): Work =>
  vectorsWork({
    wanted: [{ ...request, at: 'content' }],
    received,
    shown: ([embedding]) => ({ embedding }),
    passage: { endpoint: EMBED_CONTENT, request, form: passedForm(({ embedding }) => [embedding]) },
  });

/** @throws Problem `validation_failed` */
export const batchEmbedContentsWork = (request: BatchEmbedContentsRequest, received: Received): Work =>
  vectorsWork({
    wanted: request.requests.map((one, index) => ({ ...one, at: `requests[${index}].content` })),
    received,
    shown: (embeddings) => ({ embeddings }),
    passage: {
      ...{ endpoint: '/v1beta/models:batchEmbedContents', request },
      form: passedForm(({ embeddings }) => (Array.isArray(embeddings) ? embeddings : [])),
    },
  });

interface Vectors {
  readonly wanted: readonly (Pick<EmbedContentRequest, 'content' | 'outputDimensionality'> & { readonly at: string })[];
  readonly received: Received;
  /** Google's answer, of vectors in its form. */
  readonly shown: Shown;
  /** Where Google serves. */
  readonly passage: Dialect;
}
type Shown = (vectors: readonly Json[]) => Json;

function vectorsWork({ wanted, received, shown, passage }: Vectors): Work {
  const [first, ...others] = wanted.map(({ outputDimensionality }) => outputDimensionality ?? undefined);
  if (others.some((dimensions) => dimensions !== first)) throw refused('requests', 'must all have one `outputDimensionality`');
  const request = EmbeddingRequest.parse({
    model: received.params?.['model'] ?? '',
    input: wanted.map(({ content, at }) => textOf(content, at)),
    ...(first !== undefined && { dimensions: first }),
  });
  const { isPassedOn: _, countedBound: __, ...work } = embeddingWork(request, received);
  return {
    ...work,
    endpoint: EMBED_CONTENT,
    cheaper: 'shorten what is embedded',
    dialects: [passage, { endpoint: '/v1/embeddings', request, form: vectorForm(wanted.length, shown) }],
    // Titles and what else Google is sent are in the body: it has more bytes than all of them have tokens.
    bound: (model) => ({ inputTokens: Math.max(work.bound(model).inputTokens, received.bytes.length) }),
  };
}

const refused = (param: string, msg: string) => invalidInput([{ loc: ['body', param], msg, type: 'value_error' }]);

function textOf({ parts }: GoogleContent, at: string): string {
  if (parts?.some(({ text }) => typeof text !== 'string')) throw refused(at, 'must have texts alone: nothing else is embedded here');
  const text = (parts ?? []).map((part) => part.text).join('');
  if (text === '') throw refused(at, 'must have a text');
  return text;
}

/** Google's own answer, with the cost in its usage. */
const passedForm = (vectorsOf: (answer: Json) => readonly unknown[]): AnswerForm => ({
  async read(bytes) {
    const value = await jsonObjectOf(bytes);
    const vectors = value ? vectorsOf(value) : [];
    if (!value || vectors.length === 0 || !vectors.every((one) => isRecord(one) && Array.isArray(one['values']))) return undefined;
    const usage = readEmbeddingUsage(statedUsage(value));
    const reported = usage && isRecord(value['usageMetadata']) ? value['usageMetadata'] : undefined;
    return {
      contentType: 'application/json',
      usage,
      delivered: { text: '', scale: 1 },
      value,
      toBytes: (cost) => writtenJson({ ...value, usageMetadata: { ...(reported ?? usageOf(cost)), cost: cost.costUsd } }),
    };
  },
  usageIn: readEmbeddingUsage,
  openStream: neverStreamed,
});

const neverStreamed = (): never => {
  throw new Error('This endpoint does not stream');
};

const vectorForm = (count: number, shown: Shown): AnswerForm => ({
  async read(bytes) {
    const value = await jsonObjectOf(bytes);
    const vectors = Array.isArray(value?.['data']) ? value['data'].filter(isRecord) : [];
    if (vectors.length !== count || !vectors.every(({ embedding }) => Array.isArray(embedding))) return undefined;
    const answer = shown(vectors.map(({ embedding }) => ({ values: embedding })));
    return {
      contentType: 'application/json',
      usage: readEmbeddingUsage(statedUsage(value)),
      delivered: { text: '', scale: 1 },
      value: answer,
      toBytes: (cost) => writtenJson({ ...answer, usageMetadata: usageOf(cost) }),
    };
  },
  usageIn: readEmbeddingUsage,
  openStream: neverStreamed,
});

const usageOf = ({ usage: { input_tokens: tokens }, costUsd }: ShownCost): Json => ({
  promptTokenCount: tokens,
  totalTokenCount: tokens,
  cost: costUsd,
});
