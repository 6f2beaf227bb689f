import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import type { ErrorCode } from './errors.ts';
import { inPlainWords } from './plain-words.ts';
import { HTTPValidationError, Problem } from './problem.ts';
import type { ManagementScope, Scope } from './scopes.ts';
import type { Surface } from './surfaces.ts';

// The same error messages wherever the contract is parsed.
z.config({ localeError: inPlainWords });

const c = initContract();

export const Timestamp = z.iso.datetime().meta({ description: 'RFC 3339, UTC.', examples: ['2026-11-21T08:00:00.000Z'] });
/** RFC 3339 has a year 0000, which the calendar of the database lacks. */
export const TimeBound = Timestamp.refine((time) => !time.startsWith('0000'), 'must be in the year 0001 or later');
export const Uuid = z.uuid().meta({ description: 'UUIDv7.', examples: ['019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77'] });
/** Models, runs and requests are named in printable ASCII; what else is asked for cannot be there. */
export const PrintableName = z.string().regex(/^[!-~]+$/, 'must be printable characters without spaces');
export const Usd = z
  .string()
  .regex(/^-?\d+(\.\d{1,9})?$/)
  .meta({ description: 'Decimal string, USD.', examples: ['12.5'] });
/** Names an object for the program that made it: Terraform and CI find by it what they made before. */
export const ExternalId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,127}$/, 'must be 1 to 128 letters, digits and . _ : / @ -')
  .meta({
    description: 'Your own id of it, once in an account. To create it again with the same content answers with what is there.',
    examples: ['team-search'],
  });
/** The same in an answer. */
export const ExternalIdOrNull = z
  .string()
  .nullable()
  .meta({ description: 'Your own id of it.', examples: ['team-search'] });
/** An amount that a caller may set: plain decimal, at most nine digits on either side of the point. */
export const UsdInput = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,9})?$/, 'must be a decimal number of USD such as "25" or "0.01"')
  .meta({ description: 'Decimal string, USD, not negative, at most nine decimal places.', examples: ['25'] });

export const AlertThreshold = z
  .int()
  .min(1)
  .max(100)
  .meta({ examples: [80] });
/** Shares of a cap, percent, as they are stored and answered. */
export const AlertThresholds = z.array(AlertThreshold);

/** The same as callers give them. */
export const AlertThresholdsInput = AlertThresholds.max(10).refine(
  (values) => values.every((value, index) => index === 0 || value > (values[index - 1] ?? 0)),
  { error: 'must have each threshold once, in ascending order' },
);

/** Whether a text that people give has neither control characters nor half of a surrogate pair, which databases and terminals trip over. */
export const isPlainText = (text: string): boolean => text.isWellFormed() && !/\p{Cc}/u.test(text);

/** Of prose: forms of browsers and editors on Windows end lines in CR LF. */
const withLineFeeds = (text: string): string => text.replaceAll('\r\n', '\n');

/** Whether a name is what it looks like: characters that cannot be seen, or that turn the direction of the text, make two names look like one. */
export const isVisibleText = (text: string): boolean => !/\p{Cf}/u.test(text);

/** The error for text that is not plain. */
export const NOT_PLAIN = 'must not contain control characters';

/** Several lines: line feeds and tabs are the only control characters. */
export const prose = (max: number) =>
  z
    .string()
    .overwrite(withLineFeeds)
    .trim()
    .max(max)
    .refine((value) => isPlainText(value.replaceAll(/[\n\t]/g, ' ')), 'must not contain control characters other than line feeds and tabs');

/** What is answered at an address with an ending such as `.ics`. */
export interface OtherForm {
  readonly contentType: string;
  readonly ending: string;
  readonly body: z.ZodType;
}

/** What an operation is to the clients of another maker. */
export interface FormOnSurface {
  readonly answer: z.ZodType;
  /** Absent where it takes none. */
  readonly query?: z.ZodObject;
}

/**
 * The properties of an operation beside its schemas, declared only here: the server, the OpenAPI document, the SDK, the tools of MCP and the
 * reference follow from it.
 */
