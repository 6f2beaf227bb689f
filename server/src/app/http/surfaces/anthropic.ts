import { type AnthropicError, anthropicErrorType, anthropicTypeAt, statusAt, statusOn } from '@tallygate/contract';
import type { SurfaceForm } from './surface.ts';

/** Anthropic's errors (https://platform.claude.com/docs/en/api/errors), with our own code beside them. */
export const anthropicForm: SurfaceForm = {
  requestIdHeader: 'request-id',
  // Of its client for betas.
  ignoredQuery: new Set(['beta']),
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
  endOfStream: ({ message, code }) =>
    `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type: anthropicErrorType(code), message } })}\n\n`,
};
