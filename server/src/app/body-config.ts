import { getHeapStatistics } from 'node:v8';
import { MOST_KEPT_BYTES } from '../inference/stored-content/index.ts';
import { bytes, milliseconds } from './config-values.ts';

const MIB = 1024 * 1024;
/** Of what this process may have in its heap: a body is there as bytes, as text, and as what is made of it for the provider. */
const PART_OF_HEAP = 4;

export const BODY_VARIABLES = {
  // OpenAI takes 50 MB of pictures.
  INFERENCE_BODY_BYTES: bytes.default(50 * MIB),
  BODY_BYTES: bytes.default(256 * 1024),
  LARGE_BODIES_BYTES: bytes.optional(),
  BODY_TIMEOUT_MS: milliseconds.default(30_000),
};

interface Given {
  readonly INFERENCE_BODY_BYTES: number;
  readonly BODY_BYTES: number;
  readonly LARGE_BODIES_BYTES?: number | undefined;
  readonly BODY_TIMEOUT_MS: number;
}

export interface BodyConfig {
  readonly inferenceBody: { readonly maxBytes: number; readonly timeoutMs: number };
  /** Of requests that run no model themselves: what is stored, counted, or a tool's. */
  readonly keptBody: { readonly maxBytes: number; readonly timeoutMs: number };
  readonly accountBody: { readonly maxBytes: number; readonly timeoutMs: number };
  /** Of all large bodies that are in memory at a time. */
  readonly largeBodiesBytes: number;
}

export function bodiesOf(given: Given): BodyConfig {
  const timeoutMs = given.BODY_TIMEOUT_MS;
  const most = given.INFERENCE_BODY_BYTES;
  return {
    inferenceBody: { maxBytes: most, timeoutMs },
    keptBody: { maxBytes: Math.min(most, MOST_KEPT_BYTES), timeoutMs },
    accountBody: { maxBytes: given.BODY_BYTES, timeoutMs },
    largeBodiesBytes: Math.max(most, given.LARGE_BODIES_BYTES ?? Math.floor(getHeapStatistics().heap_size_limit / PART_OF_HEAP)),
  };
}
