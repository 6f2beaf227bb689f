import type { Step } from '../step.ts';
import type { AnthropicSaying } from './saying.ts';

const errorBody = (type: string, message: string) => ({ type: 'error', error: { type, message }, request_id: 'req_fake' });

/** Anthropic's error answer. */
export const refused = (status: number, type: string, message: string): Step => ({ status, body: errorBody(type, message) });

export const invalid = (message: string): Step => refused(400, 'invalid_request_error', message);

export const rateLimited = (seconds: number): Step => ({
  ...refused(429, 'rate_limit_error', 'This request would exceed your organization’s rate limit.'),
  headers: { 'retry-after': String(seconds), 'anthropic-ratelimit-requests-remaining': '0' },
});

export const overloaded = (): Step => refused(529, 'overloaded_error', 'Overloaded');

export const saying = (anthropic: AnthropicSaying): Step => ({ anthropic });

/** Of the prompt, so much was read from the cache and written to it; `promptTokens` come on top, as Anthropic counts. */
export const cached = ({ read = 0, write5m = 0, write1h = 0 }: { read?: number; write5m?: number; write1h?: number }): Step =>
  saying({
    usage: (exact) => ({
      ...exact,
      cache_read_input_tokens: read,
      cache_creation_input_tokens: write5m + write1h,
      cache_creation: { ephemeral_5m_input_tokens: write5m, ephemeral_1h_input_tokens: write1h },
    }),
  });

export const refusal = (explanation: string): Step =>
  saying({ stopReason: 'refusal', stopDetails: { type: 'refusal', category: 'cyber', explanation } });
