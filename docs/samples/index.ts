import { KEYS } from './keys.ts';
import type { Samples } from './sample.ts';

/** By operation id. */
export const SAMPLES: Samples = { ...KEYS };
