import type { EmbeddingRequest } from '@tallygate/contract';
import { inTurns } from '../../../../kernel/turn.ts';
import { writtenJson } from '../../../../kernel/written-json.ts';
import { Untranslatable } from '../../fault.ts';
import { countIn, isRecord, type Json, jsonInBytes } from '../../json-value.ts';
import type { UpstreamAnswer, UpstreamCallOf, UpstreamFault } from '../../port.ts';
import { TranslatedDocument } from '../../translated-answer.ts';
import { openAiVectors, textsOf } from '../../vectors.ts';
import type { BedrockApi } from '../api.ts';
import { familyOf } from '../model-family.ts';

/** Models that make vectors, in the words of their makers. */
interface Maker {
  request(request: EmbeddingRequest, model: string): object;
  vectorsOf(document: Json): readonly unknown[];
}

/** https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed-text.html */
const titan: Maker = {
  request({ input, dimensions }, model) {
    const [inputText, ...others] = textsOf(input);
    if (others.length > 0) throw new Untranslatable('input', 'This model takes one text a request.');
    const isFirst = /titan-embed-(?:g1-)?text-(?:v1|02)/.test(model);
    if (isFirst && typeof dimensions === 'number') throw new Untranslatable('dimensions', 'Vectors of this model have one length.');
    return { inputText, ...(!isFirst && { normalize: true, ...(typeof dimensions === 'number' && { dimensions }) }) };
  },
  vectorsOf: ({ embedding }) => (embedding === undefined ? [] : [embedding]),
};

/** Of texts in one request. */
const MOST_TEXTS = 96;

/** https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-embed.html */
const cohere: Maker = {
  request({ input, dimensions }, model) {
    const texts = textsOf(input);
    if (texts.length > MOST_TEXTS) throw new Untranslatable('input', `This model takes ${MOST_TEXTS} texts a request at most.`);
    if (typeof dimensions === 'number' && !model.includes('embed-v4'))
      throw new Untranslatable('dimensions', 'Vectors of this model have one length.');
    return {
      ...{ texts, input_type: 'search_document', embedding_types: ['float'], truncate: 'NONE' },
      ...(typeof dimensions === 'number' && { output_dimension: dimensions }),
    };
  },
  vectorsOf({ embeddings }) {
    const vectors = isRecord(embeddings) ? embeddings['float'] : embeddings;
    return Array.isArray(vectors) ? vectors : [];
  },
};

export const isEmbedding = (model: string): boolean => /embed/.test(model) && makerOf(model) !== undefined;

function makerOf(model: string): Maker | undefined {
  const family = familyOf(model);
  return family === 'titan' ? titan : family === 'cohere' ? cohere : undefined;
}

/** Tokens of the prompt, on every answer of InvokeModel; Cohere's says nothing of them in its body. */
const INPUT_TOKENS = 'x-amzn-bedrock-input-token-count';

export async function embeddings(api: BedrockApi, call: UpstreamCallOf<'/v1/embeddings'>): Promise<UpstreamAnswer | UpstreamFault> {
  const { model, request } = call;
  const maker = makerOf(model) ?? cohere;
  const answer = await api.send(call, 'invoke', async () => maker.request(request, model));
  if (!answer.ok) return answer;
  const usageOf = (tokens: unknown) => usageBy(countIn(tokens) ?? countIn(Number(answer.header?.(INPUT_TOKENS) ?? Number.NaN)));
  return new TranslatedDocument(answer, {
    contentType: 'application/json',
    translate: async (body) => {
      const document = await jsonInBytes(body);
      const vectors = isRecord(document) ? maker.vectorsOf(document) : [];
      const data = vectors.length === textsOf(request.input).length ? await inTurns(openAiVectors(vectors, request)) : undefined;
      if (!isRecord(document) || !data) return body;
      return writtenJson({ object: 'list', data, model, usage: usageOf(document['inputTextTokenCount']) });
    },
    usageIn: () => usageOf(undefined),
  });
}

const usageBy = (tokens: number | undefined): Json | undefined =>
  tokens === undefined ? undefined : { prompt_tokens: tokens, total_tokens: tokens };
