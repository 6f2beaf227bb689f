import * as z from 'zod';
import { problem, refusals } from '../conventions.ts';

const SECONDS = /^[1-9]\d{0,8}$/;
/** As `Cache-Control` of a request has them (RFC 9111, 5.2.1). */
const CACHE = /^ *(?:max-age=\d{1,7}|no-cache|no-store) *(?:, *(?:max-age=\d{1,7}|no-cache|no-store) *){0,2}$/;
const MOST_CACHED_S = 30 * 24 * 3600;
const Time = z.iso.datetime({ offset: true });

/** One of the caller's users, as the caller names them. */
const EndUser = z.string().regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 characters of ASCII without spaces');

const TAG = '[A-Za-z0-9._-]{1,40}=[A-Za-z0-9._:/@+-]{1,80}';
const TAGS = new RegExp(`^ *${TAG} *(?:, *${TAG} *){0,4}$`);

/** The headers that every inference endpoint takes. */
export const inferenceHeaders = {
  'content-digest': z.string().optional().meta({ description: 'Digest of the body (RFC 9530), `sha-256`. Part of a signed request.' }),
  'signature-input': z.string().optional().meta({
    description:
      'What the caller signed (RFC 9421): at least the method, the path and `content-digest`, with `created`. Verified where the API key has a `signing_public_key`.',
  }),
  signature: z.string().optional().meta({ description: 'The Ed25519 signature that belongs to `Signature-Input`.' }),
  'x-agent-run-id': z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/, 'must be 1 to 128 letters, digits and . _ : -')
    .optional()
    .meta({ description: 'Groups the steps of one agent run.' }),
  'x-agent-max-budget': z
    .string()
    .regex(/^\d{1,9}(\.\d{1,9})?$/, 'must be a decimal number of USD such as "0.50"')
    .optional()
    .meta({
      description: 'Hard ceiling of the run, USD, decimal string. Set by the run’s first request; later requests can only tighten it.',
      examples: ['0.50'],
    }),
  'x-agent-parent-run-id': z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/, 'must be 1 to 128 letters, digits and . _ : -')
    .optional()
    .meta({
      description:
        'The parent run: this one draws on its remainder too, in money and calls, and ends with it. Named by the run’s first request, and fixed from then on. At most eight runs lie above one.',
    }),
  'x-agent-max-calls': z
    .string()
    .regex(/^[1-9]\d{0,8}$/, 'must be a whole number of calls from 1 to 999999999')
    .optional()
    .meta({
      description: 'The most calls that the run and its child runs may make. Later requests can only lower it.',
      examples: ['100'],
    }),
  'x-agent-deadline': z
    .string()
    .refine(
      (text) => SECONDS.test(text) || Time.safeParse(text).success,
      'must be a time such as 2026-11-21T18:00:00Z, or a whole number of seconds from now',
    )
    .optional()
    .meta({
      description:
        'When the run ends: an RFC 3339 time, or whole seconds from this request. Then it makes no calls, and running ones are stopped. Later requests can only bring it forward.',
      examples: ['2026-11-21T18:00:00Z'],
    }),
  'x-end-user': EndUser.optional().meta({
    description:
      'Who of your users the request is for, for limits and reports. It counts before `safety_identifier` and `user` of the body, and is not sent to the provider.',
    examples: ['user-4711'],
  }),
  'x-tags': z
    .string()
    .regex(TAGS, 'must be at most 5 pairs such as feature=search, separated by commas')
    .optional()
    .meta({ description: 'What the request is for: at most 5 pairs, for limits and reports.', examples: ['feature=search,team=web'] }),
  'x-vaas-anchor': z.enum(['true', 'false']).optional().meta({
    description:
      '`true` asks for the log to be anchored on chain soon, with this receipt in it, and not at the next scheduled time. The answer’s `X-VaaS-Anchor` says `requested`, `scheduled` where time-stamping authorities alone stamp the log, or `unavailable` where the service anchors nowhere; the receipt is signed and logged all the same.',
  }),
  'x-cache': z
    .string()
    .regex(CACHE, 'must be max-age=SECONDS, with no-cache or no-store behind a comma where it is wanted')
    .refine((text) => Number(/max-age=(\d+)/.exec(text)?.[1] ?? 0) <= MOST_CACHED_S, 'must be at most 30 days, max-age=2592000')
    .optional()
    .meta({
      description:
        '`max-age=SECONDS`: an answer of this API key to the same request that is no older is given again at no cost, and this answer is kept for as long. With `no-cache` a model is asked in any case, and its answer is kept; with `no-store` the answer is not kept. Left out, nothing is kept.',
      examples: ['max-age=3600'],
    }),
  'x-budget-policy': z.enum(['strict', 'clamp']).optional().meta({
    description: '`clamp`: where the worst case does not fit, lower the token bound to what fits and say so in `X-Budget-Max-Tokens`.',
  }),
  'x-on-disconnect': z.enum(['cancel', 'finish']).optional().meta({
    description:
      'What becomes of the request when this connection closes early. `finish`: the answer is read to its end and charged by its usage. `cancel`: the provider’s call is cancelled, where the provider is known to stop billing then; elsewhere it is finished all the same. Default: streams are cancelled at such providers, everything else is finished.',
  }),
  'x-fallback-policy': z.enum(['none', 'deployment', 'semantic']).optional().meta({
    description:
      '`none`: no retries. `deployment`: other deployments of the same model. `semantic`: then other models that can do what the request asks.',
  }),
};

