import type { ChatCompletionRequest } from '@tallygate/contract';
import { countIn } from '../json-value.ts';
import type { ModelTraits } from './model-traits.ts';

export interface Sampling {
  readonly temperature?: number;
  readonly top_p?: number;
  readonly top_k?: number;
}

/**
 * What the model takes of the caller's sampling. Temperatures end at 1 here. Where only one of two may be set, it is the temperature, unless
 * that says what is so anyway. A model that thinks, and every model since Opus 4.7, takes none: it does as well without.
 */
export function samplingOf(request: ChatCompletionRequest, { samplingFields }: ModelTraits, thinks: boolean): Sampling {
  if (thinks || samplingFields === 0) return {};
  const temperature = typeof request.temperature === 'number' ? { temperature: Math.min(request.temperature, 1) } : {};
  const topP = typeof request.top_p === 'number' ? { top_p: request.top_p } : {};
  const topK = countIn(request['top_k']);
  const prefersTopP = 'top_p' in topP && (temperature.temperature ?? 1) === 1;
  const both = samplingFields === 2 ? { ...temperature, ...topP } : prefersTopP ? topP : temperature;
  return topK === undefined ? both : { ...both, top_k: topK };
}
