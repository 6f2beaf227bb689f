import { majorityOf, type NoteKey } from '@tallygate/receipts';
import type { Offer, RateLimits } from '../money/plans/index.ts';
import { type AnchorChainConfig, anchorChainsOf } from './anchoring-config.ts';
import { type BodyConfig, bodiesOf } from './body-config.ts';
import { bucketOf } from './bucket-config.ts';
import { ConfigError } from './config-error.ts';
import type { Seeds } from './config-values.ts';
import { type Given, readVariables } from './config-variables.ts';
import { type DirectoryConfig, directoryOf } from './directory-config.ts';
import { type OperationsConfig, operationsOf } from './operations-config.ts';
import { isOwnAddress } from './own-address.ts';
import { type PasskeyConfig, passkeysOf } from './passkey-config.ts';
import { offerOf } from './plans-file.ts';
import { type Environment, type ProviderConfig, providersOfVariables, withoutOwnAddress } from './provider-config.ts';
import { providersOfFile } from './providers-file.ts';
import { type TracingConfig, tracingOf } from './tracing-config.ts';

export { ConfigError } from './config-error.ts';

/** Requests at the same time, where capacity is reserved and nothing else was said. */
const GATEWAY_CONCURRENCY = 1_000;
const DAY_MS = 86_400_000;

export interface Config {
  readonly port: number;
  readonly host: string;
  readonly dataDir: string;
  /** Where the service is reached from outside; follows the listening address when it is not set. */
  readonly publicUrl: string | undefined;
  readonly operations: OperationsConfig;
  /** A listener for keys with dedicated capacity, and where it is reached from outside; undefined: there is none. */
  readonly dedicated: { readonly url: string; readonly port: number } | undefined;
  /** Processes that serve requests; 1: this one, alone. */
  readonly workers: number;
  /** Inference requests that this gateway serves at the same time; null: any number. */
  readonly gatewayConcurrency: number | null;
  readonly logLevel: string;
  /** Where traces go, and how many of those that begin here; undefined: nothing is traced. */
  readonly tracing: TracingConfig | undefined;
  readonly directory: DirectoryConfig;
  /** Where files are; undefined: on the local disk. */
  readonly bucket: ReturnType<typeof bucketOf>;
  /** Undefined: the embedded PostgreSQL. */
  readonly databaseUrl: string | undefined;
  /** Where lanes and jobs are, for any number of gateways; undefined: lanes in this process, jobs in the database. */
  readonly redisUrl: string | undefined;
  readonly internalSecret: string | undefined;
  /** Addresses and networks whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[];
  readonly metricsToken: string | undefined;
  /** 32 bytes each, the one that signs first; undefined: a generated key is stored in the data directory. */
  readonly receiptSigningSeeds: Seeds | undefined;
  /** As those of receipts, and all of them sign. */
  readonly logSigningSeeds: Seeds | undefined;
  /** Who is asked to cosign the states of the receipts’ log. */
  readonly logWitnesses: readonly { readonly url: string; readonly key: NoteKey }[];
  /** How many of them verifiers should require. */
  readonly logWitnessQuorum: number;
  /** Encrypt what is read again (MFA secrets); the first one is current. Undefined: a generated one is stored in the data directory. */
  readonly masterKeys: readonly { readonly id: string; readonly key: Buffer }[] | undefined;
  /** Undefined: payments are sandboxed. */
  readonly stripe: { readonly secretKey: string; readonly webhookSecret: string; readonly apiUrl: string | undefined } | undefined;
  /** Undefined: mails are written to files in the data directory. */
  readonly smtpUrl: string | undefined;
  readonly mailFrom: string;
  /** The last line of every marketing mail. */
  readonly mailPostalAddress: string | undefined;
  /** The address for bounces of marketing mails, with a different `+` suffix for each mail. */
  readonly mailBounceAddress: string | undefined;
  /** Where answers to marketing mails go that say nothing else; undefined: to the sender. */
  readonly mailReplyTo: string | undefined;
  /** Marketing mails that are begun in a second, at most. */
  readonly emailsPerSecond: number;
  /** Where links in mails lead; follows `publicUrl` when it is not set. */
  readonly webUrl: string | undefined;
  /** The URI of the security contact, for `security.txt`. */
  readonly securityContact: string;
  /** Web pages of other origins that may use the MCP server. */
  readonly mcpOrigins: readonly string[];
  readonly passkeys: PasskeyConfig;
  readonly providers: readonly ProviderConfig[];
  /** Variables of addresses that are not used, since they hold the gateway's own. */
  readonly ignoredAddresses: readonly string[];
  /** Models and prices of the operator's own; read at the start and on SIGHUP. */
  readonly modelsFile: string | undefined;
  readonly bodies: BodyConfig;
  /** Whether prompts and answers may be stored. */
  readonly storesContent: boolean;
  /** Of all answers that an account keeps to be given again. */
  readonly answerCacheBytes: number;
  readonly files: {
    /** Of a file that is sent whole. */
    readonly maxFileBytes: number;
    /** Of a part of an upload. */
    readonly maxPartBytes: number;
    /** Of all files of an account together. */
    readonly storageBytes: number;
    /** How long nothing may move. */
    readonly idleTimeoutMs: number;
    /** For a whole file. */
    readonly timeoutMs: number;
  };
  /** Whole months for which requests and receipts stay in the database; undefined: all. */
  readonly usageDetailMonths: number | undefined;
  /** Whole months for which entries of the audit log stay; undefined: all. */
  readonly auditLogMonths: number | undefined;
  /** How long a mail stays after it was sent or given up. */
  readonly mailsKeptDays: number;
  /** Where webhooks may lead to beside the public internet; how long an event stays, with what became of it. */
  readonly webhooks: { readonly allowedNetworks: readonly string[]; readonly keptMs: number };
  /** How long what a video job has made can be downloaded. */
  readonly videos: { readonly keptMs: number };
  readonly timeouts: Readonly<Record<'plainFirstByteMs' | 'streamFirstByteMs' | 'idleMs' | 'retryAfterMs', number>>;
  readonly realtimeSessionsPerKey: number;
  /** Calls whose client has hung up, and whose answers are read on. */
  readonly disconnected: { readonly timeoutMs: number; readonly callsPerKey: number };
  /** How many refused requests a minute get a reason, per caller. */
  readonly refusalsPerMinute: number;
  /** Of all test keys of an account together. */
  readonly testRates: RateLimits;
  /** Lines of one batch that run at the same time. */
  readonly batchLines: number;
  /** For a stopping gateway: how long it still accepts requests while not ready, and how long running requests may take then. */
  readonly drain: { readonly delayMs: number; readonly timeoutMs: number };
  /** No call is begun while a settlement has waited for the ledger for so long. */
  readonly ledgerLagLimitMs: number;
  /** When Redis has lost something: for how long a gateway without a sign of life is waited for, and nothing is admitted. */
  readonly gatewayAbsenceMs: number;
  /** Chains on which the receipts’ log is anchored; none where that was not configured. */
  readonly anchorChains: readonly AnchorChainConfig[];
  /** Time-stamping authorities, and how often they stamp the state of the log. */
  readonly timestamps: { readonly authorities: readonly string[]; readonly everyMs: number };
  /** The plans that are offered. */
  readonly offer: Offer;
}

