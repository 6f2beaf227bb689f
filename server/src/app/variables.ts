import { Variables } from './config-variables.ts';

/** A variable of the environment, as the operator's handbook describes it. */
interface Description {
  readonly text: string;
  /** What holds where it is not set and has no default value. */
  readonly unset?: string;
}

interface Group {
  readonly title: string;
  readonly variables: Readonly<Record<string, Description>>;
}

/** Every variable of `config.ts`; `npm run generate` makes docs/guides/settings.md of it. */
export const VARIABLE_GROUPS: readonly Group[] = [
  {
    title: 'Addresses',
    variables: {
      PORT: { text: 'Port that it listens on; `0` takes a free one.' },
      HOST: { text: 'Address that it listens on; `0.0.0.0` for all.' },
      PUBLIC_URL: { text: 'Where it is reached from outside; base of error page addresses.', unset: 'listening address' },
      WEB_URL: { text: 'Where links in mails lead.', unset: '`PUBLIC_URL`' },
      NODE_ENV: {
        text: '`production` gives metrics and health checks a port of their own. `tallygate-server` sets it, and so do the image, the chart and the systemd units.',
        unset: 'none with `npm start`',
      },
      OPERATIONS_PORT: {
        text: 'Port for `/metrics`, `/health/live` and `/health/ready`, which the other addresses do not answer then; `off`: they answer, as on a platform that has one port only.',
        unset: '`8789` in production, else `off`',
      },
      OPERATIONS_HOST: { text: 'Address that `OPERATIONS_PORT` listens on.', unset: '`HOST`' },
      ENTERPRISE_BASE_URL: {
        text: 'Where the listener for accounts with [reserved capacity](dedicated-capacity.md) is reached from outside.',
      },
      ENTERPRISE_PORT: { text: 'Port of that listener.' },
      TRUSTED_PROXIES: { text: 'Addresses whose `X-Forwarded-For` is trusted, comma-separated.' },
      MCP_ORIGINS: {
        text: 'Origins of web pages that may use [`/mcp`](mcp.md) beside its own and those of this machine, comma-separated.',
      },
      PASSKEY_RP_ID: {
        text: 'Domain that [passkeys](identity.md#passkeys) are made for: the host of `PUBLIC_URL`, or a domain above it. Passkeys of another domain stop working.',
        unset: 'host of `PUBLIC_URL`',
      },
      PASSKEY_ORIGINS: {
        text: 'Origins that may use passkeys beside `PUBLIC_URL` and `WEB_URL`, comma-separated: pages of yours, and Android apps as `android:apk-key-hash:…`.',
      },
      WEBHOOK_ALLOWED_NETWORKS: {
        text: 'Addresses and networks of yours that [webhooks](webhooks.md#addresses) may lead to, with or without TLS, comma-separated: `10.1.0.0/16,127.0.0.1`.',
        unset: 'public addresses alone',
      },
      SECURITY_CONTACT: {
        text: '`mailto:`, `https:` or `tel:` URI that `/.well-known/security.txt` names.',
        unset: '`mailto:security@` domain of `MAIL_FROM`',
      },
    },
  },
  {
    title: 'Storage',
    variables: {
      DATA_DIR: { text: 'Journal, embedded database, uploaded and generated files, generated secrets; one server at a time.' },
      DATABASE_URL: { text: 'A PostgreSQL 15 or newer of yours.', unset: 'embedded PostgreSQL' },
      REDIS_URL: { text: 'Caps, rate limits and jobs in Redis, for [several gateways](several-gateways.md).' },
      STORE_CONTENT: {
        text: '`off` keeps nothing of prompts and answers: `store` defaults to `false`, what needs storing is `403 storing_off`; accounts can switch it off for themselves.',
      },
      ANSWER_CACHE_BYTES: {
        text: 'Room of the [answers that an account keeps](answer-cache.md) to be given again, the oldest of which go first; `0` keeps none.',
      },
      FILES_STORAGE_BYTES: { text: 'Room of all files of an account together, parts of unfinished uploads included.' },
      USAGE_DETAIL_MONTHS: {
        text: 'For how many whole months requests and receipts stay in the database, at least 2; older ones are [archived](running.md#growth) in files.',
        unset: 'all',
      },
      AUDIT_LOG_MONTHS: {
        text: 'For how many whole months entries of the [audit log](identity.md#the-audit-log) stay in the database; older ones are deleted.',
        unset: 'all',
      },
      MAILS_KEPT_DAYS: { text: 'How long a mail stays in the database after it was sent or given up.' },
      WEBHOOK_EVENTS_KEPT_DAYS: { text: 'How long an event and its deliveries by [webhooks](webhooks.md) can be listed and sent again.' },
      VIDEOS_KEPT_DAYS: { text: 'How long a [video](videos.md) that was made can be downloaded.' },
    },
  },
  {
    title: 'Files in object storage',
    variables: {
      S3_BUCKET: {
        text: 'Bucket of [S3 or a compatible service](object-storage.md) for files, videos and archived months.',
        unset: 'files in `DATA_DIR/blobs`',
      },
      S3_ENDPOINT: { text: 'Address of the service: MinIO, Ceph, Cloudflare R2 and others.', unset: 'AWS S3' },
      S3_REGION: { text: 'Region of the bucket; `auto` for R2.' },
      S3_ACCESS_KEY_ID: {
        text: 'Access key, with `S3_SECRET_ACCESS_KEY`.',
        unset: 'what the AWS SDK finds: `AWS_*` variables, files, the role of the machine or pod',
      },
      S3_SECRET_ACCESS_KEY: { text: 'Secret of the access key.' },
      S3_PREFIX: { text: 'What names of objects begin with, such as `tallygate/`, in a bucket that has other objects.' },
      S3_PATH_STYLE: {
        text: '`on`: the bucket is in the path of addresses; `off`: in the host name.',
        unset: '`on` with `S3_ENDPOINT`, else `off`',
      },
    },
  },
  {
    title: 'Secrets',
    variables: {
      MASTER_KEYS: {
        text: '`id:base64` of 32 bytes, comma-separated: encrypts secrets at rest; the first encrypts, the others still decrypt; [how to rotate](identity.md#for-operators).',
        unset: 'generated in `DATA_DIR`',
      },
      RECEIPT_SIGNING_KEY: {
        text: '32 bytes in base64: the Ed25519 seed that signs receipts; several by commas [while keys change](receipts.md#changing-keys).',
        unset: 'generated in `DATA_DIR`',
      },
      LOG_SIGNING_KEY: {
        text: '32 bytes in base64: the Ed25519 seed that signs the states of the receipts’ log; several by commas [while keys change](receipts.md#changing-keys).',
        unset: 'generated in `DATA_DIR`',
      },
      INTERNAL_SECRET: {
        text: 'What the web front end sends as `X-Internal-Secret`; 16 characters or more.',
        unset: 'generated in `DATA_DIR`',
      },
      METRICS_TOKEN: { text: 'Bearer token of [`/metrics`](running.md#metrics), 16 characters or more.', unset: 'generated in `DATA_DIR`' },
    },
  },
  {
    title: 'Sign-in with the company’s directory',
    variables: {
      OIDC_ISSUER: { text: 'Address of the [OpenID provider](sign-in.md).', unset: 'people log in with a password' },
      OIDC_CLIENT_ID: { text: 'Client that the provider has for this gateway; required with `OIDC_ISSUER`.' },
      OIDC_CLIENT_SECRET: { text: 'Its secret.', unset: 'a public client' },
      OIDC_NAME: { text: 'What people call the directory.' },
      OIDC_SCOPES: { text: 'Scopes to ask for.' },
      OIDC_GROUPS_CLAIM: { text: 'Claim with the groups of a person.' },
      OIDC_ROLES: { text: '`group=role` by commas: the first group that somebody is in decides their [role](members.md#roles).' },
      OIDC_DEFAULT_ROLE: { text: 'Role of everybody else.', unset: '`developer` for new members; with `OIDC_ROLES` they are refused' },
      OIDC_PROJECTS: {
        text: '`group=project` or `group=project:admin` by commas: whom [a sign-in](sign-in.md) makes a member of which projects, named by their `external_id` or id.',
      },
      DIRECTORY_ACCOUNT_ID: {
        text: 'Account whose members the directory names, by sign-in and by [SCIM](scim.md).',
        unset: 'that of the administrators of the gateway, where it is one',
      },
    },
  },
  {
    title: 'The log of receipts',
    variables: {
      LOG_WITNESSES: {
        text: '[who cosigns](receipts.md#witnesses) the states of the receipts’ log: address, space, verifier key; several by commas.',
      },
      LOG_WITNESS_QUORUM: { text: 'How many witnesses verifiers should require.', unset: 'more than half' },
      ANCHOR_TSA_URL: {
        text: '[time-stamping authorities](anchoring.md#timestamps) that stamp the states of the receipts’ log, by commas.',
      },
      ANCHOR_TSA_INTERVAL_SECONDS: { text: 'How often they stamp it.' },
    },
  },
  {
    title: 'Providers, models and plans',
    variables: {
      PROVIDERS_FILE: { text: 'File with [several keys, Azure, and servers of your own](providers.md).' },
      MODELS_FILE: { text: '[your own models and prices](catalog.md#serve-your-own-model), beside the shipped list.' },
      STRIPE_SECRET_KEY: { text: 'Secret key for [payments over Stripe](payments.md#stripe).', unset: 'nothing is sold' },
      STRIPE_WEBHOOK_SECRET: { text: 'Secret of the webhook endpoint; required with `STRIPE_SECRET_KEY`.' },
      STRIPE_API_HOST: { text: 'Another address of the Stripe API.' },
    },
  },
  {
    title: 'Mail',
    variables: {
      SMTP_URL: {
        text: 'Where mails are sent through (`smtp://…`, `smtps://…`); without it they are `.eml` files in `DATA_DIR/mail`.',
        unset: 'files in `DATA_DIR/mail`',
      },
      MAIL_FROM: { text: 'Sender of mails.' },
      MAIL_REPLY_TO: {
        text: 'Where answers to marketing mails go that name no other address; without it to `MAIL_FROM`.',
        unset: '`MAIL_FROM`',
      },
      MAIL_POSTAL_ADDRESS: {
        text: "The sender's postal address on one line, at the end of every marketing mail and every invitation; many countries' laws ask for it.",
      },
      MAIL_BOUNCE_ADDRESS: {
        text: 'Where mail servers write that a marketing mail came back, such as `bounces@example.com`: see [mails that come back](emails.md#mails-that-come-back).',
      },
      EMAILS_PER_SECOND: { text: 'Marketing mails begun in a second, by all gateways together.' },
    },
  },
  {
    title: 'Limits',
    variables: {
      WORKERS: {
        text: 'Processes that serve requests, on one address and under one set of caps; `auto`: one for each core. See [all cores of a machine](workers.md).',
      },
      GATEWAY_CONCURRENCY: {
        text: 'Inference requests served at the same time; 1000 where [capacity is reserved](dedicated-capacity.md).',
      },
      INFERENCE_BODY_BYTES: {
        text: 'Largest body of an inference request. What is [stored](responses.md), or a part of a batch or a conversation, has 10 MiB at most.',
      },
      LARGE_BODIES_BYTES: {
        text: 'Of all bodies above 1 MiB that a process serves at a time; others wait up to 10 seconds. One account may have three quarters.',
        unset: 'a quarter of the heap limit',
      },
      BODY_BYTES: { text: 'Largest body of every other request.' },
      FILE_BYTES: { text: 'Largest file sent whole.' },
      UPLOAD_PART_BYTES: { text: 'Largest part of an upload.' },
      BATCH_LINES: { text: 'Lines of one [batch](batches.md) that run at the same time.' },
      TEST_REQUESTS_PER_MINUTE: { text: '[Requests a minute](rate-limits.md) of all test keys of an account together.' },
      TEST_TOKENS_PER_MINUTE: { text: 'Tokens a minute of all test keys of an account together.' },
      TEST_CONCURRENCY: { text: 'Requests at the same time of all test keys of an account together.' },
      REFUSED_REQUESTS_PER_MINUTE: {
        text: 'Refusals outside of inference that a person, a key, or a network without a credential gets told the reason of in a minute: [then 429](rate-limits.md#how-it-is-counted).',
      },
      REALTIME_SESSIONS_PER_KEY: { text: 'How many realtime sessions a key may have open at a time, on each gateway.' },
      DISCONNECTED_CALLS_PER_KEY: { text: 'How many answers whose client has hung up a key may have at a time, on each gateway.' },
    },
  },
  {
    title: 'Timeouts',
    variables: {
      BODY_TIMEOUT_MS: { text: 'For a body to arrive.' },
      FILE_TIMEOUT_MS: { text: 'For a whole file to arrive; `BODY_TIMEOUT_MS` is how long nothing at all may move.' },
      PLAIN_FIRST_BYTE_TIMEOUT_MS: { text: 'For a provider to begin to answer a plain request.' },
      STREAM_FIRST_BYTE_TIMEOUT_MS: { text: 'For a provider to begin to answer a streamed request.' },
      RETRY_AFTER_WAIT_MS: {
        text: 'How long a request waits in all for providers that say when they may be asked again ([`Retry-After`](inference.md#when-providers-are-at-their-limits)), when no other is left; `0`: not at all.',
      },
      STREAM_IDLE_TIMEOUT_MS: { text: 'Between two bytes of a provider.' },
      DISCONNECTED_TIMEOUT_MS: {
        text: "How long a provider's answer is read on after [its client has hung up](inference.md#when-you-hang-up), or the [provider was late](inference.md#when-a-provider-is-late).",
      },
      DRAIN_DELAY_MS: {
        text: 'How long a gateway that is stopping still accepts requests, while `/health/ready` answers 503: set it to what your load balancer takes to notice.',
      },
      DRAIN_TIMEOUT_MS: { text: 'For running requests after that; then they are cut, and charged at their holds.' },
      LEDGER_LAG_LIMIT_MS: { text: 'No call is begun while the ledger has taken no settlement for so long: `store_unavailable`.' },
      GATEWAY_ABSENCE_MS: {
        text: 'For how long a gateway that does not answer is waited for after a [loss of Redis](several-gateways.md); nothing is admitted meanwhile.',
      },
    },
  },
  {
    title: 'Logs and traces',
    variables: {
      OTEL_EXPORTER_OTLP_ENDPOINT: {
        text: 'Address of an OpenTelemetry collector (OTLP over HTTP), such as `http://127.0.0.1:4318`: [traces](observability.md#traces) go to `/v1/traces` there.',
        unset: 'nothing is traced',
      },
      OTEL_EXPORTER_OTLP_HEADERS: { text: 'Headers for it, `name=value` by commas.' },
      OTEL_SERVICE_NAME: { text: 'Name of the service in traces.' },
      OTEL_TRACES_SAMPLER_ARG: {
        text: 'How many of the traces that begin at the gateway are sampled, from 0 to 1; what callers have sampled always is.',
      },
      LOG_LEVEL: { text: '`fatal` … `trace`, `silent`; JSON lines, secrets redacted, no prompts.' },
    },
  },
];

const KIB = 1024;
const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB'] as const;

/** The default of a variable in words: its value where it has one. */
export function defaultOf(name: string, { unset }: Description): string {
  const value = DEFAULTS[name as keyof typeof DEFAULTS];
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return unset ?? 'none';
  return name.endsWith('_BYTES') ? inBytes(Number(value)) : `\`${String(value)}\``;
}

const DEFAULTS = Variables.parse({});

function inBytes(bytes: number): string {
  const step = BYTE_UNITS.findLastIndex((_, power) => bytes % KIB ** power === 0 && bytes >= KIB ** power);
  return `${bytes / KIB ** step} ${BYTE_UNITS[step]}`;
}
