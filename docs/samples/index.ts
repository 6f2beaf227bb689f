import type { Samples } from './sample.ts';
import { KEYS } from './keys.ts';

/** By operation id. */
export const SAMPLES: Samples = { ...KEYS };
