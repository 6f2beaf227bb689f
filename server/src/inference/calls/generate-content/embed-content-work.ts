import { type EmbedContentRequest, EmbeddingRequest, type GoogleContent, type InferenceEndpoint } from '@tallygate/contract';
import { invalidInput } from '../../../kernel/invalid-input.ts';
import { statedUsage } from '../../../kernel/stated-usage.ts';
import { writtenJson } from '../../../kernel/written-json.ts';
import type { AnswerForm, ShownCost } from '../answer-form.ts';
import { embeddingWork, readEmbeddingUsage } from '../embedding-work.ts';
import type { Json } from '../event-data.ts';
import { jsonObjectOf } from '../json-answer.ts';
import type { Received } from '../operation.ts';
import { isRecord } from '../usage.ts';
import type { Work } from '../work.ts';

/** What keys are narrowed to, and what usage and receipts are filed under: the model is in the path on the wire. */
export const EMBED_CONTENT: InferenceEndpoint = '/v1beta/models:embedContent';

/** @throws Problem `validation_failed` */
export const embedContentWork = (request: EmbedContentRequest, received: Received): Work =>
  vectorsWork([{ ...request, at: 'content' }], received, ([embedding]) => ({ embedding }));

/** @throws Problem `validation_failed` */
export const batchEmbedContentsWork = ({ requests }: { readonly requests: readonly EmbedContentRequest[] }, received: Received): Work =>
  vectorsWork(
    requests.map((request, index) => ({ ...request, at: `requests[${index}].content` })),
    received,
    (embeddings) => ({ embeddings }),
  );

type Wanted = Pick<EmbedContentRequest, 'content' | 'outputDimensionality'> & { readonly at: string };
type Shown = (vectors: readonly Json[]) => Json;

function vectorsWork(wanted: readonly Wanted[], received: Received, shown: Shown): Work {
  const [first, ...others] = wanted.map(({ outputDimensionality }) => outputDimensionality ?? undefined);
  if (others.some((dimensions) => dimensions !== first)) throw refused('requests', 'must all have one `outputDimensionality`');
  const request = EmbeddingRequest.parse({
    model: received.params?.['model'] ?? '',
    input: wanted.map(({ content, at }) => textOf(content, at)),
    ...(first !== undefined && { dimensions: first }),
  });
  const { isPassedOn: _, ...work } = embeddingWork(request, received);
  return {
    ...work,
    endpoint: EMBED_CONTENT,
    cheaper: 'shorten what is embedded',
    dialects: [{ endpoint: '/v1/embeddings', request, form: vectorForm(wanted.length, shown) }],
  };
}

const refused = (param: string, msg: string) => invalidInput([{ loc: ['body', param], msg, type: 'value_error' }]);

function textOf({ parts }: GoogleContent, at: string): string {
  if (parts?.some(({ text }) => typeof text !== 'string')) throw refused(at, 'must have texts alone: nothing else is embedded here');
  const text = (parts ?? []).map((part) => part.text).join('');
  if (text === '') throw refused(at, 'must have a text');
  return text;
}

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
  openStream() {
    throw new Error('This endpoint does not stream');
  },
});

const usageOf = ({ usage: { input_tokens: tokens }, costUsd }: ShownCost): Json => ({
  promptTokenCount: tokens,
  totalTokenCount: tokens,
  cost: costUsd,
});
