import type { IncomingHttpHeaders } from 'node:http';
import { anthropicHeaders, inferenceHeaders } from '@tallygate/contract';
import * as z from 'zod';
import { invalidInput } from '../../kernel/invalid-input.ts';
import { type NanoUsd, parseUsd } from '../../kernel/money.ts';
import { traceparentOf } from '../../kernel/trace-context.ts';
import { viaOf } from './provider-loop.ts';

export interface InferenceHeaders {
  readonly runId: string | null;
  /** Ceiling of the run, nano-USD; null when the request names none. */
  readonly runCap: NanoUsd | null;
  /** What else the request says of its run, absent where it says nothing: the run above it, the most calls, the deadline. */
  readonly parentRunId?: string | undefined;
  readonly runCalls?: number | undefined;
  readonly runDeadline?: RunDeadline | undefined;
  readonly budgetPolicy: 'strict' | 'clamp';
  readonly fallbackPolicy: 'none' | 'deployment' | 'semantic';
  /** What becomes of the call when its client hangs up; absent where nobody says. */
  readonly onDisconnect?: 'cancel' | 'finish' | undefined;
  readonly sandboxFault: string | undefined;
  /** `anthropic-beta`, for providers that speak Messages; absent where nobody sends it. */
  readonly betas?: string | undefined;
  /** The gateways that the request has come through; absent where a client sends it. */
  readonly via?: string | undefined;
  /** The caller's span by the W3C; absent where the caller names none. */
  readonly traceparent?: string | undefined;
  /** An earlier answer may be given, or this one kept to be given again; absent where nobody asks for that. */
  readonly cache?: CacheWish | undefined;
  /** That the log be anchored on chain soon, with this receipt in it; absent where nobody asks. */
  readonly anchorWished?: true | undefined;
  /** Which of the caller's users it is for, and what for; absent where nobody says. */
  readonly endUser?: string | undefined;
  readonly tags?: readonly string[] | undefined;
}

/** What a request wants of the cache of answers. */
export interface CacheWish {
  /** How old an answer may be that is given again, and how long this one is kept. */
  readonly maxAgeSeconds: number;
  /** Whether a kept answer will do. */
  readonly isRead: boolean;
  /** Whether the answer may be kept. */
  readonly isKept: boolean;
}

/** The directives of a request, as RFC 9111 has them. Without an age, or where it is to be neither read nor kept, the cache is not asked. */
function cacheWishOf(text: string | undefined): CacheWish | undefined {
  const directives = new Set(text?.split(',').map((directive) => directive.trim()));
  const age = [...directives].find((directive) => directive.startsWith('max-age='));
  const maxAgeSeconds = Number(age?.slice('max-age='.length) ?? 0);
  const [isRead, isKept] = [!directives.has('no-cache'), !directives.has('no-store')];
  return maxAgeSeconds > 0 && (isRead || isKept) ? { maxAgeSeconds, isRead, isKept } : undefined;
}

/** Epoch milliseconds, or milliseconds after the request arrived. */
export type RunDeadline = { readonly at: number } | { readonly afterMs: number };

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
  const beside = {
    sandboxFault: single(headers['x-sandbox-fault']),
    via: viaOf(headers),
    betas: betasOf(headers),
    traceparent: traceparentOf(headers),
  };
  if (!NAMES.some((name) => headers[name] !== undefined))
    return Object.values(beside).every((value) => value === undefined) ? PLAIN : { ...PLAIN, ...beside };
  const parsed = Headers.safeParse(headers);
  if (!parsed.success)
    throw invalidInput(
      parsed.error.issues.map(({ path, message, code }) => ({ loc: ['header', ...path.map(String)], msg: message, type: code })),
    );
  const given = parsed.data;
  const runId = given['x-agent-run-id'] ?? null;
  const budget = given['x-agent-max-budget'];
  const calls = given['x-agent-max-calls'];
  const deadline = given['x-agent-deadline'];
  const tags = given['x-tags'];
  const bound = OF_A_RUN.find(([name]) => given[name] !== undefined);
  if (bound && runId === null)
    throw invalidInput([
      { loc: ['header', 'x-agent-run-id'], msg: `is required with ${bound[1]}, which belongs to a run`, type: 'missing' },
    ]);
  return {
    runId,
    runCap: budget === undefined ? null : (parseUsd(budget) ?? null),
    parentRunId: given['x-agent-parent-run-id'],
    runCalls: calls === undefined ? undefined : Number(calls),
    runDeadline: deadline === undefined ? undefined : deadlineOf(deadline),
    budgetPolicy: given['x-budget-policy'] ?? 'strict',
    fallbackPolicy: given['x-fallback-policy'] ?? (runId === null ? 'deployment' : 'semantic'),
    onDisconnect: given['x-on-disconnect'],
    ...beside,
    ...(given['x-vaas-anchor'] === 'true' && { anchorWished: true }),
    endUser: given['x-end-user'],
    cache: cacheWishOf(given['x-cache']),
    ...(tags !== undefined && { tags: tagsOf(tags) }),
  };
}

/**
 * What the answer's `X-VaaS-Anchor` says to a request that asks for an anchor: a chain gets one soon, time-stamping authorities alone stamp the log on
 * their schedule. Without either the receipt is signed and logged all the same.
 */
export type AnchorAnswer = 'requested' | 'scheduled' | 'unavailable';

/** In one order, each once: they name lanes. */
const tagsOf = (text: string): readonly string[] => [...new Set(text.split(',').map((tag) => tag.trim()))].sort();

const OF_A_RUN = [
  ['x-agent-max-budget', 'X-Agent-Max-Budget'],
  ['x-agent-parent-run-id', 'X-Agent-Parent-Run-Id'],
  ['x-agent-max-calls', 'X-Agent-Max-Calls'],
  ['x-agent-deadline', 'X-Agent-Deadline'],
] as const;

const deadlineOf = (text: string): RunDeadline => (/^\d+$/.test(text) ? { afterMs: Number(text) * 1000 } : { at: Date.parse(text) });

/** @throws Problem `validation_failed` */
function betasOf({ 'anthropic-beta': given }: IncomingHttpHeaders): string | undefined {
  if (given === undefined) return undefined;
  const parsed = anthropicHeaders['anthropic-beta'].safeParse(String(given));
  if (parsed.success) return parsed.data;
  throw invalidInput([{ loc: ['header', 'anthropic-beta'], msg: 'must be names, separated by commas', type: 'invalid' }]);
}

const single = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value);
