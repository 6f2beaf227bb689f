import { ERROR_CODES, ERRORS, type ErrorCode } from '@tallygate/contract';
import { writeGenerated } from './write-generated.ts';

/** Codes whose class does not follow from their status alone. */
const FAMILY_OF_CODE: Partial<Record<ErrorCode, string>> = {
  budget_in_flight: 'budget_in_flight',
  upstream_rate_limited: 'upstream',
  upstream_failed: 'upstream',
  upstream_timeout: 'upstream',
  no_provider_configured: 'upstream',
};

const FAMILY_OF_STATUS: Record<number, string> = {
  401: 'authentication',
  402: 'budget_exceeded',
  403: 'permission',
  404: 'not_found',
  409: 'conflict',
  422: 'validation',
  429: 'rate_limit',
};

function familyOf(code: ErrorCode): string {
  const { status } = ERRORS[code];
  return FAMILY_OF_CODE[code] ?? FAMILY_OF_STATUS[status] ?? (status >= 500 ? 'server' : 'bad_request');
}

/** The text of `src/generated/errors.ts`. */
export function errorsModule(): string {
  const union = ERROR_CODES.map((code) => `  /** ${ERRORS[code].status}. ${ERRORS[code].help} */\n  | '${code}'`);
  const rows = ERROR_CODES.map((code) => `  ${code}: { family: '${familyOf(code)}', retryable: ${ERRORS[code].retryable} },`);
  return `// Generated from contract/src/errors.ts by sdk/scripts/generate-errors.ts. Do not edit.

/** Every code the service answers with. */
export type ErrorCode =
${union.join('\n')};

/** The class of error that a code is thrown as, and whether the same request can succeed later without being changed. */
export const ERROR_KINDS = {
${rows.join('\n')}
} as const satisfies Record<ErrorCode, { family: string; retryable: boolean }>;
`;
}

if (import.meta.main) writeGenerated('../src/generated/errors.ts', import.meta.url, errorsModule());