/**
 * Reads all settings at once: environment variables, and the providers file that they may name. Empty variables count as unset.
 *
 * @throws ConfigError naming every wrong setting
 */
export function readConfig(environment: Environment = process.env): Config {
  const env = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''));
  const faults: string[] = [];
  const read = <T>(part: () => T): T | undefined => {
    try {
      return part();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      faults.push(...error.faults);
      return undefined;
    }
  };
  const given = read(() => readVariables(env));
  const listed = read(() => providersOfFile(env));
  const isOwn = (address: string) =>
    given !== undefined && isOwnAddress(address, { host: given.HOST, port: given.PORT, publicUrl: given.PUBLIC_URL });
  const { env: meant, ignored } = withoutOwnAddress(env, isOwn);
  const wellKnown = read(() => providersOfVariables(meant));
  const anchorChains = read(() => anchorChainsOf(env));
  const offer = read(() => offerOf(env));
  for (const { name, baseUrl } of [...(listed ?? []), ...(wellKnown ?? [])].filter((provider) => isOwn(provider.baseUrl)))
    faults.push(`The address of the provider ${name}, ${baseUrl}, is this gateway’s own: it would ask itself without end`);
  if (!given || !listed || !wellKnown || !anchorChains || !offer || faults.length > 0) throw new ConfigError(faults);
  return {
    ...{ ...addressesOf(given), ...secretsOf(given), ...logOf(given), ...mailOf(given), ...contentOf(given), ...limitsOf(given) },
    ...{ tracing: tracingOf(given), directory: directoryOf(given), passkeys: passkeysOf(given), bucket: bucketOf(given) },
    ...{ workers: given.WORKERS, logLevel: given.LOG_LEVEL, dataDir: given.DATA_DIR },
    ...{ databaseUrl: given.DATABASE_URL, redisUrl: given.REDIS_URL },
    ...{ modelsFile: given.MODELS_FILE, ignoredAddresses: ignored },
    // Who lists a provider of that name means that one: its key may well be in the usual variable.
    providers: [...listed, ...wellKnown.filter(({ name }) => listed.every((one) => one.name !== name))],
    ...{ anchorChains, offer },
  };
}

