import type { VideoRequest } from '@tallygate/contract';
import { invalidInput } from '../../kernel/invalid-input.ts';
import type { CatalogModel } from '../../money/catalog/index.ts';

/** How long and how large a video is to be: what it is priced by. */
export interface VideoMeasures {
  readonly seconds: number;
  readonly size: string;
}

type VideoModel = Pick<CatalogModel, 'id' | 'videoSeconds' | 'videoExtensionSeconds' | 'videoSizes'>;

const USUAL_SECONDS = '4';
const USUAL_SIZE = '720x1280';

/**
 * What the request asks for, as far as the model makes it; what it leaves open is said to the provider all the same, so that nobody else
 * decides what it costs.
 * @throws Problem `validation_failed`
 */
export function measuresOf({ seconds, size }: Pick<VideoRequest, 'seconds' | 'size'>, model: VideoModel): VideoMeasures {
  const chosen = {
    seconds: choice('seconds', seconds ?? undefined, USUAL_SECONDS, model.videoSeconds, model.id),
    size: choice('size', size ?? undefined, USUAL_SIZE, model.videoSizes, model.id),
  };
  return { seconds: Number(chosen.seconds), size: chosen.size };
}

/** By how much a video is to be longer, as far as the model does that. @throws Problem `validation_failed` */
export const extensionOf = (seconds: string, model: VideoModel): number =>
  Number(choice('seconds', seconds, seconds, model.videoExtensionSeconds, model.id));

function choice(param: string, asked: string | undefined, usual: string, allowed: readonly string[], model: string): string {
  if (allowed.length === 0) return asked ?? usual;
  const wanted = asked ?? (allowed.includes(usual) ? usual : (allowed[0] ?? usual));
  if (allowed.includes(wanted)) return wanted;
  throw invalidInput([
    { loc: ['body', param], msg: `must be ${allowed.map((one) => `"${one}"`).join(' or ')} for ${model}`, type: 'invalid_value' },
  ]);
}