export interface RouteMetadata {
  /** `bearer`: an API key or a session. `internal`: the shared secret of the web front end. */
  readonly auth: 'bearer' | 'internal' | 'none';
  /** The scope an API key must carry; sessions have every scope their role allows. */
  readonly scope?: Scope;
  /** API keys are refused, with any scopes. */
  readonly session?: true;
  /** The scope by which management keys are let in all the same, where API keys are refused. */
  readonly manage?: ManagementScope;
  readonly role?: 'admin' | 'marketing';
  /** Members with a lesser role in the account are refused; what a scope opens is decided by the scope. */
  readonly accountRole?: 'owner' | 'admin' | 'developer';
  /** Members are let in whatever their role in the account, also where the scope is only for some. */
  readonly everyAccountRole?: true;
  /** Keeps what callers send to models or get from them: refused where storing is switched off. */
  readonly stores?: true;
  /**
   * `inference`: takes a body as large as those of inference. `form-or-json`: files in a form or named in JSON, as OpenAI has it; the schema shows
   * one of the two. `csv`: takes `text/csv` instead of JSON, streamed. `mail`: takes `message/rfc822`. `webhook`: read as the bytes that are signed.
   */
  readonly body?: 'inference' | 'form-or-json' | 'csv' | 'mail' | 'webhook';
  /** What it answers with as server-sent events when it is asked to stream: the schema of one event’s data. */
  readonly events?: z.ZodType;
  /** Where the codes that it answers with are others than those of operations like it (`openapi/answered-by.ts`). */
  readonly errors?: { readonly also?: readonly ErrorCode[]; readonly never?: readonly ErrorCode[] };
  /** It is a tool of MCP, which reads, writes, spends money on a model, or ends or takes away what cannot be had back. */
  readonly tool?: 'read' | 'write' | 'spend' | 'destroy';
  /** Media types of an answer beside the one of its schema. */
  readonly alsoAs?: readonly string[];
  /** Forms beside JSON: with such a media type in `Accept` it answers as the address with the ending behind it does. */
  readonly alsoAt?: readonly OtherForm[];
  /**
   * The method of the SDK that is this operation: `keys.get`. Behind it, in brackets, fields of the input that are arguments by themselves:
   * `users.setRole(role)`. Left out where the SDK does more than to pass the input on: then the method is written there.
   */
  readonly sdk?: string;
  /** The maker whose API it belongs to, where that is not our own: its refusals are in that maker's form, and the maker's own SDK asks for it. */
  readonly surface?: Surface;
  /** It takes the headers of an agent run for calls that are made later, and runs no model itself. */
  readonly isForLater?: true;
  /** Its last step is a custom method, as Google has them: on the wire it is behind a colon (`models/{model}:generateContent`). */
  readonly customMethod?: true;
  /** The makers whose clients it answers in their own form as well: those that send the maker's header (`SURFACE_HEADERS`). */
  readonly alsoOn?: Partial<Readonly<Record<Surface, FormOnSurface>>>;
  readonly tag: string;
  readonly operationId: string;
}

const secretHeader = (description: string) => z.string().optional().meta({ description });
const internalSecret = { 'x-internal-secret': secretHeader('Shared secret of calls from the web front end to the backend.') };
const sessionToken = { 'x-web-session-token': secretHeader('Session token, as an alternative to the bearer token.') };

/** x-api-key, x-internal-secret, x-web-session-token. */
export const headersA = {
  'x-api-key': secretHeader('API key, as an alternative to the bearer token.'),
  ...internalSecret,
  ...sessionToken,
};
/** x-internal-secret, x-web-session-token. */
export const headersB = { ...internalSecret, ...sessionToken };
/** x-internal-secret. */
export const headersS = internalSecret;

export const idempotencyHeader = {
  'idempotency-key': z.string().min(1).max(255).optional().meta({
    description: 'A repeat of the request gets the first answer instead of doing the work twice. Stored for 24 hours.',
  }),
};

