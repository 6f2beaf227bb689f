import { IDENTITY } from './identity.ts';
import { INFERENCE } from './inference.ts';
import { KEYS } from './keys.ts';
import { MONEY } from './money.ts';
import type { Samples } from './sample.ts';

/** By operation id. */
export const SAMPLES: Samples = { ...IDENTITY, ...INFERENCE, ...KEYS, ...MONEY };
