import { CLIENT_ERRORS } from './errors/client-errors.ts';
import { DEVICE_LOGIN_ERRORS } from './errors/device-login-errors.ts';
import type { ErrorEntry } from './errors/error-entry.ts';
import { LIMIT_ERRORS } from './errors/limit-errors.ts';
import { LOGIN_ERRORS } from './errors/login-errors.ts';
import { MANAGEMENT_ERRORS } from './errors/management-errors.ts';
import { REALTIME_ERRORS } from './errors/realtime-errors.ts';
import { SERVER_ERRORS } from './errors/server-errors.ts';

/**
 * Every error the service answers with. The docs' error pages, the SDK's error classes and the CLI's exit codes are made from this list;
 * a code that is not here cannot be thrown.
 */
export const ERRORS = {
  ...CLIENT_ERRORS,
  ...LIMIT_ERRORS,
  ...LOGIN_ERRORS,
  ...DEVICE_LOGIN_ERRORS,
  ...MANAGEMENT_ERRORS,
  ...REALTIME_ERRORS,
  ...SERVER_ERRORS,
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;

export const ERROR_CODES = Object.keys(ERRORS) as ErrorCode[];