const addressesOf = (given: Given) => ({
  ...{ port: given.PORT, host: given.HOST, publicUrl: given.PUBLIC_URL, webUrl: given.WEB_URL },
  ...{ trustedProxies: given.TRUSTED_PROXIES, mcpOrigins: given.MCP_ORIGINS },
  dedicated: given.ENTERPRISE_BASE_URL === undefined ? undefined : { url: given.ENTERPRISE_BASE_URL, port: given.ENTERPRISE_PORT },
  operations: operationsOf(given),
  webhooks: { allowedNetworks: given.WEBHOOK_ALLOWED_NETWORKS, keptMs: given.WEBHOOK_EVENTS_KEPT_DAYS * DAY_MS },
});

const secretsOf = (given: Given) => ({
  ...{ internalSecret: given.INTERNAL_SECRET, metricsToken: given.METRICS_TOKEN, masterKeys: given.MASTER_KEYS },
  ...{ receiptSigningSeeds: given.RECEIPT_SIGNING_KEY, logSigningSeeds: given.LOG_SIGNING_KEY },
  stripe:
    given.STRIPE_SECRET_KEY === undefined
      ? undefined
      : { secretKey: given.STRIPE_SECRET_KEY, webhookSecret: given.STRIPE_WEBHOOK_SECRET ?? '', apiUrl: given.STRIPE_API_HOST },
});

/** What stands beside the log of receipts. */
const logOf = (given: Given) => ({
  logWitnesses: given.LOG_WITNESSES,
  logWitnessQuorum: given.LOG_WITNESS_QUORUM ?? majorityOf(given.LOG_WITNESSES.length),
  timestamps: { authorities: given.ANCHOR_TSA_URL, everyMs: given.ANCHOR_TSA_INTERVAL_SECONDS * 1_000 },
});

const mailOf = (given: Given) => ({
  ...{ smtpUrl: given.SMTP_URL, mailFrom: given.MAIL_FROM, mailPostalAddress: given.MAIL_POSTAL_ADDRESS },
  ...{ mailBounceAddress: given.MAIL_BOUNCE_ADDRESS, mailReplyTo: given.MAIL_REPLY_TO },
  ...{ emailsPerSecond: given.EMAILS_PER_SECOND, mailsKeptDays: given.MAILS_KEPT_DAYS },
  // The mailbox that RFC 2142 reserves for this, at the domain that mails come from.
  securityContact: given.SECURITY_CONTACT ?? `mailto:security@${given.MAIL_FROM.replace(/^.*@/s, '').replace(/>$/, '')}`,
});

/** What is kept, and for how long. */
const contentOf = (given: Given) => ({
  ...{ storesContent: given.STORE_CONTENT === 'on', answerCacheBytes: given.ANSWER_CACHE_BYTES },
  files: {
    maxFileBytes: given.FILE_BYTES,
    maxPartBytes: given.UPLOAD_PART_BYTES,
    storageBytes: given.FILES_STORAGE_BYTES,
    idleTimeoutMs: given.BODY_TIMEOUT_MS,
    timeoutMs: given.FILE_TIMEOUT_MS,
  },
  videos: { keptMs: given.VIDEOS_KEPT_DAYS * DAY_MS },
  ...{ usageDetailMonths: given.USAGE_DETAIL_MONTHS, auditLogMonths: given.AUDIT_LOG_MONTHS },
});

/** How much at once, and how long what may take. */
const limitsOf = (given: Given) => ({
  bodies: bodiesOf(given),
  // What is reserved is a part of something: with dedicated traffic there is a limit.
  gatewayConcurrency: given.GATEWAY_CONCURRENCY ?? (given.ENTERPRISE_BASE_URL === undefined ? null : GATEWAY_CONCURRENCY),
  timeouts: {
    plainFirstByteMs: given.PLAIN_FIRST_BYTE_TIMEOUT_MS,
    streamFirstByteMs: given.STREAM_FIRST_BYTE_TIMEOUT_MS,
    idleMs: given.STREAM_IDLE_TIMEOUT_MS,
    retryAfterMs: given.RETRY_AFTER_WAIT_MS,
  },
  ...{ realtimeSessionsPerKey: given.REALTIME_SESSIONS_PER_KEY, refusalsPerMinute: given.REFUSED_REQUESTS_PER_MINUTE },
  disconnected: { timeoutMs: given.DISCONNECTED_TIMEOUT_MS, callsPerKey: given.DISCONNECTED_CALLS_PER_KEY },
  testRates: {
    requestsPerMinute: given.TEST_REQUESTS_PER_MINUTE,
    tokensPerMinute: given.TEST_TOKENS_PER_MINUTE,
    concurrency: given.TEST_CONCURRENCY,
  },
  batchLines: given.BATCH_LINES,
  drain: { delayMs: given.DRAIN_DELAY_MS, timeoutMs: given.DRAIN_TIMEOUT_MS },
  ...{ ledgerLagLimitMs: given.LEDGER_LAG_LIMIT_MS, gatewayAbsenceMs: given.GATEWAY_ABSENCE_MS },
});
