import { type AnthropicError, anthropicTypeAt, statusAt, statusOn } from '@tallygate/contract';
import * as z from 'zod';
import type { SurfaceForm } from './surface.ts';

/** Of its client for betas: it means nothing here. */
const QUERY = z.object({ beta: z.string().optional() });

/** Anthropic's errors (https://platform.claude.com/docs/en/api/errors), with our own code beside them. */
export const anthropicSurface: SurfaceForm = {
  requestIdHeader: 'request-id',
  query: () => QUERY,
  refusal({ code, extras: { upstream } }, { headers, body }) {
    // What a provider has said keeps its status.
    const status = upstream ? statusAt('anthropic', upstream.status) : statusOn('anthropic', code);
    const { detail, instance, type, error, errors, budget } = body;
    const told: AnthropicError = {
      type: 'error',
      error: { type: anthropicTypeAt(status), message: detail },
      request_id: instance,
      ...{ code, doc_url: type, param: error.param },
      ...(errors && { errors }),
      ...(budget && { budget }),
    };
    return { status, headers: { ...headers, 'content-type': 'application/json' }, body: told };
  },
};