export const problem = c.otherResponse({ contentType: 'application/problem+json', body: Problem });
const invalid = c.otherResponse({ contentType: 'application/problem+json', body: HTTPValidationError });

/**
 * What routes of a class may be refused with at most; a route adds its own 402, 404 or 409. The OpenAPI document names for each operation what
 * it can answer of them: see `openapi/answered-by.ts`.
 */
export const refusals = {
  /** Public, with nothing to refuse: documents and health checks. */
  open: { 429: problem, 431: problem, 500: problem, 503: problem },
  /** Public, no input but a query, which may name a parameter that is not known. */
  openRead: { 422: invalid, 429: problem, 431: problem, 500: problem, 503: problem },
  /** Public, with input. */
  openInput: {
    400: problem,
    408: problem,
    413: problem,
    415: problem,
    422: invalid,
    429: problem,
    431: problem,
    500: problem,
    503: problem,
  },
  /** Authenticated, input in path, query or headers at most: which OpenAI's operations refuse with 400, and all others with 422. */
  read: { 400: problem, 401: problem, 403: problem, 422: invalid, 429: problem, 431: problem, 500: problem, 503: problem },
  /** Authenticated, with a body. */
  write: {
    400: problem,
    401: problem,
    403: problem,
    408: problem,
    413: problem,
    415: problem,
    422: invalid,
    429: problem,
    431: problem,
    500: problem,
    503: problem,
  },
} as const;

/** A file, in a form or as an answer. */
export const binary = (description: string) => z.string().meta({ format: 'binary', description, examples: ['(bytes)'] });

/** A checkbox of a form, unticked by default: consent by default is not valid (GDPR, recital 32). */
export const MarketingConsentTick = z
  .boolean()
  .optional()
  .meta({
    default: false,
    description:
      'Whether they want news by mail. A mail asks the person who reads mail at the address, and only their answer counts: anybody can type anybody’s address.',
    examples: [false],
  });

/** The one shape of every list but those in `PRESCRIBED_LISTS`. A schema adds its name: `page(AuditLogEntry).meta({ id: 'AuditLogResponse' })`. */
export const page = <T extends z.ZodType>(item: T) =>
  z.object({
    data: z.array(item),
    has_more: z.boolean().meta({ examples: [false] }),
    next_cursor: z
      .string()
      .nullable()
      .meta({ description: 'The `cursor` of the next page.', examples: [null] }),
  });

const DIGITS = /^(?:0|-?[1-9]\d*)$/;

/**
 * A whole number in a query or a form, where every value is text: digits alone. `Number` would read `1e3`, `0x10`, `+5`, `5.0`, ` 5` and the
 * empty text as numbers too.
 */
export const wholeNumber = (least: number, most: number = Number.MAX_SAFE_INTEGER) =>
  z.preprocess(
    (value) => (typeof value === 'string' && DIGITS.test(value) ? Number(value) : value),
    z
      .int({ error: ({ code, input }) => (code === 'invalid_type' && input !== undefined ? 'must be a whole number' : undefined) })
      .min(least)
      .max(most),
  );

/** The query of these lists. */
export const pageQuery = {
  limit: wholeNumber(1, 200).default(50).meta({ description: 'How many at most.' }),
  cursor: z.string().max(1_000).optional().meta({ description: 'The `next_cursor` of the page before.' }),
};

/** Of queries: as it is documented, and not the other words that zod takes (`1`, `on`, `Y`). */
export const trueOrFalse = () => z.stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive' });

/** Of files and batches, which an API key has of its own mode alone. */
export const LivemodeOfSession = trueOrFalse()
  .optional()
  .meta({
    description: 'Of a session. Default: live.',
    enum: ['true', 'false'],
  });

/** Of queries of what belongs to live or to test keys. */
export const Livemode = trueOrFalse()
  .optional()
  .meta({ description: 'Live or test mode. Default: the mode of the API key that asks; live for sessions.', enum: ['true', 'false'] });
