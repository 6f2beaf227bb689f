import * as z from 'zod';
import { TEST_RATES } from '../money/plans/index.ts';
import { BODY_VARIABLES } from './body-config.ts';
import { BUCKET_VARIABLES } from './bucket-config.ts';
import { ConfigError } from './config-error.ts';
import { bytes, masterKeys, milliseconds, networks, perMinute, port, redisUrl, room, seeds, webOrigins, workers } from './config-values.ts';
import { DIRECTORY_VARIABLES } from './directory-config.ts';
import { httpUrl } from './http-url.ts';
import { authorities, witnesses } from './log-settings.ts';
import { MAIL_VARIABLES } from './mail-variables.ts';
import { OPERATIONS_VARIABLES } from './operations-config.ts';
import { PASSKEY_VARIABLES } from './passkey-config.ts';
import type { Environment } from './provider-config.ts';
import { TRACING_VARIABLES } from './tracing-config.ts';

/** Described in variables.ts. */
export const Variables = z.object({
  PORT: port.default(8787),
  HOST: z.string().min(1).default('127.0.0.1'),
  DATA_DIR: z.string().min(1).default('.tallygate'),
  PUBLIC_URL: httpUrl.optional(),
  ENTERPRISE_BASE_URL: httpUrl.optional(),
  ENTERPRISE_PORT: port.default(8788),
  ...OPERATIONS_VARIABLES,
  WORKERS: workers.default(1),
  GATEWAY_CONCURRENCY: z.coerce.number().int().min(2).max(1_000_000).optional(),
  ...TRACING_VARIABLES,
  ...DIRECTORY_VARIABLES,
  ...PASSKEY_VARIABLES,
  ...BUCKET_VARIABLES,
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
  REDIS_URL: redisUrl.optional(),
  INTERNAL_SECRET: z.string().min(16).optional(),
  TRUSTED_PROXIES: networks.default([]),
  METRICS_TOKEN: z.string().min(16).optional(),
  RECEIPT_SIGNING_KEY: seeds.optional(),
  LOG_SIGNING_KEY: seeds.optional(),
  LOG_WITNESSES: witnesses.default([]),
  ANCHOR_TSA_URL: authorities.default([]),
  ANCHOR_TSA_INTERVAL_SECONDS: z.coerce.number().int().min(1).max(86_400).default(3_600),
  LOG_WITNESS_QUORUM: z.coerce.number().int().min(1).optional(),
  MASTER_KEYS: masterKeys.optional(),
  STRIPE_SECRET_KEY: z
    .string()
    .regex(/^(sk|rk)_(live|test)_\S+$/, 'Expected a secret key of Stripe: sk_… or rk_…')
    .optional(),
  STRIPE_WEBHOOK_SECRET: z
    .string()
    .regex(/^whsec_\S+$/, 'Expected the secret of a webhook endpoint: whsec_…')
    .optional(),
  STRIPE_API_HOST: httpUrl.optional(),
  ...MAIL_VARIABLES,
  WEB_URL: httpUrl.optional(),
  SECURITY_CONTACT: z.url({ protocol: /^(mailto|https|tel)$/ }).optional(),
  MCP_ORIGINS: webOrigins.default([]),
  PROVIDERS_FILE: z.string().min(1).optional(),
  MODELS_FILE: z.string().min(1).optional(),
  ...BODY_VARIABLES,
  FILE_BYTES: z.coerce
    .number()
    .int()
    .min(1_024)
    .max(8_589_934_592)
    .default(512 * 1024 ** 2),
  UPLOAD_PART_BYTES: bytes.default(64 * 1024 * 1024),
  STORE_CONTENT: z.enum(['on', 'off']).default('on'),
  ANSWER_CACHE_BYTES: room.default(64 * 1024 ** 2),
  FILES_STORAGE_BYTES: room.default(10 * 1024 ** 3),
  USAGE_DETAIL_MONTHS: z.coerce.number().int().min(2).max(1_200).optional(),
  AUDIT_LOG_MONTHS: z.coerce.number().int().min(1).max(1_200).optional(),
  MAILS_KEPT_DAYS: z.coerce.number().int().min(1).max(3_650).default(30),
  WEBHOOK_ALLOWED_NETWORKS: networks.default([]),
  WEBHOOK_EVENTS_KEPT_DAYS: z.coerce.number().int().min(4).max(3_650).default(30),
  VIDEOS_KEPT_DAYS: z.coerce.number().int().min(1).max(3_650).default(30),
  FILE_TIMEOUT_MS: milliseconds.default(3_600_000),
  RETRY_AFTER_WAIT_MS: z.coerce.number().int().min(0).max(300_000).default(10_000),
  PLAIN_FIRST_BYTE_TIMEOUT_MS: milliseconds.default(600_000),
  STREAM_FIRST_BYTE_TIMEOUT_MS: milliseconds.default(120_000),
  STREAM_IDLE_TIMEOUT_MS: milliseconds.default(120_000),
  DISCONNECTED_TIMEOUT_MS: milliseconds.default(600_000),
  DISCONNECTED_CALLS_PER_KEY: z.coerce.number().int().min(1).max(100_000).default(64),
  REALTIME_SESSIONS_PER_KEY: z.coerce.number().int().min(1).max(100_000).default(100),
  REFUSED_REQUESTS_PER_MINUTE: perMinute.default(300),
  TEST_REQUESTS_PER_MINUTE: perMinute.default(TEST_RATES.requestsPerMinute),
  TEST_TOKENS_PER_MINUTE: perMinute.default(TEST_RATES.tokensPerMinute),
  TEST_CONCURRENCY: perMinute.default(TEST_RATES.concurrency),
  BATCH_LINES: z.coerce.number().int().min(1).max(256).default(8),
  DRAIN_DELAY_MS: z.coerce.number().int().min(0).max(300_000).default(0),
  DRAIN_TIMEOUT_MS: milliseconds.default(30_000),
  LEDGER_LAG_LIMIT_MS: milliseconds.default(600_000),
  GATEWAY_ABSENCE_MS: z.coerce.number().int().min(15_000).max(86_400_000).default(900_000),
});
export type Given = z.infer<typeof Variables>;

/** @throws ConfigError naming every wrong variable */
export function readVariables(env: Environment): Given {
  const parsed = Variables.safeParse(env);
  if (!parsed.success) throw new ConfigError(parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`));
  if (parsed.data.STRIPE_SECRET_KEY !== undefined && parsed.data.STRIPE_WEBHOOK_SECRET === undefined)
    throw new ConfigError(['STRIPE_WEBHOOK_SECRET: required with STRIPE_SECRET_KEY, since payments are confirmed by webhooks only']);
  if (parsed.data.WORKERS > 1 && parsed.data.REDIS_URL !== undefined)
    throw new ConfigError(['WORKERS: workers share the caps of one process, gateways with REDIS_URL those of Redis: set one of both']);
  const { LOG_WITNESS_QUORUM: quorum, LOG_WITNESSES: named } = parsed.data;
  if (quorum !== undefined && quorum > named.length)
    throw new ConfigError([`LOG_WITNESS_QUORUM is ${quorum}, LOG_WITNESSES names ${named.length}`]);
  return parsed.data;
}
