import { Untranslatable } from '../fault.ts';
import type { ChatCall } from '../port.ts';
import type { GenerationConfig } from './gemini-api.ts';
import { thinkingOf } from './thinking.ts';

/** Google's own limits. */
const MOST_CANDIDATES = 8;
const MOST_STOP_SEQUENCES = 5;

/** Everything about how to answer. The bound that is held replaces what the caller wrote. */
export function generationConfigOf({ request, model, maxOutputTokens }: ChatCall): GenerationConfig {
  const { temperature, top_p, top_k, seed, presence_penalty, frequency_penalty, n, logprobs, top_logprobs } = request;
  if (n && n > MOST_CANDIDATES) throw new Untranslatable('n', `This model's provider gives at most ${MOST_CANDIDATES} choices.`);
  const stopSequences = stopSequencesOf(request.stop);
  const thinkingConfig = thinkingOf(request, model);
  return {
    maxOutputTokens,
    ...(n && n > 1 && { candidateCount: n }),
    ...(typeof temperature === 'number' && { temperature }),
    ...(typeof top_p === 'number' && { topP: top_p }),
    ...(typeof top_k === 'number' && { topK: top_k }),
    // Google's is 32 bits long; any other number that is the same for the same seed does as well.
    ...(typeof seed === 'number' && { seed: seed | 0 }),
    ...(typeof presence_penalty === 'number' && { presencePenalty: presence_penalty }),
    ...(typeof frequency_penalty === 'number' && { frequencyPenalty: frequency_penalty }),
    ...(stopSequences.length > 0 && { stopSequences }),
    ...(logprobs && { responseLogprobs: true, ...(top_logprobs && { logprobs: top_logprobs }) }),
    ...formatOf(request.response_format),
    ...(thinkingConfig && { thinkingConfig }),
  };
}

function stopSequencesOf(stop: ChatCall['request']['stop']): string[] {
  const sequences = (typeof stop === 'string' ? [stop] : (stop ?? [])).filter((sequence) => sequence !== '');
  if (sequences.length > MOST_STOP_SEQUENCES)
    throw new Untranslatable('stop', `This model's provider takes at most ${MOST_STOP_SEQUENCES} stop sequences.`);
  return sequences;
}

function formatOf(format: ChatCall['request']['response_format']): Pick<GenerationConfig, 'responseMimeType' | 'responseJsonSchema'> {
  if (!format || format.type === 'text') return {};
  const schema = format.type === 'json_schema' ? format.json_schema?.schema : undefined;
  return { responseMimeType: 'application/json', ...(schema && { responseJsonSchema: schema }) };
}
