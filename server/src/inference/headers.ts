import type { IncomingHttpHeaders } from 'node:http';
import { inferenceHeaders } from '@tallygate/contract';
import * as z from 'zod';
import { invalidInput } from '../kernel/invalid-input.ts';
import { type NanoUsd, parseUsd } from '../kernel/money.ts';

export interface InferenceHeaders {
  readonly runId: string | null;
  /** Ceiling of the run, nano-USD; null when the request names none. */
  readonly runCap: NanoUsd | null;
  readonly budgetPolicy: 'strict' | 'clamp';
  readonly fallbackPolicy: 'none' | 'deployment' | 'semantic';
  readonly sandboxFault: string | undefined;
}

const Headers = z.object(inferenceHeaders);
const NAMES = Object.keys(inferenceHeaders);
const PLAIN: InferenceHeaders = {
  runId: null,
  runCap: null,
  budgetPolicy: 'strict',
  fallbackPolicy: 'deployment',
  sandboxFault: undefined,
};

/** @throws Problem `validation_failed` naming the header */
export function parseInferenceHeaders(headers: IncomingHttpHeaders): InferenceHeaders {
  const sandboxFault = single(headers['x-sandbox-fault']);
  if (!NAMES.some((name) => headers[name] !== undefined)) return sandboxFault === undefined ? PLAIN : { ...PLAIN, sandboxFault };
  const parsed = Headers.safeParse(headers);
  if (!parsed.success)
    throw invalidInput(
      parsed.error.issues.map(({ path, message, code }) => ({ loc: ['header', ...path.map(String)], msg: message, type: code })),
    );
  const given = parsed.data;
  const runId = given['x-agent-run-id'] ?? null;
  const budget = given['x-agent-max-budget'];
  if (budget !== undefined && runId === null) {
    throw invalidInput([
      { loc: ['header', 'x-agent-run-id'], msg: 'is required with X-Agent-Max-Budget: the ceiling belongs to a run', type: 'missing' },
    ]);
  }
  return {
    runId,
    runCap: budget === undefined ? null : (parseUsd(budget) ?? null),
    budgetPolicy: given['x-budget-policy'] ?? 'strict',
    fallbackPolicy: given['x-fallback-policy'] ?? (runId === null ? 'deployment' : 'semantic'),
    sandboxFault,
  };
}

const single = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value);
