import { type Fields, isFields } from '../fields.ts';
import type { Step } from '../step.ts';

const DIMENSIONS = 4;
const TOKENS_A_TEXT = 10;

const instancesIn = ({ instances }: Fields): Fields[] => (Array.isArray(instances) ? instances.filter(isFields) : []);

export function whatIsWrongWithEmbedding(body: Fields, method: string, model: string): string | undefined {
  const isOfGemini = model.includes('gemini') && model !== 'gemini-embedding-001';
  if (isOfGemini !== (method === 'embedContent')) return `${method} is not supported by this model.`;
  if (method === 'embedContent') return isFields(body['content']) ? undefined : 'content is not specified';
  const instances = instancesIn(body);
  if (instances.length === 0 || !instances.every(({ content }) => typeof content === 'string')) return 'instances is not specified';
  return model.includes('gemini') && instances.length > 1 ? 'Only one instance is supported.' : undefined;
}

export const embeddingTokens = (body: Fields, { usageTimes = 1 }: Step): number =>
  Math.max(1, instancesIn(body).length) * TOKENS_A_TEXT * usageTimes;

/** What `predict` and `embedContent` answer, with the tokens of each text, unless a step leaves usage out. */
export function vectors(body: Fields, step: Step): Fields {
  const { parameters, embedContentConfig: config } = body;
  const wanted = isFields(parameters) ? parameters['outputDimensionality'] : isFields(config) ? config['outputDimensionality'] : undefined;
  const values = Array.from({ length: Number(wanted ?? DIMENSIONS) }, () => 0.5);
  const tokens = TOKENS_A_TEXT * (step.usageTimes ?? 1);
  const saysUsage = step.usage === undefined;
  if (isFields(body['content'])) return { embedding: { values }, ...(saysUsage && { usageMetadata: { promptTokenCount: tokens } }) };
  const statistics = { truncated: false, token_count: tokens };
  return { predictions: instancesIn(body).map(() => ({ embeddings: { values, ...(saysUsage && { statistics }) } })) };
}
