import type { HoldRequest } from '../../adapters/lanes/port.ts';
import type { WorkBound } from './work.ts';

/** What a call can take of a plan's quota at most, whichever of the offers serves it; as `quotaUnits` counts it afterwards. */
export function unitsBound(bounds: readonly WorkBound[]): Pick<HoldRequest, 'units' | 'unitsPerOutputToken'> {
  const most = (units: (bound: WorkBound) => number): number => Math.max(...bounds.map(units));
  const images = most((bound) => bound.images ?? 0);
  const audioSeconds = most((bound) => bound.audioSeconds ?? 0);
  const videoSeconds = most((bound) => bound.videoSeconds ?? 0);
  const unitsPerOutputToken = most(timesRead);
  return {
    units: {
      requests: 1n,
      ...(images > 0 ? { images: BigInt(images) } : { tokens: BigInt(most(tokensBound)) }),
      ...(audioSeconds > 0 && { audio_seconds: BigInt(audioSeconds) }),
      ...(videoSeconds > 0 && { video_seconds: BigInt(videoSeconds) }),
    },
    ...(unitsPerOutputToken > 1 && { unitsPerOutputToken }),
  };
}

/** Once as it comes out, and again with every further pass of the model over its input. */
const timesRead = ({ rereads = 0 }: WorkBound): number => 1 + rereads;

/** Apart from the tokens out that the bound on them covers. */
function tokensBound(bound: WorkBound): number {
  const { inputTokens, fixedOutputTokens = 0, imageOutputTokens = 0, inputCharacters = 0 } = bound;
  return inputTokens + fixedOutputTokens * timesRead(bound) + imageOutputTokens + inputCharacters;
}
