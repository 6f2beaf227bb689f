import type { ModerationRequest } from '@tallygate/contract';
import { jsonForm } from './json-answer.ts';
import type { Received } from './operation.ts';
import { NO_USAGE } from './usage.ts';
import type { Work } from './work.ts';

const BYTES_PER_TOKEN = 4;

/** Judgements are free, and still pass through admission: limits, runs and receipts hold for them too. */
export const moderationWork = (request: ModerationRequest, { bytes, sha256 }: Received): Work => ({
  endpoint: '/v1/moderations',
  model: request.model,
  fallbackModels: [],
  isStream: false,
  needs: [],
  output: null,
  cheaper: 'shorten `input`',
  estimatedTokens: Math.ceil(bytes.length / BYTES_PER_TOKEN),
  dialects: [{ endpoint: '/v1/moderations', request, form: FORM }],
  bound: () => ({ inputTokens: 0 }),
  estimate: async () => NO_USAGE,
  requestSha256: sha256,
});

const FORM = jsonForm({
  isAnswer: ({ results }) => Array.isArray(results),
  // No provider counts what it does not charge for.
  readUsage: () => NO_USAGE,
  usageForClient: () => undefined,
});