/** Response headers of every inference answer, with what they say. */
export const inferenceResponseHeaders = {
  'X-Request-Id': 'Id of the request.',
  'X-Receipt-Id': 'Id of the receipt; it can be read a moment after the answer ends.',
  'X-Receipt-Promise':
    'That there will be a receipt, signed by the service: a compact JWS (RFC 7515, EdDSA) with the receipt’s id, hashes of the request and of the answer’s head, the model, the most it can cost, and by when it is in the log.',
  'X-Model-Served': 'The model that answered; characters outside ASCII and `%` are percent-encoded.',
  'X-Provider': 'The provider that answered.',
  'X-VaaS-Anchor':
    'Where the request asked for an anchor: `requested`; `scheduled` where there is no chain and time-stamping authorities stamp the log on their schedule; `unavailable` where the service anchors nowhere.',
  'X-Overhead-Ms': 'Time spent in the gateway until the first byte, without the provider’s, milliseconds.',
  'X-Fallback': '`none`, `deployment` or `model`.',
  'X-Cost-USD': 'Cost of a plain answer, USD. A stream carries its cost in the last chunk, and embeddings of many inputs in their `usage`.',
  'X-Cache':
    'Where the request asked for it: `HIT` is an answer that was kept, `MISS` one of a model, `BYPASS` one that is never kept: it stores or begins something, lets the provider run tools, or storing is switched off.',
  Age: 'How old a kept answer is, seconds.',
  'X-Budget-Max-Tokens': 'The token bound that was sent to the provider, where the gateway set or lowered it.',
  'x-ratelimit-limit-requests': 'Requests per minute, of the key or the plan, whichever leaves less.',
  'x-ratelimit-remaining-requests': 'Requests that could be sent now.',
  'x-ratelimit-reset-requests': 'Until all of them are there again: `120ms`, `6m0s`.',
  'x-ratelimit-limit-tokens': 'Tokens per minute, of the key or the plan, whichever leaves less.',
  'x-ratelimit-remaining-tokens': 'Tokens that could be used now.',
  'x-ratelimit-reset-tokens': 'Until all of them are there again: `120ms`, `6m0s`.',
  'X-Agent-Budget-Limit-USD': 'Ceiling of the run, USD.',
  'X-Agent-Budget-Spent-USD': 'Settled in the run so far, USD.',
  'X-Agent-Budget-Remaining-USD': 'What the run may still spend under its own ceiling and those above it, running requests taken off, USD.',
  'X-Agent-Calls-Limit': 'The most calls that the run may make.',
  'X-Agent-Calls-Remaining': 'Calls that the run may still make, under its own bound and those above it.',
  'X-Agent-Deadline': 'When the run, or a run above it, ends: RFC 3339, UTC.',
} as const;

/** How every inference endpoint may refuse. */
export const inferenceRefusals = {
  402: problem,
  404: problem,
  409: problem,
  502: problem,
  504: problem,
  508: problem,
  ...refusals.write,
} as const;
