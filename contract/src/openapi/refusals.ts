import { ERROR_CODES, ERRORS, type ErrorCode } from '../errors.ts';
import { type AnthropicError, anthropicErrorType } from '../inference/anthropic-error.ts';
import { type GoogleError, googleStatusOf } from '../inference/google-error.ts';
import { isOpenAiPath, openAiCodeAt, statusAtPath } from '../openai-errors.ts';
import type { HTTPValidationError, Problem } from '../problem.ts';
import { type Surface, statusOn } from '../surfaces.ts';
import { answersWith } from './answered-by.ts';
import type { Route } from './route.ts';

/** The codes that a route can answer with, by their status. */
export function refusalsOf(route: Route): ReadonlyMap<number, readonly ErrorCode[]> {
  const { surface } = route.metadata;
  const answered = ERROR_CODES.filter((code) => answersWith(code, route));
  return Map.groupBy(answered, (code) => (surface ? statusOn(surface, code) : statusAtPath(route.path, code)));
}

/** In whose form refusals are: the problem document has other statuses and codes on OpenAI's operations. */
export type RefusalForm = Surface | 'openai' | 'own';

export const formOf = ({ path, metadata: { surface } }: Route): RefusalForm => surface ?? (isOpenAiPath(path) ? 'openai' : 'own');

const DOCS = 'http://127.0.0.1:8787/docs/errors';

/**
 * The body of a refusal as it might be: what the documentation shows for a code.
 *
 * @param path of an operation that answers it
 */
export function problemExample(code: ErrorCode, path = '/'): Problem | HTTPValidationError {
  const { title, type, help } = ERRORS[code];
  const status = statusAtPath(path, code);
  const detail = firstSentence(help);
  const param = PARAM[code] ?? null;
  return {
    type: `${DOCS}/${code}`,
    title,
    status,
    detail,
    instance: 'req_019aa2f1c2d37b6e8c4d1f00aa55ee77',
    code,
    error: { message: detail, type, code: openAiCodeAt(path, code), param },
    ...(ERRORS[code].status === 422 && { errors: [{ loc: ['body', ...(param?.split('.') ?? [])], msg: detail, type: code }] }),
    ...((code === 'budget_exceeded' || code === 'budget_in_flight') && { budget: BUDGET[code] }),
  };
}

/** The same on a surface. */
function anthropicExample(code: ErrorCode): AnthropicError {
  const { detail, instance, error, type, ...problem } = problemExample(code);
  const [errors, budget] = ['errors' in problem ? problem.errors : undefined, 'budget' in problem ? problem.budget : undefined];
  return {
    type: 'error',
    error: { type: anthropicErrorType(code), message: detail },
    request_id: instance,
    code,
    doc_url: type,
    param: error.param,
    ...(errors && { errors }),
    ...(budget && { budget }),
  };
}

function googleExample(code: ErrorCode): GoogleError {
  const { detail, instance, error, type, ...problem } = problemExample(code);
  const [errors, budget] = ['errors' in problem ? problem.errors : undefined, 'budget' in problem ? problem.budget : undefined];
  return {
    error: { code: statusOn('google', code), message: detail, status: googleStatusOf(code) },
    request_id: instance,
    code,
    doc_url: type,
    param: error.param,
    ...(errors && { errors }),
    ...(budget && { budget }),
  };
}

/** What the document shows of a refusal in each form. */
export const EXAMPLES_IN: Readonly<Record<RefusalForm, (code: ErrorCode) => unknown>> = {
  own: (code) => problemExample(code),
  openai: (code) => problemExample(code, '/v1/chat/completions'),
  anthropic: anthropicExample,
  google: googleExample,
};

const PARAM: Partial<Record<ErrorCode, string>> = {
  model_not_found: 'model',
  unpriced_feature: 'web_search_options',
  validation_failed: 'name',
};

const BUDGET = {
  budget_exceeded: budget({ spent_usd: '0.0084', held_usd: '0', required_usd: '0.0021' }),
  budget_in_flight: budget({ spent_usd: '0.0072', held_usd: '0.0009', required_usd: '0.0021' }),
};

function budget(amounts: { spent_usd: string; held_usd: string; required_usd: string }): NonNullable<Problem['budget']> {
  return { limit_source: 'key', cap_usd: '0.01', ...amounts, resets_at: '2026-12-01T00:00:00.000Z' };
}

/** `[^.]` would stop inside “0.01” and “/v1/models.list”; a sentence ends where a full stop is followed by white space or nothing. */
function firstSentence(text: string): string {
  return /^.*?[.](?=\s|$)/s.exec(text)?.[0] ?? text;
}
