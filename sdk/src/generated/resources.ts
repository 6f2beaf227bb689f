// Generated from contract/src by sdk/scripts/generate-resources.ts. Do not edit.
import type {
  AcceptInvitationRequest,
  Accepted,
  AccountCloseRequest,
  AccountListResponse,
  AccountPlanRequest,
  AccountResponse,
  AdminUsageQuery,
  AdminUsageResponse,
  AgentCard,
  AgentDocument,
  AnchorListResponse,
  AnchorResponse,
  AnchorState,
  AuditLogEntry,
  AuditLogResponse,
  Batch,
  BatchList,
  BeginPasskeyLoginRequest,
  BetaInviteActivateRequest,
  BetaInviteActivationResponse,
  ChatCompletion,
  ChatCompletionDeleted,
  ChatCompletionMessage,
  ChatCompletionMessageList,
  ClientRequestCreateRequest,
  ClientRequestReceivedResponse,
  CompleteUploadRequest,
  CorrectionRequest,
  CorrectionResponse,
  CreateKeyRequest,
  CreateManagementKeyRequest,
  CreatePasskeyRequest,
  CreateProjectRequest,
  CreateUploadRequest,
  CreateWebhookRequest,
  CurrentPlanResponse,
  DedicatedCapacityRequest,
  DeploymentHealth,
  DeploymentHealthList,
  DeviceDecisionRequest,
  DeviceLoginRequest,
  DeviceLoginResponse,
  DirectoryGroup,
  DirectoryGroupList,
  DirectoryLoginRequest,
  DirectoryLogoutResponse,
  DiscoveryReport,
  FileDeleted,
  FileList,
  FileObject,
  Health,
  InviteMemberRequest,
  InvoiceList,
  InvoiceListItem,
  InvoiceResponse,
  KeyBudgetAlert,
  KeyBudgetAlertHistoryResponse,
  KeyBudgetChange,
  KeyBudgetHistoryResponse,
  KeyBudgetStatusResponse,
  KeyBudgetSummaryResponse,
  KeyBudgetUpdateRequest,
  KeyCreatedResponse,
  KeyResponse,
  LatencyQuery,
  LatencyResponse,
  LimitKind,
  LimitStatus,
  LiveFigures,
  LogConsistencyResponse,
  LogDeclarations,
  LogTimestamp,
  LogTimestampList,
  LoggedDeclaration,
  LoginMethods,
  LoginMfaRequest,
  LoginMfaRequiredResponse,
  LoginRequest,
  ManagementKey,
  ManagementKeyCreated,
  ManagementKeyList,
  MarketingClientRequestListResponse,
  MarketingClientRequestRecord,
  MarketingClientRequestUpdateRequest,
  MarketingContentCreateRequest,
  MarketingContentListResponse,
  MarketingContentRecord,
  MarketingContentUpdateRequest,
  MarketingEmailListResponse,
  MarketingEmailRecipient,
  MarketingEmailRecipientListResponse,
  MarketingEmailRecord,
  MarketingEmailSendRequest,
  MarketingEmailSendResponse,
  MarketingEmailTemplateCreateRequest,
  MarketingEmailTemplateListResponse,
  MarketingEmailTemplateRecord,
  MarketingEmailTemplateUpdateRequest,
  MarketingEventListResponse,
  MarketingEventRecord,
  MarketingEventRegistrationListResponse,
  MarketingEventRegistrationRecord,
  MarketingEventRegistrationUpdateRequest,
  MarketingInviteBatchListResponse,
  MarketingInviteBatchRequest,
  MarketingInviteBatchResponse,
  MarketingInviteListResponse,
  MarketingInviteRecord,
  MarketingPeopleActionRequest,
  MarketingPeopleActionResponse,
  MarketingPeopleListResponse,
  MarketingPersonExport,
  MarketingPersonRecord,
  Member,
  MemberInvitation,
  MemberInvitationList,
  MemberList,
  MfaBeginResponse,
  MfaDisableRequest,
  MfaStatusResponse,
  MfaVerifyRequest,
  Model,
  ModelDefinition,
  ModelPrice,
  Passkey,
  PasskeyCreationOptions,
  PasskeyList,
  PasskeyLoginRequest,
  PasskeyRequestOptions,
  PasswordChangeRequest,
  PasswordLogin,
  PasswordResetRequest,
  PendingDeviceLogin,
  PlanAutoTopupRequest,
  PlanAutoTopupResponse,
  PlanBalanceCheckoutRequest,
  PlanBalanceCheckoutResponse,
  PlanBillingSummaryResponse,
  PlanCheckoutRequest,
  PlanCheckoutResponse,
  PlanCheckoutState,
  PlanConfigResponse,
  PlanDowngradePreviewResponse,
  PlanDowngradeScheduleResponse,
  PlanEntitlementMatrixResponse,
  PlanEntitlementsResponse,
  PlanId,
  PlanInvoiceListResponse,
  PlanInvoiceResponse,
  PlanInvoiceSummary,
  PlanOverageEstimateResponse,
  PlanPayment,
  PlanPaymentListResponse,
  PlanPaymentRefundRequest,
  PlanPortalRequest,
  PlanPortalResponse,
  PlanSpendAlertsRequest,
  PlanSpendAlertsResponse,
  PlanUpgradePreviewResponse,
  PlanUsageQuotaResponse,
  PriceInput,
  PriceList,
  Project,
  ProjectList,
  ProjectMember,
  ProjectMemberList,
  PublishedContentItem,
  PublishedContentListResponse,
  PublishedContentResponse,
  PutProjectMemberRequest,
  RealtimeClientSecret,
  RealtimeClientSecretRequest,
  ReceiptList,
  ReceiptListItem,
  ReceiptResponse,
  ReceiptTimestamp,
  RefundRequest,
  RefundResponse,
  RegistrationStatus,
  RequestTrace,
  ResponseDeleted,
  ResponseObject,
  Role,
  RotateKeyRequest,
  RotateWebhookSecretRequest,
  Run,
  RunDetail,
  RunList,
  RunQuery,
  ServiceStatus,
  SessionListResponse,
  SessionResponse,
  SetLimitRequest,
  SiteEventCreateRequest,
  SiteEventJsonLd,
  SiteEventResponse,
  SiteEventUpdateRequest,
  SpendingLimit,
  SpendingLimitList,
  TimeZone,
  UpdateChatCompletionRequest,
  UpdateDirectoryGroupRequest,
  UpdateKeyRequest,
  UpdateMemberRequest,
  UpdatePasskeyRequest,
  UpdateProjectRequest,
  UpdateWebhookRequest,
  Upload,
  UsageQuery,
  UsageResponse,
  UserListResponse,
  UserResponse,
  UserUpdateRequest,
  VaasKeySet,
  VibethonEventResponse,
  VibethonRegistrationAdminUpdateRequest,
  VibethonRegistrationRequest,
  VibethonRegistrationResponse,
  VibethonRegistrationStatusResponse,
  Video,
  VideoCharacter,
  VideoDeleted,
  VideoList,
  WebhookDelivery,
  WebhookDeliveryList,
  WebhookEndpoint,
  WebhookEndpointList,
  WebhookEndpointWithSecret,
  WebhookEvent,
  WebhookEventList,
  WebhookEventName,
  WebhookOwner,
  WebhookReplayRequest,
  WebhookReplayResponse,
  WebhookTestResponse,
} from './models.ts';
import type { Call } from '../transport/call.ts';
import type { CallOptions } from '../transport/call-options.ts';
import type { PagedCall, PageQuery } from '../transport/paged-call.ts';
import { pathStep } from '../transport/path.ts';
import { Resource } from '../transport/resource.ts';

export interface AccountQuery {
  /** Only the account of this address, upper or lower case. */
  readonly email?: string | undefined;
  /** How many at most. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
}

export interface AnchorQuery {
  /** Only those of this chain. */
  readonly chain_id?: number | undefined;
  /** Only those in this state. */
  readonly state?: AnchorState | undefined;
  /** How many at most. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
}

export interface AuditLogQuery {
  /** Only this action, or all of this noun. */
  readonly action?: string | undefined;
  /** Only what this user, API key or management key did. */
  readonly actor_id?: string | undefined;
  /** Only changes of what has this id. */
  readonly target_id?: string | undefined;
  /** Only what came from this IP address. API keys are refused, since they are not told addresses. */
  readonly ip?: string | string | undefined;
  /** Not before this time. */
  readonly from?: string | undefined;
  /** Before this time. */
  readonly to?: string | undefined;
  /** How many at most. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
}

export interface AuditLogListAllQuery {
  /** Only this action, or all of this noun. */
  readonly action?: string | undefined;
  /** Only what this user, API key or management key did. */
  readonly actor_id?: string | undefined;
  /** Only changes of what has this id. */
  readonly target_id?: string | undefined;
  /** Only what came from this IP address. API keys are refused, since they are not told addresses. */
  readonly ip?: string | string | undefined;
  /** Not before this time. */
  readonly from?: string | undefined;
  /** Before this time. */
  readonly to?: string | undefined;
  /** How many at most. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
  /** Only this account. */
  readonly account_id?: string | undefined;
}

export interface BatchQuery {
  /** The last id of the page before. */
  readonly after?: string | undefined;
  /** How many. */
  readonly limit?: number | undefined;
  /** Of a session. Default: live. */
  readonly livemode?: boolean | undefined;
}

export interface ChatCompletionMessageQuery {
  /** Id of the last object of the page before. */
  readonly after?: string | undefined;
  /** How many at most. */
  readonly limit?: number | undefined;
  /** Oldest or newest first. */
  readonly order?: 'asc' | 'desc' | undefined;
}

export interface ClientRequestQuery {
  /** Only requests in this state. */
  readonly status?: string | undefined;
  /** Only requests of this type. */
  readonly type?: string | undefined;
  /** How many at most. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
}

export interface ContentQuery {
  /** Only content of this type. */
  readonly type?: string | undefined;
  /** How many at most. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
}

export interface ContentListPublishedQuery {
  /** Only content of this type. */
  readonly type?: string | undefined;
  /** How many at most. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
}

export interface EmailRecipientQuery {
  /** Only these. */
  readonly state?: 'queued' | 'handing_over' | 'sent' | 'unconfirmed' | 'bounced' | 'rejected' | 'failed' | 'suppressed' | 'canceled' | undefined;
  /** How many at most. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
}

export interface EmailTemplateQuery {
  /** Those that are archived instead of the others. */
  readonly archived?: boolean | undefined;
  /** How many at most. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
}

export interface EventRegistrationQuery {
  /** Only those in this state. */
  readonly status?: RegistrationStatus | undefined;
  /** At most this many. Default: all. */
  readonly limit?: number | undefined;
  /** How many to skip. */
  readonly offset?: number | undefined;
}

export interface FileQuery {
  /** The last id of the page before. */
  readonly after?: string | undefined;
  /** How many. */
  readonly limit?: number | undefined;
  /** Oldest or newest first. */
  readonly order?: 'asc' | 'desc' | undefined;
  /** Only files for this. */
  readonly purpose?: string | undefined;
  /** Of a session. Default: live. */
  readonly livemode?: boolean | undefined;
}

export interface InvoiceQuery {
  /** Live or test mode. Default: the mode of the API key that asks; live for sessions. */
  readonly livemode?: boolean | undefined;
  /** How many at most. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
}

export interface InvoiceGetQuery {
  /** Live or test mode. Default: the mode of the API key that asks; live for sessions. */
  readonly livemode?: boolean | undefined;
}

export interface LimitQuery {
  /** Only limits of this kind. */
  readonly kind?: LimitKind | undefined;
  /** Only limits of this subject. */
  readonly subject?: string | undefined;
  /** Only the limit with this id of yours. */
  readonly external_id?: string | undefined;
  /** How many at most. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
}

export interface LimitGetQuery {
  /** Whose spending, for a limit of each of a kind. */
  readonly subject?: string | undefined;
  /** Live or test mode. Default: the mode of the API key that asks; live for sessions. */
  readonly livemode?: boolean | undefined;
}

export interface LiveGetQuery {
  /** Answer as server-sent events. */
  readonly stream?: boolean | undefined;
}

export interface MemberQuery {
  /** Only the member with this id of yours. */
  readonly external_id?: string | undefined;
  /** How many at most. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
}

export interface PeopleExportAllQuery {
  /** Words that are all found in e-mail address, name or company; case and accents do not matter. One or two letters have to begin a word; `#beta` finds the tag. Of one or two characters that are neither letters nor digits nothing is found, so they alone are refused. */
  readonly q?: string | undefined;
  /** A stage, `unsubscribed` or `bounced`. */
  readonly status?: 'new' | 'contacted' | 'qualified' | 'customer' | 'lost' | 'unsubscribed' | 'bounced' | undefined;
  /** How they became known. */
  readonly source?: 'user' | 'registration' | 'invite' | 'client_request' | 'import' | 'manual' | undefined;
  /** An event they registered for. */
  readonly event_slug?: string | undefined;
  /** The id of the responsible user, or `none`. */
  readonly owner?: string | undefined;
  /** Their kind of client, which an import may name as it likes, or `none`. */
  readonly client_type?: string | undefined;
  /** The id of the plan their account is on, or `none`. */
  readonly plan_tier?: string | undefined;
  /** Consent to news by mail. `given`: confirmed by the owner of the address. `none`: everybody else. `claimed`: of those, the people with consent on a form who have not answered the confirmation mail. */
  readonly consent?: 'given' | 'claimed' | 'none' | undefined;
}

export interface PeopleQuery {
  /** Words that are all found in e-mail address, name or company; case and accents do not matter. One or two letters have to begin a word; `#beta` finds the tag. Of one or two characters that are neither letters nor digits nothing is found, so they alone are refused. */
  readonly q?: string | undefined;
  /** A stage, `unsubscribed` or `bounced`. */
  readonly status?: 'new' | 'contacted' | 'qualified' | 'customer' | 'lost' | 'unsubscribed' | 'bounced' | undefined;
  /** How they became known. */
  readonly source?: 'user' | 'registration' | 'invite' | 'client_request' | 'import' | 'manual' | undefined;
  /** An event they registered for. */
  readonly event_slug?: string | undefined;
  /** The id of the responsible user, or `none`. */
  readonly owner?: string | undefined;
  /** Their kind of client, which an import may name as it likes, or `none`. */
  readonly client_type?: string | undefined;
  /** The id of the plan their account is on, or `none`. */
  readonly plan_tier?: string | undefined;
  /** Consent to news by mail. `given`: confirmed by the owner of the address. `none`: everybody else. `claimed`: of those, the people with consent on a form who have not answered the confirmation mail. */
  readonly consent?: 'given' | 'claimed' | 'none' | undefined;
  /** How many at most. */
  readonly limit?: number | undefined;
  /** How many to skip. */
  readonly offset?: number | undefined;
}

export interface PlanInvoiceQuery {
  /** False: those of the payment sandbox, where this gateway has no payment provider. Default: the mode of the API key that asks; live for sessions. */
  readonly livemode?: boolean | undefined;
  /** How many at most. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
}

export interface PlanPaymentQuery {
  /** False: those of the payment sandbox, where this gateway has no payment provider. Default: the mode of the API key that asks; live for sessions. */
  readonly livemode?: boolean | undefined;
  /** How many at most. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
}

export interface ProjectQuery {
  /** Only the project with this id of yours. */
  readonly external_id?: string | undefined;
  /** How many at most. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
}

export interface ReceiptQuery {
  readonly month?: string | undefined;
  /** Only receipts of this kind. */
  readonly kind?: 'usage' | 'batch_line' | 'media_job' | 'refund' | 'correction' | undefined;
  /** Only of requests that this model answered. */
  readonly model?: string | undefined;
  /** Only of requests of this agent run. */
  readonly run_id?: string | undefined;
  /** Only of requests of this API key. */
  readonly key_id?: string | undefined;
  /** Only of requests that ended so; `refunded`: receipts of refunds. */
  readonly outcome?: 'completed' | 'cancelled' | 'abandoned' | 'cut' | 'failed' | 'cached' | 'refunded' | undefined;
  /** Only of requests for this end user. */
  readonly end_user?: string | undefined;
  /** Only of requests that cost so much or more. */
  readonly min_cost_usd?: string | undefined;
  /** Only of requests that cost so much or less. */
  readonly max_cost_usd?: string | undefined;
  /** Only of requests that started at this time or later. */
  readonly from?: string | undefined;
  /** Only of requests that started before this time. */
  readonly to?: string | undefined;
  /** Live or test mode. Default: the mode of the API key that asks; live for sessions. */
  readonly livemode?: boolean | undefined;
  /** Only receipts that are in the log after this entry, in the order of the log: begin with the size of the checkpoint less one, go on with the `log_index` of the last. A receipt is in the log seconds after its answer. */
  readonly logged_after?: number | undefined;
  /** How many at most. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
}

export interface ReceiptConsistencyQuery {
  /** Size of the older checkpoint. */
  readonly from: number;
  /** Size of the newer one. */
  readonly to: number;
}

export interface ReceiptDeclarationQuery {
  /** Only declarations of this kind. */
  readonly kind?: 'price' | 'key' | 'key_retired' | 'policy' | undefined;
  /** How many at most. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
}

export interface RunGetQuery {
  /** Live or test mode. Default: the mode of the API key that asks; live for sessions. */
  readonly livemode?: boolean | undefined;
  /** How many at most. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
}

export interface RunCloseQuery {
  /** Live or test mode. Default: the mode of the API key that asks; live for sessions. */
  readonly livemode?: boolean | undefined;
}

export interface UsageExportQuery {
  /** First day, in the account’s time zone. Default: the first of the current month. */
  readonly from?: string | undefined;
  /** Last day. Default: today. */
  readonly to?: string | undefined;
  /** One or two of project,member,key,model,provider,tag,end_user,run,outcome, by a comma. */
  readonly group_by?: string | undefined;
  /** Default: `day` without `group_by`. */
  readonly per?: 'hour' | 'day' | undefined;
  /** Live or test mode. Default: the mode of the API key that asks; live for sessions. */
  readonly livemode?: boolean | undefined;
  readonly model?: string | undefined;
  readonly key_id?: string | undefined;
  readonly run_id?: string | undefined;
  /** `csv`: a row for each group, with the columns of `GET /v1/usage`. `focus`: a FOCUS 1.2 dataset, a row for each meter of requests that are charged alike, in days or hours of UTC; of at most 31 days, and without `group_by`. */
  readonly format?: 'csv' | 'focus' | undefined;
}

export interface UsageExportOfAllQuery {
  /** First day, in the account’s time zone. Default: the first of the current month. */
  readonly from?: string | undefined;
  /** Last day. Default: today. */
  readonly to?: string | undefined;
  /** One or two of account,project,member,key,model,provider,tag,end_user,run,outcome, by a comma. */
  readonly group_by?: string | undefined;
  /** Default: `day` without `group_by`. */
  readonly per?: 'hour' | 'day' | undefined;
  /** Live or test mode. Default: the mode of the API key that asks; live for sessions. */
  readonly livemode?: boolean | undefined;
  readonly model?: string | undefined;
  readonly key_id?: string | undefined;
  readonly run_id?: string | undefined;
  /** Of this account alone, in its time zone; otherwise days are UTC. */
  readonly account_id?: string | undefined;
  /** `csv`: a row for each group, with the columns of `GET /v1/usage`. `focus`: a FOCUS 1.2 dataset, a row for each meter of requests that are charged alike, in days or hours of UTC; of at most 31 days, and without `group_by`. */
  readonly format?: 'csv' | 'focus' | undefined;
}

export interface UserQuery {
  /** Only who has this role. */
  readonly role?: Role | undefined;
  /** Only whose address this is, upper or lower case. */
  readonly email?: string | undefined;
  /** How many at most. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
}

export interface VideoQuery {
  /** Id of the last video of the page before. */
  readonly after?: string | undefined;
  /** How many at most. */
  readonly limit?: number | undefined;
  /** Oldest or newest first. */
  readonly order?: 'asc' | 'desc' | undefined;
}

export interface WebhookQuery {
  /** Whose. */
  readonly owner?: WebhookOwner | undefined;
  /** How many at most. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
}

export interface WebhookDeliverieQuery {
  /** Only deliveries with this status. */
  readonly status?: 'pending' | 'delivered' | 'failed' | undefined;
  /** How many at most. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
}

export interface WebhookEventQuery {
  /** Whose. */
  readonly owner?: WebhookOwner | undefined;
  /** Only events of this type. */
  readonly type?: WebhookEventName | undefined;
  /** Only events after this one, the oldest first. */
  readonly after_sequence?: number | undefined;
  /** With `after_sequence`: how long to wait for an event. */
  readonly wait_seconds?: number | undefined;
  /** How many at most. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
}

/** `tallygate.accounts`: Accounts as administrators see them, and the plans that they give. */
export class Accounts extends Resource {
  /** List accounts. For administrators: all accounts, or that of an e-mail address. */
  list(query?: AccountQuery, options?: CallOptions): PagedCall<AccountListResponse, AccountResponse> {
    return this.transport.pages({ path: '/v1/admin/accounts', query: { ...query } }, options);
  }

  /** One account. For administrators. */
  get(accountId: string, options?: CallOptions): Call<AccountResponse> {
    return this.transport.json({ method: 'GET', path: `/v1/admin/accounts/${pathStep(accountId)}` }, options);
  }

  /** Give an account a plan. For administrators: any plan, sold or not, without a payment. In effect on every gateway within a second. It takes precedence over a running subscription, which is still billed; a plan that is bought later stands before it. */
  setPlan(accountId: string, request: AccountPlanRequest, options?: CallOptions): Call<AccountResponse> {
    return this.transport.json({ method: 'PUT', path: `/v1/admin/accounts/${pathStep(accountId)}/plan`, body: request }, options);
  }

  /** Reserve capacity for an account. For administrators: what an account may use at the address for dedicated traffic (`ENTERPRISE_BASE_URL`), in place of the rate limits of its plan there. The concurrency is reserved on every gateway, used or not. In effect on every gateway within a second. */
  setDedicatedCapacity(accountId: string, request: DedicatedCapacityRequest, options?: CallOptions): Call<AccountResponse> {
    return this.transport.json({ method: 'PUT', path: `/v1/admin/accounts/${pathStep(accountId)}/dedicated-capacity`, body: request }, options);
  }
}

/** `tallygate.anchors`: Signed receipts and the public keys that verify them. */
export class Anchors extends Resource {
  /** List anchors of the log. Public. The states of the receipts’ log that are on public chains, or on their way there, the newest first. */
  list(query?: AnchorQuery, options?: CallOptions): PagedCall<AnchorListResponse, AnchorResponse> {
    return this.transport.pages({ path: '/v1/anchors', query: { ...query } }, options);
  }

  /** Get an anchor of the log. Public. */
  get(anchorId: string, options?: CallOptions): Call<AnchorResponse> {
    return this.transport.json({ method: 'GET', path: `/v1/anchors/${pathStep(anchorId)}` }, options);
  }

  /** List timestamps of the log. Public. The states of the receipts’ log that time-stamping authorities have signed (RFC 3161), the newest first. */
  timestamps(query?: PageQuery, options?: CallOptions): PagedCall<LogTimestampList, LogTimestamp> {
    return this.transport.pages({ path: '/v1/log/timestamps', query: { ...query } }, options);
  }

  /** Get the timestamp of a receipt. Public. The first timestamp of a state of the log that has the receipt, with the receipt’s place in it: kept beside the receipt, it shows offline since when the receipt exists. A 404 until such a state was stamped. */
  timestampOf(receiptId: string, options?: CallOptions): Call<ReceiptTimestamp> {
    return this.transport.json({ method: 'GET', path: `/v1/receipts/${pathStep(receiptId)}/timestamp` }, options);
  }
}

/** `tallygate.auditLog`: Who changed what, when and from where. */
export class AuditLog extends Resource {
  /** Who changed what in the account. Every change to the caller’s own account and its keys, newest first. An API key is not told the IP addresses; a session is. */
  list(query?: AuditLogQuery, options?: CallOptions): PagedCall<AuditLogResponse, AuditLogEntry> {
    return this.transport.pages({ path: '/v1/audit-log', query: { ...query } }, options);
  }

  /** Who changed what, in all accounts. For administrators, logged in: of every account, or of the one that `account_id` names. */
  listAll(query?: AuditLogListAllQuery, options?: CallOptions): PagedCall<AuditLogResponse, AuditLogEntry> {
    return this.transport.pages({ path: '/v1/admin/audit-log', query: { ...query } }, options);
  }
}

/** `tallygate.batches`: Many requests in one file, answered within a day at half the price. */
export class Batches extends Resource {
  /** List batches. The account’s batches, newest first: with a key those of its mode. */
  list(query?: BatchQuery, options?: CallOptions): PagedCall<BatchList, Batch> {
    return this.transport.pages({ path: '/v1/batches', query: { ...query } }, options);
  }

  /** Get a batch. How far it is, and where its answers are. */
  get(batchId: string, options?: CallOptions): Call<Batch> {
    return this.transport.json({ method: 'GET', path: `/v1/batches/${pathStep(batchId)}` }, options);
  }

  /** Cancel a batch. No further line begins, the running ones end, and what is answered is in the output file. Cancelling it again changes nothing. */
  cancel(batchId: string, options?: CallOptions): Call<Batch> {
    return this.transport.json({ method: 'POST', path: `/v1/batches/${pathStep(batchId)}/cancel` }, options);
  }
}

/** `tallygate.budgets`: Monthly caps of API keys: what is spent and held, who changed them, when they were reached. */
export class Budgets extends Resource {
  /** Budgets of all keys. What every key has spent this month, and what is left. Revoked keys are included. */
  summary(options?: CallOptions): Call<KeyBudgetSummaryResponse> {
    return this.transport.json({ method: 'GET', path: '/v1/keys/budget-summary' }, options);
  }

  /** Budget of a key. What the key has spent this month (UTC), what running requests hold, and what is left. */
  get(keyId: string, options?: CallOptions): Call<KeyBudgetStatusResponse> {
    return this.transport.json({ method: 'GET', path: `/v1/keys/${pathStep(keyId)}/budget` }, options);
  }

  /** Set, change or clear the budget of a key. In effect for new requests at once, on other instances within a second; the cap may be below what is spent. Running requests keep what they hold. */
  set(keyId: string, request: KeyBudgetUpdateRequest, options?: CallOptions): Call<KeyBudgetStatusResponse> {
    return this.transport.json({ method: 'PATCH', path: `/v1/keys/${pathStep(keyId)}/budget`, body: request }, options);
  }

  /** Changes of a key’s budget. Who changed the cap or the thresholds, and the values before and after. */
  history(keyId: string, query?: PageQuery, options?: CallOptions): PagedCall<KeyBudgetHistoryResponse, KeyBudgetChange> {
    return this.transport.pages({ path: `/v1/keys/${pathStep(keyId)}/budget/history`, query: { ...query } }, options);
  }

  /** Alerts of a key’s budget. The thresholds that were reached, and the refusals. */
  alerts(keyId: string, query?: PageQuery, options?: CallOptions): PagedCall<KeyBudgetAlertHistoryResponse, KeyBudgetAlert> {
    return this.transport.pages({ path: `/v1/keys/${pathStep(keyId)}/budget/alerts`, query: { ...query } }, options);
  }
}

/** `tallygate.chat.completions`: OpenAI-compatible endpoints: held before the model runs, settled after, with a signed receipt. */
export class ChatCompletions extends Resource {
  /** Get a stored chat completion. One that was made with `store: true` in the last 30 days. */
  get(completionId: string, options?: CallOptions): Call<ChatCompletion> {
    return this.transport.json({ method: 'GET', path: `/v1/chat/completions/${pathStep(completionId)}` }, options);
  }

  /** Update a stored chat completion. Its metadata, all of it; nothing else can be changed. */
  update(completionId: string, request: UpdateChatCompletionRequest, options?: CallOptions): Call<ChatCompletion> {
    return this.transport.json({ method: 'POST', path: `/v1/chat/completions/${pathStep(completionId)}`, body: request }, options);
  }

  /** Delete a stored chat completion. With the messages it answers, permanently. */
  delete(completionId: string, options?: CallOptions): Call<ChatCompletionDeleted> {
    return this.transport.json({ method: 'DELETE', path: `/v1/chat/completions/${pathStep(completionId)}` }, options);
  }

  /** List the messages of a stored chat completion. What it answers, in order. */
  messages(completionId: string, query?: ChatCompletionMessageQuery, options?: CallOptions): PagedCall<ChatCompletionMessageList, ChatCompletionMessage> {
    return this.transport.pages({ path: `/v1/chat/completions/${pathStep(completionId)}/messages`, query: { ...query } }, options);
  }
}

/** `tallygate.clientRequests`: What clients ask of the team, from the public form to its end. */
export class ClientRequests extends Resource {
  /** Send a request to the team. For a contact form: needs no credential. The sender and the team get a mail. Rate-limited for each address: too many are a 429. */
  create(request: ClientRequestCreateRequest, options?: CallOptions): Call<ClientRequestReceivedResponse> {
    return this.transport.json({ method: 'POST', path: '/v1/client-requests', body: request }, options);
  }

  /** List requests of clients. Newest first. An unknown `status` or `type` returns an empty list. */
  list(query?: ClientRequestQuery, options?: CallOptions): PagedCall<MarketingClientRequestListResponse, MarketingClientRequestRecord> {
    return this.transport.pages({ path: '/v1/marketing/client-requests', query: { ...query } }, options);
  }

  /** Update a request of a client. Status, type, owner, a note. An open request (`new`, `in_progress`, `waiting`) may go to any status but back to `new`; one that is closed (`done`, `declined`) can only be reopened, as `in_progress`. Any other step is a 409. */
  update(requestId: string, request: MarketingClientRequestUpdateRequest, options?: CallOptions): Call<MarketingClientRequestRecord> {
    return this.transport.json({ method: 'PATCH', path: `/v1/marketing/client-requests/${pathStep(requestId)}`, body: request }, options);
  }
}

/** `tallygate.content`: Posts, pages and other texts of the team: drafts, and what everybody may read. */
export class Content extends Resource {
  /** List content, drafts included. Last changed first. An unknown `type` returns an empty list. */
  list(query?: ContentQuery, options?: CallOptions): PagedCall<MarketingContentListResponse, MarketingContentRecord> {
    return this.transport.pages({ path: '/v1/marketing/content', query: { ...query } }, options);
  }

  /** Write a draft. The answer is the draft, which is not public until it is published. A slug that is in use is a 409. */
  create(request: MarketingContentCreateRequest, options?: CallOptions): Call<MarketingContentRecord> {
    return this.transport.json({ method: 'POST', path: '/v1/marketing/content', body: request, isOnce: true }, options);
  }

  /** Get content, drafts included. One piece of content with its version, from which changes are made. */
  get(contentId: string, options?: CallOptions): Call<MarketingContentRecord> {
    return this.transport.json({ method: 'GET', path: `/v1/marketing/content/${pathStep(contentId)}` }, options);
  }

  /** Change content. Based on the `version` that is sent: a change by another user in between is a 409. Published content changes in public at once; its slug is fixed. */
  update(contentId: string, request: MarketingContentUpdateRequest, options?: CallOptions): Call<MarketingContentRecord> {
    return this.transport.json({ method: 'PATCH', path: `/v1/marketing/content/${pathStep(contentId)}`, body: request }, options);
  }

  /** Publish content. A draft becomes public. Content that is already published is a 409. */
  publish(contentId: string, options?: CallOptions): Call<MarketingContentRecord> {
    return this.transport.json({ method: 'POST', path: `/v1/marketing/content/${pathStep(contentId)}/publish`, isOnce: true }, options);
  }

  /** Unpublish content. It is a draft again, and its public address a 404 when caches have expired (half a minute). A draft is a 409. */
  unpublish(contentId: string, options?: CallOptions): Call<MarketingContentRecord> {
    return this.transport.json({ method: 'POST', path: `/v1/marketing/content/${pathStep(contentId)}/unpublish`, isOnce: true }, options);
  }

  /** List published content. Needs no credential. The newest comes first. With an `ETag`, and cacheable for half a minute. */
  listPublished(query?: ContentListPublishedQuery, options?: CallOptions): PagedCall<PublishedContentListResponse, PublishedContentItem> {
    return this.transport.pages({ path: '/v1/content', query: { ...query } }, options);
  }

  /** Read published content. Needs no credential. A draft is answered exactly like an unknown slug. With an `ETag`, and cacheable for half a minute. */
  read(slug: string, options?: CallOptions): Call<PublishedContentResponse> {
    return this.transport.json({ method: 'GET', path: `/v1/content/${pathStep(slug)}` }, options);
  }
}

/** `tallygate.deployments`: The catalogue: what each model can do and what it costs. */
export class Deployments extends Resource {
  /** How the providers are doing. For administrators: state, failures and latency of every deployment, as the process that answers sees them. An opening is announced to all gateways; counts and latency are per gateway. */
  list(query?: PageQuery, options?: CallOptions): PagedCall<DeploymentHealthList, DeploymentHealth> {
    return this.transport.pages({ path: '/v1/admin/deployments', query: { ...query } }, options);
  }
}

/** `tallygate.deviceLogins`: Users, their profile and their sessions. */
export class DeviceLogins extends Resource {
  /** Begin a login that is approved in a browser. The device authorization grant (RFC 8628), for programs without a browser. Show `user_code` and `verification_uri` to the person, then ask at `POST /v1/users/login/device/token` every `interval` seconds. Both codes live ten minutes and work once. */
  begin(request: DeviceLoginRequest, options?: CallOptions): Call<DeviceLoginResponse> {
    return this.transport.json({ method: 'POST', path: '/v1/users/login/device', body: request }, options);
  }

  /** Who asks with a code. What a person should see before they decide. A code that is mistyped, decided, used or expired is 404, and guessing is slowed down. */
  find(request: DeviceDecisionRequest, options?: CallOptions): Call<PendingDeviceLogin> {
    return this.transport.json({ method: 'POST', path: '/v1/users/me/device-logins/find', body: request }, options);
  }

  /** Sign a program in. Gives the program that shows this code a session of the caller. Takes a session that was opened with the password, and the second factor where one is on, within the last fifteen minutes: a stolen session must not be able to make others. Of two approvals one counts. */
  approve(request: DeviceDecisionRequest, options?: CallOptions): Call<undefined> {
    return this.transport.empty({ method: 'POST', path: '/v1/users/me/device-logins/approve', body: request }, options);
  }

  /** Turn a program away. The program that shows this code gets `access_denied`. */
  deny(request: DeviceDecisionRequest, options?: CallOptions): Call<undefined> {
    return this.transport.empty({ method: 'POST', path: '/v1/users/me/device-logins/deny', body: request }, options);
  }
}

/** `tallygate.directory`: The people of an account: invitations, roles, and who leaves. */
export class Directory extends Resource {
  /** List groups of the directory. The groups that the company’s directory has sent by SCIM, with the role that each gives. */
  groups(query?: PageQuery, options?: CallOptions): PagedCall<DirectoryGroupList, DirectoryGroup> {
    return this.transport.pages({ path: '/v1/directory/groups', query: { ...query } }, options);
  }

  /** Give a group of the directory a role and projects. In effect for its members at once. Of several groups the one with the most rights counts; owners keep their role. Who leaves the last group that gives a project leaves the project, and their API keys of it are revoked. */
  updateGroup(groupId: string, request: UpdateDirectoryGroupRequest, options?: CallOptions): Call<DirectoryGroup> {
    return this.transport.json({ method: 'PATCH', path: `/v1/directory/groups/${pathStep(groupId)}`, body: request }, options);
  }
}

/** `tallygate.discovery`: What the service says about itself. */
export class Discovery extends Resource {
  /** Service status. Names the service and its version, and says where its documentation is. */
  status(options?: CallOptions): Call<ServiceStatus> {
    return this.transport.json({ method: 'GET', path: '/' }, options);
  }

  /** The process is alive. Answers as long as the process can; it says nothing about what the process depends on. */
  live(options?: CallOptions): Call<Health> {
    return this.transport.json({ method: 'GET', path: '/health/live' }, options);
  }

  /** The instance takes requests. Answers 503 while the instance drains or cannot reach what it needs. */
  ready(options?: CallOptions): Call<Health> {
    return this.transport.json({ method: 'GET', path: '/health/ready' }, options);
  }

  /** Agent discovery. Protocols, credentials, safeguards and models with prices, for programs that find the gateway by themselves. */
  agent(options?: CallOptions): Call<AgentDocument> {
    return this.transport.json({ method: 'GET', path: '/.well-known/agent.json' }, options);
  }

  /** Agent card. The same in the form of A2A 1.0. The gateway does not speak A2A itself: the interfaces it names are MCP and OpenAI’s API. */
  agentCard(options?: CallOptions): Call<AgentCard> {
    return this.transport.json({ method: 'GET', path: '/.well-known/agent-card.json' }, options);
  }

  /** Index of the documentation for language models. In the format of llmstxt.org: what this is, and links to everything else. */
  llms(options?: CallOptions): Call<Response> {
    return this.transport.download({ method: 'GET', path: '/llms.txt' }, options);
  }

  /** The whole documentation in one text. Guides, endpoints, errors and prices, one after the other. */
  llmsFull(options?: CallOptions): Call<Response> {
    return this.transport.download({ method: 'GET', path: '/llms-full.txt' }, options);
  }

  /** What an agent has to know. How to call, what it costs, which errors to repeat and which not. */
  agentsGuide(options?: CallOptions): Call<Response> {
    return this.transport.download({ method: 'GET', path: '/agents.md' }, options);
  }

  /** The OpenAPI document as YAML. The same as `/openapi.json`. */
  openApiYaml(options?: CallOptions): Call<Response> {
    return this.transport.download({ method: 'GET', path: '/openapi.yaml' }, options);
  }

  /** Security contact, for vulnerability reports. RFC 9116. */
  securityText(options?: CallOptions): Call<Response> {
    return this.transport.download({ method: 'GET', path: '/.well-known/security.txt' }, options);
  }
}

/** `tallygate.emails`: Mails to the people the service knows: sending, previewing, progress, and who got what. */
export class Emails extends Resource {
  /** Send a mail to people. With its own text, or with that of a stored template (`template_id`; a 409 once it is archived). The mail goes out in the background. A person who unsubscribed, or whose address was refused before, gets nothing, also when that happens after this request. Every mail says how to unsubscribe, in one click. */
  send(request: MarketingEmailSendRequest, options?: CallOptions): Call<MarketingEmailSendResponse> {
    return this.transport.json({ method: 'POST', path: '/v1/marketing/emails/send', body: request, isOnce: true }, options);
  }

  /** List marketing mails. Newest first, each with its progress. */
  list(query?: PageQuery, options?: CallOptions): PagedCall<MarketingEmailListResponse, MarketingEmailRecord> {
    return this.transport.pages({ path: '/v1/marketing/emails', query: { ...query } }, options);
  }

  /** Get the progress of a mail. One mail with its progress. */
  get(emailId: string, options?: CallOptions): Call<MarketingEmailRecord> {
    return this.transport.json({ method: 'GET', path: `/v1/marketing/emails/${pathStep(emailId)}` }, options);
  }

  /** List the recipients of a mail. Every recipient, with the outcome. */
  recipients(emailId: string, query?: EmailRecipientQuery, options?: CallOptions): PagedCall<MarketingEmailRecipientListResponse, MarketingEmailRecipient> {
    return this.transport.pages({ path: `/v1/marketing/emails/${pathStep(emailId)}/recipients`, query: { ...query } }, options);
  }

  /** Cancel a mail. Recipients in the queue do not get it. Sent mails cannot be recalled. */
  cancel(emailId: string, options?: CallOptions): Call<MarketingEmailRecord> {
    return this.transport.json({ method: 'POST', path: `/v1/marketing/emails/${pathStep(emailId)}/cancel`, isOnce: true }, options);
  }
}

/** `tallygate.emails.templates`: Mails to the people the service knows: sending, previewing, progress, and who got what. */
export class EmailTemplates extends Resource {
  /** Store a template. It is sent by `template_id`. To preview it, create a mail with `mode: "preview"`. A name that is in use is a 409. */
  create(request: MarketingEmailTemplateCreateRequest, options?: CallOptions): Call<MarketingEmailTemplateRecord> {
    return this.transport.json({ method: 'POST', path: '/v1/marketing/email-templates', body: request, isOnce: true }, options);
  }

  /** List templates. Last changed first. */
  list(query?: EmailTemplateQuery, options?: CallOptions): PagedCall<MarketingEmailTemplateListResponse, MarketingEmailTemplateRecord> {
    return this.transport.pages({ path: '/v1/marketing/email-templates', query: { ...query } }, options);
  }

  /** Show a template. Archived ones too. */
  get(templateId: string, options?: CallOptions): Call<MarketingEmailTemplateRecord> {
    return this.transport.json({ method: 'GET', path: `/v1/marketing/email-templates/${pathStep(templateId)}` }, options);
  }

  /** Change a template. Existing mails do not change. An archived template is a 409. */
  update(templateId: string, request: MarketingEmailTemplateUpdateRequest, options?: CallOptions): Call<MarketingEmailTemplateRecord> {
    return this.transport.json({ method: 'PATCH', path: `/v1/marketing/email-templates/${pathStep(templateId)}`, body: request }, options);
  }

  /** Archive a template. No new mail can use it, and its name can be used again. Queued mails are still sent. Idempotent. */
  archive(templateId: string, options?: CallOptions): Call<MarketingEmailTemplateRecord> {
    return this.transport.json({ method: 'POST', path: `/v1/marketing/email-templates/${pathStep(templateId)}/archive`, isOnce: true }, options);
  }
}

/** `tallygate.events`: Events of the site: what anybody may read of them, their registrations, and what administrators do. */
export class Events extends Resource {
  /** The Vibethon. Always available, in every state. May be cached for half a minute; use the ETag to revalidate. With `Accept: application/ld+json` or `text/calendar` the answer is that of `/v1/events/vibethon.jsonld` and `.ics`. */
  vibethon(options?: CallOptions): Call<VibethonEventResponse> {
    return this.transport.json({ method: 'GET', path: '/v1/events/vibethon' }, options);
  }

  /** Cancel one’s own registration. With the token of the link in a mail about it; of the Vibethon and of every other event. The place goes to the person who has waited longest, at once, and both get a mail. Repeating the request changes nothing. A place that was paid for has to be refunded instead (409). */
  cancelRegistration(token: string, options?: CallOptions): Call<VibethonRegistrationResponse> {
    return this.transport.json({ method: 'POST', path: '/v1/events/cancel-registration', body: { token } }, options);
  }

  /** List all registrations. For administrators: of all events, the newest first. All of them, unless `limit` is set. */
  registrations(query?: EventRegistrationQuery, options?: CallOptions): Call<VibethonRegistrationResponse[]> {
    return this.transport.json({ method: 'GET', path: '/v1/events/admin/registrations', query: { ...query } }, options);
  }

  /** Change a registration. For administrators. A free place goes to the person who has waited longest, at once. */
  updateRegistration(registrationId: string, request: VibethonRegistrationAdminUpdateRequest, options?: CallOptions): Call<VibethonRegistrationResponse> {
    return this.transport.json({ method: 'PATCH', path: `/v1/events/admin/registrations/${pathStep(registrationId)}`, body: request }, options);
  }

  /** Register for an event. Of a published event; the rules are those of the Vibethon. */
  register(slug: string, request: VibethonRegistrationRequest, options?: CallOptions): Call<VibethonRegistrationResponse> {
    return this.transport.json({ method: 'POST', path: `/v1/events/${pathStep(slug)}/register`, body: request }, options);
  }

  /** Get the status of a registration. Of a published event, by e-mail address. Requests for many addresses are rate limited. */
  registrationStatus(slug: string, email: string, options?: CallOptions): Call<VibethonRegistrationStatusResponse> {
    return this.transport.json({ method: 'GET', path: `/v1/events/${pathStep(slug)}/registration-status`, query: { email } }, options);
  }

  /** List published events. All published events: running and future ones first, the next one on top, then past ones, the most recent first. May be cached for half a minute; use the ETag to revalidate. */
  list(options?: CallOptions): Call<SiteEventResponse[]> {
    return this.transport.json({ method: 'GET', path: '/v1/events' }, options);
  }

  /** List all events, with drafts and archived ones. For administrators: every event, the next one first. */
  listAll(options?: CallOptions): Call<SiteEventResponse[]> {
    return this.transport.json({ method: 'GET', path: '/v1/events/admin' }, options);
  }

  /** Create an event. For administrators. It begins as a draft. */
  create(request: SiteEventCreateRequest, options?: CallOptions): Call<SiteEventResponse> {
    return this.transport.json({ method: 'POST', path: '/v1/events/admin', body: request, isOnce: true }, options);
  }

  /** Change an event. For administrators. The slug is fixed once the event was published; an archived event cannot be changed. */
  update(eventId: string, request: SiteEventUpdateRequest, options?: CallOptions): Call<SiteEventResponse> {
    return this.transport.json({ method: 'PATCH', path: `/v1/events/admin/${pathStep(eventId)}`, body: request }, options);
  }

  /** Publish an event. For administrators: a draft becomes public. */
  publish(eventId: string, options?: CallOptions): Call<SiteEventResponse> {
    return this.transport.json({ method: 'POST', path: `/v1/events/admin/${pathStep(eventId)}/publish`, isOnce: true }, options);
  }

  /** Archive an event. For administrators: a draft or a published event is archived permanently. Places that were held for payment are released and cannot be paid any more; other registrations do not change. */
  archive(eventId: string, options?: CallOptions): Call<SiteEventResponse> {
    return this.transport.json({ method: 'POST', path: `/v1/events/admin/${pathStep(eventId)}/archive`, isOnce: true }, options);
  }

  /** Get an event as a calendar entry. A published event as iCalendar (RFC 5545). */
  calendar(slug: string, options?: CallOptions): Call<Response> {
    return this.transport.download({ method: 'GET', path: `/v1/events/${pathStep(slug)}.ics` }, options);
  }

  /** Get an event as JSON-LD. A published event as JSON-LD (schema.org Event), to be put into a page. */
  jsonLd(slug: string, options?: CallOptions): Call<SiteEventJsonLd> {
    return this.transport.json({ method: 'GET', path: `/v1/events/${pathStep(slug)}.jsonld` }, options);
  }

  /** Get an event. A published event; a draft is answered like an unknown event. With `Accept: application/ld+json` or `text/calendar` the answer is that of `…/{slug}.jsonld` or `…/{slug}.ics`. */
  get(slug: string, options?: CallOptions): Call<SiteEventResponse> {
    return this.transport.json({ method: 'GET', path: `/v1/events/${pathStep(slug)}` }, options);
  }

  /** Refund a place. For administrators: the whole payment is refunded to its source, the registration is canceled, and the place goes to the person who has waited longest. */
  refundRegistration(registrationId: string, reason: string, options?: CallOptions): Call<VibethonRegistrationResponse> {
    return this.transport.json({ method: 'POST', path: `/v1/events/admin/registrations/${pathStep(registrationId)}/refund`, body: { reason }, isOnce: true }, options);
  }
}

/** `tallygate.files`: Stored files, uploaded whole or in parts: input of batches and of requests, and what batches put out. */
export class Files extends Resource {
  /** List files. The account’s files, newest first: with a key those of its mode. */
  list(query?: FileQuery, options?: CallOptions): PagedCall<FileList, FileObject> {
    return this.transport.pages({ path: '/v1/files', query: { ...query } }, options);
  }

  /** Get a file. What is known of a file; its bytes are under `/content`. */
  get(fileId: string, options?: CallOptions): Call<FileObject> {
    return this.transport.json({ method: 'GET', path: `/v1/files/${pathStep(fileId)}` }, options);
  }

  /** Delete a file. The file and its bytes are deleted permanently, and its storage is free again. */
  delete(fileId: string, options?: CallOptions): Call<FileDeleted> {
    return this.transport.json({ method: 'DELETE', path: `/v1/files/${pathStep(fileId)}` }, options);
  }

  /** Download a file. The bytes of the file, or the part of them that a `Range` of one part asks for. */
  content(fileId: string, options?: CallOptions): Call<Response> {
    return this.transport.download({ method: 'GET', path: `/v1/files/${pathStep(fileId)}/content` }, options);
  }
}

/** `tallygate.identity`: Users, their profile and their sessions. */
export class Identity extends Resource {
  /** Log in with e-mail and password. Answers with the user and a session, or, where the user has a second factor, with a challenge for `POST /v1/users/login/mfa`. */
  login(request: LoginRequest, options?: CallOptions): Call<UserResponse | LoginMfaRequiredResponse> {
    return this.transport.json({ method: 'POST', path: '/v1/users/login', body: request }, options);
  }

  /** End the session. Revokes the session token that the request carries. */
  logout(options?: CallOptions): Call<undefined> {
    return this.transport.empty({ method: 'POST', path: '/v1/users/logout' }, options);
  }

  /** The caller’s own profile. The user behind the session, or the owner of the API key. */
  me(options?: CallOptions): Call<UserResponse> {
    return this.transport.json({ method: 'GET', path: '/v1/users/me' }, options);
  }

  /** Change the profile. A new name at once. A new e-mail address needs the password, and takes effect with the link that is sent to it; the answer is the same when the address is somebody else’s. */
  update(request: UserUpdateRequest, options?: CallOptions): Call<UserResponse> {
    return this.transport.json({ method: 'PATCH', path: '/v1/users/me', body: request }, options);
  }

  /** Change the password. Ends every other session of the user, and every reset link that was sent before. */
  changePassword(request: PasswordChangeRequest, options?: CallOptions): Call<undefined> {
    return this.transport.empty({ method: 'POST', path: '/v1/users/me/password', body: request }, options);
  }

  /** Confirm an e-mail address. Takes the token of the mail, once, within 24 hours. It also completes a change of address. */
  verifyEmail(token: string, options?: CallOptions): Call<undefined> {
    return this.transport.empty({ method: 'POST', path: '/v1/users/verify-email', body: { token } }, options);
  }

  /** Send the confirmation mail again. Always 202, after the same work for every address. A mail goes out at most once a minute. */
  resendVerification(email: string, options?: CallOptions): Call<Accepted> {
    return this.transport.json({ method: 'POST', path: '/v1/users/verify-email/resend', body: { email } }, options);
  }

  /** Ask for a new password. Always 202, after the same work for every address. A mail goes out at most once a minute. */
  requestPasswordReset(email: string, options?: CallOptions): Call<Accepted> {
    return this.transport.json({ method: 'POST', path: '/v1/users/password-reset', body: { email } }, options);
  }

  /** Set a new password. Takes the token of the mail, once, within an hour. Ends every session of the user; a second factor stays on and is asked for at the next login. */
  resetPassword(request: PasswordResetRequest, options?: CallOptions): Call<undefined> {
    return this.transport.empty({ method: 'POST', path: '/v1/users/password-reset/confirm', body: request }, options);
  }

  /** Close the account. Revokes every API key and session at once and frees the e-mail address. Usage, receipts and postings stay as they are. Registrations, invitations and requests under its address lose who they were within seconds; a place that nothing was paid for goes to the next person on the waitlist. It cannot be undone. The last administrator is refused, and so is an account that has other members. */
  close(request: AccountCloseRequest, options?: CallOptions): Call<undefined> {
    return this.transport.empty({ method: 'POST', path: '/v1/users/me/close', body: request }, options);
  }

  /** Complete a login with the second factor. Takes the challenge of the login and a code. The challenge lives five minutes and takes five tries; each code works once, also within its own half minute. */
  loginMfa(request: LoginMfaRequest, options?: CallOptions): Call<UserResponse> {
    return this.transport.json({ method: 'POST', path: '/v1/users/login/mfa', body: request }, options);
  }
}

/** `tallygate.invites`: Invitations to the beta: codes that give a plan for a time, or a credit. */
export class Invites extends Resource {
  /** Activate an invitation. Needs no credential. Gives the account of the address the benefits of the invitation, exactly once; an address without an account gets one, and a mail to claim it. Repeated with the same address it answers the same. Every code that does not work is refused alike; guessing is slowed down (429). */
  activate(request: BetaInviteActivateRequest, options?: CallOptions): Call<BetaInviteActivationResponse> {
    return this.transport.json({ method: 'POST', path: '/v1/beta/invite/activate', body: request }, options);
  }

  /** Invite people. For administrators. The answer comes at once; a job sends the mails, and continues after any interruption. */
  createBatch(request: MarketingInviteBatchRequest, options?: CallOptions): Call<MarketingInviteBatchResponse> {
    return this.transport.json({ method: 'POST', path: '/v1/events/admin/invite-batches', body: request, isOnce: true }, options);
  }

  /** List batches of invitations. For administrators: every batch with its progress, the newest first. */
  listBatches(query?: PageQuery, options?: CallOptions): PagedCall<MarketingInviteBatchListResponse, MarketingInviteBatchResponse> {
    return this.transport.pages({ path: '/v1/events/admin/invite-batches', query: { ...query } }, options);
  }

  /** Get the progress of a batch. For administrators: its benefits, and the counts of pending, sent and failed mails. */
  getBatch(batchId: string, options?: CallOptions): Call<MarketingInviteBatchResponse> {
    return this.transport.json({ method: 'GET', path: `/v1/events/admin/invite-batches/${pathStep(batchId)}` }, options);
  }

  /** List the invitations of a batch. For administrators: a row for each recipient, in the order in which they are mailed. */
  list(batchId: string, query?: PageQuery, options?: CallOptions): PagedCall<MarketingInviteListResponse, MarketingInviteRecord> {
    return this.transport.pages({ path: `/v1/events/admin/invite-batches/${pathStep(batchId)}/invites`, query: { ...query } }, options);
  }

  /** Revoke a batch. None of its codes can be activated any more, and mails that are pending are not sent. Activations stay. Idempotent. */
  revokeBatch(batchId: string, options?: CallOptions): Call<MarketingInviteBatchResponse> {
    return this.transport.json({ method: 'POST', path: `/v1/events/admin/invite-batches/${pathStep(batchId)}/revoke`, isOnce: true }, options);
  }

  /** Revoke one invitation. Its code cannot be activated any more. Activations stay. Idempotent. */
  revoke(batchId: string, inviteId: string, options?: CallOptions): Call<MarketingInviteRecord> {
    return this.transport.json({ method: 'POST', path: `/v1/events/admin/invite-batches/${pathStep(batchId)}/invites/${pathStep(inviteId)}/revoke`, isOnce: true }, options);
  }
}

/** `tallygate.invoices`: The bill of a month, signed and in the log, to be worked out again from its receipts. */
export class Invoices extends Resource {
  /** List invoices. The bills of the account’s months, in one mode, the newest first. Payments and what is charged to a card are in `GET /v1/plans/invoices`. */
  list(query?: InvoiceQuery, options?: CallOptions): PagedCall<InvoiceList, InvoiceListItem> {
    return this.transport.pages({ path: '/v1/invoices', query: { ...query } }, options);
  }

  /** Get the invoice of a month. What the month’s receipts come to: used, corrected, given back, covered by the plan, charged. It is issued in the first hours of the next month, and is an entry of the log. `tallygate invoices verify` checks it offline. */
  get(month: string, query?: InvoiceGetQuery, options?: CallOptions): Call<InvoiceResponse> {
    return this.transport.json({ method: 'GET', path: `/v1/invoices/${pathStep(month)}`, query: { ...query } }, options);
  }
}

/** `tallygate.keys`: API keys: create, rotate, revoke. */
export class Keys extends Resource {
  /** Create an API key. Needs a session or a management key: an API key cannot make API keys. The plain key is in the answer and nowhere else. With an `external_id` that a key has which is not revoked, the answer is that key without its secret; other settings are 409. */
  create(request: CreateKeyRequest, options?: CallOptions): Call<KeyCreatedResponse> {
    return this.transport.json({ method: 'POST', path: '/v1/keys', body: request, isOnce: true }, options);
  }

  /** List API keys. Revoked ones included, newest first. */
  list(options?: CallOptions): Call<KeyResponse[]> {
    return this.transport.json({ method: 'GET', path: '/v1/keys' }, options);
  }

  /** Get an API key. One key of the account, revoked or not. The secret is never shown again. */
  get(keyId: string, options?: CallOptions): Call<KeyResponse> {
    return this.transport.json({ method: 'GET', path: `/v1/keys/${pathStep(keyId)}` }, options);
  }

  /** Change an API key. In force here when this answers, and on every instance within a second. An API key can never give another key more than it has itself; the signing key and `require_signature` need a session. */
  update(keyId: string, request: UpdateKeyRequest, options?: CallOptions): Call<KeyResponse> {
    return this.transport.json({ method: 'PATCH', path: `/v1/keys/${pathStep(keyId)}`, body: request }, options);
  }

  /** Revoke an API key. The key stops working on every instance within a second. Revoking a revoked key changes nothing. */
  revoke(keyId: string, options?: CallOptions): Call<undefined> {
    return this.transport.empty({ method: 'DELETE', path: `/v1/keys/${pathStep(keyId)}` }, options);
  }

  /** Replace the secret of an API key. Id, name, cap and history stay. The old secret dies at once, or after `grace_seconds`. An API key that has a monthly cap or rate limits rotates only itself. */
  rotate(keyId: string, request?: RotateKeyRequest, options?: CallOptions): Call<KeyCreatedResponse> {
    return this.transport.json({ method: 'POST', path: `/v1/keys/${pathStep(keyId)}/rotate`, body: request, isOnce: true }, options);
  }
}

/** `tallygate.limits`: What may be spent, by whom and for what, and how fast. */
export class Limits extends Resource {
  /** List limits. Limits of the account, the newest first. */
  list(query?: LimitQuery, options?: CallOptions): PagedCall<SpendingLimitList, SpendingLimit> {
    return this.transport.pages({ path: '/v1/limits', query: { ...query } }, options);
  }

  /** Set a limit. Puts it in place of the limit of the same kind, subject and period, whose `external_id` stays where none is given; an `external_id` of another limit is 409. It binds every request that begins from now on, on every gateway within a second. What was spent in the period before counts; requests that are running now do not. */
  set(request: SetLimitRequest, options?: CallOptions): Call<SpendingLimit> {
    return this.transport.json({ method: 'PUT', path: '/v1/limits', body: request }, options);
  }

  /** Time zone of limits. The time zone by which the periods of limits are counted; `UTC` until another is set. */
  timeZone(options?: CallOptions): Call<TimeZone> {
    return this.transport.json({ method: 'GET', path: '/v1/limits/time-zone' }, options);
  }

  /** Set the time zone of limits. The periods that run now begin and end by it from now on; what was spent in them counts. */
  setTimeZone(request: TimeZone, options?: CallOptions): Call<TimeZone> {
    return this.transport.json({ method: 'PUT', path: '/v1/limits/time-zone', body: request }, options);
  }

  /** Get a limit and what is spent under it. For a limit of each of a kind, `subject` says whose spending is meant. */
  get(limitId: string, query?: LimitGetQuery, options?: CallOptions): Call<LimitStatus> {
    return this.transport.json({ method: 'GET', path: `/v1/limits/${pathStep(limitId)}`, query: { ...query } }, options);
  }

  /** Delete a limit. Requests that begin from now on are not bound by it, on every gateway within a second. */
  delete(limitId: string, options?: CallOptions): Call<undefined> {
    return this.transport.empty({ method: 'DELETE', path: `/v1/limits/${pathStep(limitId)}` }, options);
  }
}

/** `tallygate.live`: What was used, what it cost, and what happened to one request. */
export class Live extends Resource {
  /** What is spent and held now. Budgets of all keys, the agent runs that began last, and the newest requests. With `stream=true` the same as server-sent events: all of it at first, then what has changed, at most once a second. A stream ends when its credential does, or when the gateway stops: begin it again. */
  get(query?: LiveGetQuery, options?: CallOptions): Call<LiveFigures> {
    return this.transport.json({ method: 'GET', path: '/v1/live', query: { ...query } }, options);
  }
}

/** `tallygate.managementKeys`: Keys of programs that administer the account; they run no model. */
export class ManagementKeys extends Resource {
  /** Create a management key. For programs that administer the account, such as Terraform. It runs no model. The plain key is in the answer and nowhere else. */
  create(request: CreateManagementKeyRequest, options?: CallOptions): Call<ManagementKeyCreated> {
    return this.transport.json({ method: 'POST', path: '/v1/management-keys', body: request, isOnce: true }, options);
  }

  /** List management keys. Every management key of the account, revoked ones included, the newest first. */
  list(query?: PageQuery, options?: CallOptions): PagedCall<ManagementKeyList, ManagementKey> {
    return this.transport.pages({ path: '/v1/management-keys', query: { ...query } }, options);
  }

  /** Get a management key. One management key of the account, revoked or not. */
  get(managementKeyId: string, options?: CallOptions): Call<ManagementKey> {
    return this.transport.json({ method: 'GET', path: `/v1/management-keys/${pathStep(managementKeyId)}` }, options);
  }

  /** Replace the secret of a management key. Id, name and scopes stay. The old secret stops working at once, or after `grace_seconds`. */
  rotate(managementKeyId: string, request?: RotateKeyRequest, options?: CallOptions): Call<ManagementKeyCreated> {
    return this.transport.json({ method: 'POST', path: `/v1/management-keys/${pathStep(managementKeyId)}/rotate`, body: request, isOnce: true }, options);
  }

  /** Revoke a management key. The key stops working at once. Revoking a revoked key changes nothing. */
  revoke(managementKeyId: string, options?: CallOptions): Call<undefined> {
    return this.transport.empty({ method: 'DELETE', path: `/v1/management-keys/${pathStep(managementKeyId)}` }, options);
  }
}

/** `tallygate.marketingEvents`: Events as the marketing workspace works with them. */
export class MarketingEvents extends Resource {
  /** List events of the workspace. In every state, with the figures of their registrations, the next one first. */
  list(query?: PageQuery, options?: CallOptions): PagedCall<MarketingEventListResponse, MarketingEventRecord> {
    return this.transport.pages({ path: '/v1/marketing/events', query: { ...query } }, options);
  }

  /** Get an event of the workspace. In any state. */
  get(slug: string, options?: CallOptions): Call<MarketingEventRecord> {
    return this.transport.json({ method: 'GET', path: `/v1/marketing/events/${pathStep(slug)}` }, options);
  }

  /** List registrations of an event. The newest first. */
  registrations(slug: string, query?: PageQuery, options?: CallOptions): PagedCall<MarketingEventRegistrationListResponse, MarketingEventRegistrationRecord> {
    return this.transport.pages({ path: `/v1/marketing/events/${pathStep(slug)}/registrations`, query: { ...query } }, options);
  }

  /** Change a registration in the workspace. A free place goes to the person who has waited longest, at once. */
  updateRegistration(registrationId: string, request: MarketingEventRegistrationUpdateRequest, options?: CallOptions): Call<MarketingEventRegistrationRecord> {
    return this.transport.json({ method: 'PATCH', path: `/v1/marketing/event-registrations/${pathStep(registrationId)}`, body: request }, options);
  }

  /** Publish an event of the workspace. A draft becomes public. */
  publish(slug: string, options?: CallOptions): Call<MarketingEventRecord> {
    return this.transport.json({ method: 'POST', path: `/v1/marketing/events/${pathStep(slug)}/publish`, isOnce: true }, options);
  }

  /** Unpublish an event. A published event becomes a draft again, which is not public. Its slug and its registrations stay. */
  unpublish(slug: string, options?: CallOptions): Call<MarketingEventRecord> {
    return this.transport.json({ method: 'POST', path: `/v1/marketing/events/${pathStep(slug)}/unpublish`, isOnce: true }, options);
  }
}

/** `tallygate.members`: The people of an account: invitations, roles, and who leaves. */
export class Members extends Resource {
  /** List members. The people of the account. */
  list(query?: MemberQuery, options?: CallOptions): PagedCall<MemberList, Member> {
    return this.transport.pages({ path: '/v1/members', query: { ...query } }, options);
  }

  /** List invitations. Invitations that can still be accepted. */
  invitations(query?: PageQuery, options?: CallOptions): PagedCall<MemberInvitationList, MemberInvitation> {
    return this.transport.pages({ path: '/v1/members/invitations', query: { ...query } }, options);
  }

  /** Invite a member. Mails a link that works for seven days and replaces an earlier one. With an `external_id`, an open invitation of the same address and role is the answer, and no further mail is sent; another one, or a member who has the id, is 409. Only an owner invites owners. */
  invite(request: InviteMemberRequest, options?: CallOptions): Call<MemberInvitation> {
    return this.transport.json({ method: 'POST', path: '/v1/members/invitations', body: request, isOnce: true }, options);
  }

  /** Withdraw an invitation. Its link no longer works. */
  withdraw(invitationId: string, options?: CallOptions): Call<undefined> {
    return this.transport.empty({ method: 'DELETE', path: `/v1/members/invitations/${pathStep(invitationId)}` }, options);
  }

  /** Accept an invitation. Makes a user in the account that invited them, with the address that the mail went to. A token works once. */
  accept(request: AcceptInvitationRequest, options?: CallOptions): Call<Member> {
    return this.transport.json({ method: 'POST', path: '/v1/members/accept', body: request }, options);
  }

  /** Change a member. In effect for sessions at once and for API keys within a second. Only an owner makes or changes owners; the last one stays. */
  update(userId: string, request: UpdateMemberRequest, options?: CallOptions): Call<Member> {
    return this.transport.json({ method: 'PATCH', path: `/v1/members/${pathStep(userId)}`, body: request }, options);
  }

  /** Remove a member. Ends their sessions at once and revokes their API keys, those of projects too. Their address is free for another account. */
  remove(userId: string, options?: CallOptions): Call<undefined> {
    return this.transport.empty({ method: 'DELETE', path: `/v1/members/${pathStep(userId)}` }, options);
  }
}

/** `tallygate.mfa`: Users, their profile and their sessions. */
export class Mfa extends Resource {
  /** Whether a second factor is on. The state of the second factor of the user behind the credential. */
  status(options?: CallOptions): Call<MfaStatusResponse> {
    return this.transport.json({ method: 'GET', path: '/v1/users/mfa/status' }, options);
  }

  /** Begin to set up a second factor. Makes a new secret and replaces one that was begun before. Logins stay as they are until it is confirmed. 409 while a second factor is on. */
  begin(options?: CallOptions): Call<MfaBeginResponse> {
    return this.transport.json({ method: 'POST', path: '/v1/users/mfa/begin' }, options);
  }

  /** Switch the second factor on. Takes the password, and a code that shows that the app has the secret. Ends every other session of the user. The answer has ten recovery codes, shown this once. */
  confirm(request: MfaVerifyRequest, options?: CallOptions): Call<MfaStatusResponse> {
    return this.transport.json({ method: 'POST', path: '/v1/users/mfa/confirm', body: request }, options);
  }

  /** Switch the second factor off. Takes the password and a code, or a recovery code in its place. The secret and all recovery codes are deleted. */
  disable(request: MfaDisableRequest, options?: CallOptions): Call<MfaStatusResponse> {
    return this.transport.json({ method: 'POST', path: '/v1/users/mfa/disable', body: request }, options);
  }

  /** Remove another user’s second factor and passkeys. For administrators, when a user has lost the app and the recovery codes. Ends every session of the user and tells them by mail; repeating it changes nothing. One’s own is switched off with the password and a code. */
  reset(userId: string, options?: CallOptions): Call<undefined> {
    return this.transport.empty({ method: 'DELETE', path: `/v1/admin/users/${pathStep(userId)}/mfa` }, options);
  }
}

/** `tallygate.models`: The catalogue: what each model can do and what it costs. */
export class Models extends Resource {
  /** List all prices, past ones included. Public: with it, the receipt and the public keys, anybody can check that what was charged is what was published. A price is in force from its `effective_from` (UTC) until the next one of the same model. */
  prices(options?: CallOptions): Call<PriceList> {
    return this.transport.json({ method: 'GET', path: '/v1/prices' }, options);
  }

  /** Get a model. One model with its limits, abilities and prices. */
  get(model: string, options?: CallOptions): Call<Model> {
    return this.transport.json({ method: 'GET', path: `/v1/models/${pathStep(model)}` }, options);
  }

  /** Define a model. For administrators: a model of one’s own, or another definition of a known one. It counts before `MODELS_FILE`, the shipped list and what was discovered, on every gateway within a second. Its price is set by itself. */
  define(model: string, request: ModelDefinition, options?: CallOptions): Call<Model> {
    return this.transport.json({ method: 'PUT', path: `/v1/admin/models/${pathStep(model)}`, body: request }, options);
  }

  /** Set the price of a model. For administrators: a new price version of a model, named by its id; an alias, a dated name or a name with a provider is refused. The first one of a model is charged from now on; a later one from two seconds on, so that all gateways change at the same moment, or from a later moment that is named. No price is ever edited or dated back: requests that have begun, and receipts, keep theirs. */
  setPrice(model: string, request: PriceInput, options?: CallOptions): Call<ModelPrice> {
    return this.transport.json({ method: 'POST', path: `/v1/admin/models/${pathStep(model)}/prices`, body: request, isOnce: true }, options);
  }

  /** Remove a definition of a model. For administrators: takes back what an administrator has defined. What `MODELS_FILE`, the shipped list and the providers say of the model counts again, on every gateway within a second; a model of which they say nothing is no longer in the catalogue. Its prices stay published, and count again if it is defined anew. */
  remove(model: string, options?: CallOptions): Call<undefined> {
    return this.transport.empty({ method: 'DELETE', path: `/v1/admin/models/${pathStep(model)}` }, options);
  }

  /** Ask the providers for their models. For administrators: asks every provider that is configured with `"discover": true` for `GET /v1/models`, as the gateway does at its start and every minute. */
  discover(options?: CallOptions): Call<DiscoveryReport> {
    return this.transport.json({ method: 'POST', path: '/v1/admin/models/discover', isOnce: true }, options);
  }
}

/** `tallygate.passkeys`: Users, their profile and their sessions. */
export class Passkeys extends Resource {
  /** Begin a login with a passkey. Answers with the options that a browser takes. With the challenge of a login with a password, the passkey is its second factor. 404 where the service is reached at an IP address, which no passkey can be made for. */
  beginLogin(request: BeginPasskeyLoginRequest = {}, options?: CallOptions): Call<PasskeyRequestOptions> {
    return this.transport.json({ method: 'POST', path: '/v1/users/login/passkey/begin', body: request }, options);
  }

  /** Log in with a passkey. Takes what the browser has answered and opens a session. A passkey that is the whole login has to verify its user (by fingerprint, face or PIN) and counts as both factors. */
  login(request: PasskeyLoginRequest, options?: CallOptions): Call<UserResponse> {
    return this.transport.json({ method: 'POST', path: '/v1/users/login/passkey', body: request }, options);
  }

  /** Begin to add a passkey. Answers with the options that a browser takes. Nothing changes until the passkey is added. */
  begin(options?: CallOptions): Call<PasskeyCreationOptions> {
    return this.transport.json({ method: 'POST', path: '/v1/users/me/passkeys/begin' }, options);
  }

  /** Add a passkey. Takes what the browser has answered. The session has to be fresh: opened with all factors within fifteen minutes. The user is told by mail. */
  create(request: CreatePasskeyRequest, options?: CallOptions): Call<Passkey> {
    return this.transport.json({ method: 'POST', path: '/v1/users/me/passkeys', body: request }, options);
  }

  /** List the user’s passkeys. Passkeys of the user behind the session, the newest first. */
  list(query?: PageQuery, options?: CallOptions): PagedCall<PasskeyList, Passkey> {
    return this.transport.pages({ path: '/v1/users/me/passkeys', query: { ...query } }, options);
  }

  /** Rename a passkey. Changes its name, which only its owner sees. */
  update(passkeyId: string, request: UpdatePasskeyRequest, options?: CallOptions): Call<Passkey> {
    return this.transport.json({ method: 'PATCH', path: `/v1/users/me/passkeys/${pathStep(passkeyId)}`, body: request }, options);
  }

  /** Remove a passkey. It opens nothing from now on, and other sessions that it has opened end. The session has to be fresh. The user is told by mail. */
  remove(passkeyId: string, options?: CallOptions): Call<undefined> {
    return this.transport.empty({ method: 'DELETE', path: `/v1/users/me/passkeys/${pathStep(passkeyId)}` }, options);
  }
}

/** `tallygate.people`: Everybody the service knows, for the marketing team: finding, tagging, merging, importing, erasing. */
export class People extends Resource {
  /** Export people as CSV. RFC 4180, UTF-8, streamed. A cell that a spreadsheet would take for a formula begins with an apostrophe. It is in the audit log. */
  exportAll(query?: PeopleExportAllQuery, options?: CallOptions): Call<Response> {
    return this.transport.download({ method: 'GET', path: '/v1/marketing/people/export', query: { ...query } }, options);
  }

  /** List people. Newest first. All given filters must match. */
  list(query?: PeopleQuery, options?: CallOptions): PagedCall<MarketingPeopleListResponse, MarketingPersonRecord> {
    return this.transport.pages({ path: '/v1/marketing/people', query: { ...query } }, options, ({ person_id }) => person_id);
  }

  /** Perform an action on a person. Tags, owner, stage, notes, merging, unsubscribing, erasing: each is in the history and in the audit log. */
  act(personId: string, request: MarketingPeopleActionRequest, options?: CallOptions): Call<MarketingPeopleActionResponse> {
    return this.transport.json({ method: 'POST', path: `/v1/marketing/people/${pathStep(personId)}/actions`, body: request, isOnce: true }, options);
  }

  /** Export all data of a person. For requests of access by the person. It is in the audit log. */
  exportOne(personId: string, options?: CallOptions): Call<MarketingPersonExport> {
    return this.transport.json({ method: 'GET', path: `/v1/marketing/people/${pathStep(personId)}/export` }, options);
  }
}

/** `tallygate.plans`: What an account has booked, what that includes, what it pays, and its prepaid balance. */
export class Plans extends Resource {
  /** Plans. Every plan as it is sold now, cheapest first. */
  list(options?: CallOptions): Call<PlanConfigResponse[]> {
    return this.transport.json({ method: 'GET', path: '/v1/plans/config' }, options);
  }

  /** Plan of the account. The plan as it was sold to this account, its subscription, and what is scheduled. */
  current(options?: CallOptions): Call<CurrentPlanResponse> {
    return this.transport.json({ method: 'GET', path: '/v1/plans/current' }, options);
  }

  /** What the plan entitles to. What admission goes by. Changes count within a second. */
  entitlements(options?: CallOptions): Call<PlanEntitlementsResponse> {
    return this.transport.json({ method: 'GET', path: '/v1/plans/entitlements' }, options);
  }

  /** Compare plans. A row per entitlement, a value per plan. */
  compare(options?: CallOptions): Call<PlanEntitlementMatrixResponse> {
    return this.transport.json({ method: 'GET', path: '/v1/plans/entitlements/matrix' }, options);
  }

  /** Use of the quota. This month’s live usage against what the plan includes. */
  usage(options?: CallOptions): Call<PlanUsageQuotaResponse> {
    return this.transport.json({ method: 'GET', path: '/v1/plans/usage' }, options);
  }

  /** Billing at a glance. Balance, charges beyond the quota, what is due next, and whether a payment is late. */
  billing(options?: CallOptions): Call<PlanBillingSummaryResponse> {
    return this.transport.json({ method: 'GET', path: '/v1/plans/billing-summary' }, options);
  }

  /** What an upgrade would cost. Old, new, difference and date. Changes nothing. */
  previewUpgrade(planId: PlanId, options?: CallOptions): Call<PlanUpgradePreviewResponse> {
    return this.transport.json({ method: 'POST', path: '/v1/plans/upgrade-preview', body: { plan_id: planId } }, options);
  }

  /** What a downgrade would take away. Old, new, difference and date, and where this month’s usage is above the smaller quota. Changes nothing. */
  previewDowngrade(planId: PlanId, options?: CallOptions): Call<PlanDowngradePreviewResponse> {
    return this.transport.json({ method: 'POST', path: '/v1/plans/downgrade-preview', body: { plan_id: planId } }, options);
  }

  /** Schedule a downgrade. At the end of the paid period. A later change of plan cancels it; it replaces an earlier one. */
  scheduleDowngrade(planId: PlanId, options?: CallOptions): Call<PlanDowngradeScheduleResponse> {
    return this.transport.json({ method: 'POST', path: '/v1/plans/downgrade-schedule', body: { plan_id: planId }, isOnce: true }, options);
  }

  /** Cancel a scheduled downgrade. The plan stays as it is. Without effect where nothing is scheduled. */
  cancelDowngrade(options?: CallOptions): Call<CurrentPlanResponse> {
    return this.transport.json({ method: 'DELETE', path: '/v1/plans/downgrade-schedule' }, options);
  }

  /** Charges beyond the quota. The charges of this month, and the projected total. */
  overage(options?: CallOptions): Call<PlanOverageEstimateResponse> {
    return this.transport.json({ method: 'GET', path: '/v1/plans/overage-estimate' }, options);
  }

  /** Get a plan. Without a paid plan: a hosted page. With one: an upgrade at once, prorated and charged to the saved card; a decline is a 402. For a cheaper plan, schedule a downgrade. */
  checkout(request: PlanCheckoutRequest, options?: CallOptions): Call<PlanCheckoutResponse> {
    return this.transport.json({ method: 'POST', path: '/v1/plans/checkout', body: request, isOnce: true }, options);
  }

  /** Top the balance up. A hosted page to pay on. The balance rises when the payment provider says that it was paid. */
  topUp(request: PlanBalanceCheckoutRequest, options?: CallOptions): Call<PlanBalanceCheckoutResponse> {
    return this.transport.json({ method: 'POST', path: '/v1/plans/balance-checkout', body: request, isOnce: true }, options);
  }

  /** Get the state of a checkout. `completed` once what was paid for is in effect. */
  getCheckout(checkoutId: string, options?: CallOptions): Call<PlanCheckoutState> {
    return this.transport.json({ method: 'GET', path: `/v1/plans/checkouts/${pathStep(checkoutId)}` }, options);
  }

  /** Cancel the plan. At the end of the period that is paid for; then the account is on the free plan. */
  cancel(options?: CallOptions): Call<CurrentPlanResponse> {
    return this.transport.json({ method: 'POST', path: '/v1/plans/cancel', isOnce: true }, options);
  }

  /** Keep a cancelled plan. Takes a cancellation back that has not come into effect. */
  resume(options?: CallOptions): Call<CurrentPlanResponse> {
    return this.transport.json({ method: 'POST', path: '/v1/plans/resume', isOnce: true }, options);
  }

  /** Link to the customer portal. Where the customer changes the card and sees the payment provider’s invoices. */
  portal(request: PlanPortalRequest = {}, options?: CallOptions): Call<PlanPortalResponse> {
    return this.transport.json({ method: 'POST', path: '/v1/plans/portal', body: request, isOnce: true }, options);
  }

  /** Invoices. Those of the subscription, and one for each month that had charges beyond the quota. */
  invoices(query?: PlanInvoiceQuery, options?: CallOptions): PagedCall<PlanInvoiceListResponse, PlanInvoiceSummary> {
    return this.transport.pages({ path: '/v1/plans/invoices', query: { ...query } }, options);
  }

  /** One invoice. With its lines. */
  getInvoice(invoiceId: string, options?: CallOptions): Call<PlanInvoiceResponse> {
    return this.transport.json({ method: 'GET', path: `/v1/plans/invoices/${pathStep(invoiceId)}` }, options);
  }

  /** One invoice, to print. A page without scripts that prints on one sheet. */
  printInvoice(invoiceId: string, options?: CallOptions): Call<Response> {
    return this.transport.download({ method: 'GET', path: `/v1/plans/invoices/${pathStep(invoiceId)}/html` }, options);
  }

  /** Payments. Everything that was paid, with what was returned of it. */
  payments(query?: PlanPaymentQuery, options?: CallOptions): PagedCall<PlanPaymentListResponse, PlanPayment> {
    return this.transport.pages({ path: '/v1/plans/payments', query: { ...query } }, options);
  }

  /** Return a payment. For administrators: of any account’s payment, to where it came from. What it had credited to a balance is taken back. */
  refundPayment(paymentId: string, request: PlanPaymentRefundRequest, options?: CallOptions): Call<PlanPayment> {
    return this.transport.json({ method: 'POST', path: `/v1/plans/payments/${pathStep(paymentId)}/refund`, body: request, isOnce: true }, options);
  }

  /** Automatic top-up. The settings and how they fare. */
  autoTopup(options?: CallOptions): Call<PlanAutoTopupResponse> {
    return this.transport.json({ method: 'GET', path: '/v1/plans/auto-topup' }, options);
  }

  /** Set automatic top-up. Charges the saved card when the balance is below the threshold, up to the daily maximum. Plans with the feature `auto_topup` have it. */
  setAutoTopup(request: PlanAutoTopupRequest, options?: CallOptions): Call<PlanAutoTopupResponse> {
    return this.transport.json({ method: 'PUT', path: '/v1/plans/auto-topup', body: request }, options);
  }

  /** Spend alerts. At which monthly charges everybody of the account is mailed. */
  spendAlerts(options?: CallOptions): Call<PlanSpendAlertsResponse> {
    return this.transport.json({ method: 'GET', path: '/v1/plans/spend-alerts' }, options);
  }

  /** Set spend alerts. Replaces the thresholds. */
  setSpendAlerts(request: PlanSpendAlertsRequest, options?: CallOptions): Call<PlanSpendAlertsResponse> {
    return this.transport.json({ method: 'PUT', path: '/v1/plans/spend-alerts', body: request }, options);
  }
}

/** `tallygate.projects`: Parts of an account’s work, with API keys and limits. */
export class Projects extends Resource {
  /** List projects. Projects of the account, archived ones included, the newest first. Developers see the projects that they are members of. */
  list(query?: ProjectQuery, options?: CallOptions): PagedCall<ProjectList, Project> {
    return this.transport.pages({ path: '/v1/projects', query: { ...query } }, options);
  }

  /** Create a project. With an `external_id` that a project of the account has already, the answer is that project; another name is 409. */
  create(request: CreateProjectRequest, options?: CallOptions): Call<Project> {
    return this.transport.json({ method: 'POST', path: '/v1/projects', body: request, isOnce: true }, options);
  }

  /** Get a project. One project of the account. */
  get(projectId: string, options?: CallOptions): Call<Project> {
    return this.transport.json({ method: 'GET', path: `/v1/projects/${pathStep(projectId)}` }, options);
  }

  /** Change or archive a project. The API keys of a project that is archived stop working on every gateway within a second. */
  update(projectId: string, request: UpdateProjectRequest, options?: CallOptions): Call<Project> {
    return this.transport.json({ method: 'PATCH', path: `/v1/projects/${pathStep(projectId)}`, body: request }, options);
  }

  /** List members of a project. People who were added to the project. Owners and admins of the account are in every project without it. */
  members(projectId: string, query?: PageQuery, options?: CallOptions): PagedCall<ProjectMemberList, ProjectMember> {
    return this.transport.pages({ path: `/v1/projects/${pathStep(projectId)}/members`, query: { ...query } }, options);
  }

  /** Add a member to a project, or change their role in it. For owners and admins of the account, and for admins of the project. Repeating it changes nothing. Members whom a group of the directory added are changed there: `conflict`. */
  putMember(projectId: string, userId: string, request: PutProjectMemberRequest, options?: CallOptions): Call<ProjectMember> {
    return this.transport.json({ method: 'PUT', path: `/v1/projects/${pathStep(projectId)}/members/${pathStep(userId)}`, body: request }, options);
  }

  /** Remove a member from a project. Revokes their API keys of the project, and those that they rotated, on every gateway within a second. Members may remove themselves. Members whom a group of the directory added are removed there: `conflict`. */
  removeMember(projectId: string, userId: string, options?: CallOptions): Call<undefined> {
    return this.transport.empty({ method: 'DELETE', path: `/v1/projects/${pathStep(projectId)}/members/${pathStep(userId)}` }, options);
  }
}

/** `tallygate.realtime`: Sessions of speech and text over a WebSocket: the secrets that browsers open them with. */
export class Realtime extends Resource {
  /** Create a client secret. For browsers and apps, which must not have an API key: it opens `GET /v1/realtime` for a while, with the key’s caps and limits, and ends with the key. The headers of inference requests that it is made with (`X-Agent-Run-ID`, `X-End-User`, `X-Tags` …) hold for its sessions. */
  createClientSecret(request: RealtimeClientSecretRequest = {}, options?: CallOptions): Call<RealtimeClientSecret> {
    return this.transport.json({ method: 'POST', path: '/v1/realtime/client_secrets', body: request }, options);
  }
}

/** `tallygate.receipts`: Signed receipts and the public keys that verify them. */
export class Receipts extends Resource {
  /** List receipts. Receipts of the account, in one mode, the newest request first; with `logged_after` in the order of the log. */
  list(query?: ReceiptQuery, options?: CallOptions): PagedCall<ReceiptList, ReceiptListItem> {
    return this.transport.pages({ path: '/v1/receipts', query: { ...query } }, options);
  }

  /** Get a receipt. Public: anyone who knows the id (the `X-Receipt-Id` of an answer) may read the receipt. It names neither the account nor any content. A receipt exists a moment after its answer; until then this is a 404. */
  get(receiptId: string, options?: CallOptions): Call<ReceiptResponse> {
    return this.transport.json({ method: 'GET', path: `/v1/receipts/${pathStep(receiptId)}` }, options);
  }

  /** Proof that the log only grew. Public. With the roots of an older and a newer checkpoint, the path shows that nothing was rewritten. */
  consistency(query: ReceiptConsistencyQuery, options?: CallOptions): Call<LogConsistencyResponse> {
    return this.transport.json({ method: 'GET', path: '/v1/log/consistency', query: { ...query } }, options);
  }

  /** List the prices, keys and rules in the log. Public. Each price version, each key and each change of the rules of the log is an entry of the log before it is used. In the order of the log, each with its proof against the newest state. */
  declarations(query?: ReceiptDeclarationQuery, options?: CallOptions): PagedCall<LogDeclarations, LoggedDeclaration> {
    return this.transport.pages({ path: '/v1/log/declarations', query: { ...query } }, options);
  }

  /** Public keys that sign receipts and their log. Keep a copy: with it, receipts verify without this service. */
  keys(options?: CallOptions): Call<VaasKeySet> {
    return this.transport.json({ method: 'GET', path: '/.well-known/vaas-keys.json' }, options);
  }
}

/** `tallygate.requests`: What was used, what it cost, and what happened to one request. */
export class Requests extends Resource {
  /** Trace of one request. Attempts, timings, cost and receipt of one request of the account. It can be read a moment after the answer ends. */
  get(requestId: string, options?: CallOptions): Call<RequestTrace> {
    return this.transport.json({ method: 'GET', path: `/v1/requests/${pathStep(requestId)}` }, options);
  }

  /** Give back what a request cost. For administrators: all of it, of any account’s request, once. What the balance or invoice had paid returns there, what the quota had covered to the quota, and no cap counts it any longer, in the month in which it was spent. Asked again, the answer is the refund that was made. */
  refund(request: RefundRequest, options?: CallOptions): Call<RefundResponse> {
    return this.transport.json({ method: 'POST', path: '/v1/admin/refunds', body: request, isOnce: true }, options);
  }

  /** Correct what a request used and cost. For administrators: says what a request of any account really used. Its cost is calculated again at the prices that it was settled at, and the difference is charged or refunded: on the balance or invoice and the plan’s quota that had paid, in their shares, and on every cap, in the month in which it was spent. A receipt of kind `correction` takes the place of the first one. A request is corrected once; asked again with the same usage, the answer is the correction that was made. */
  correct(request: CorrectionRequest, options?: CallOptions): Call<CorrectionResponse> {
    return this.transport.json({ method: 'POST', path: '/v1/admin/corrections', body: request, isOnce: true }, options);
  }
}

/** `tallygate.responses`: OpenAI’s Responses: stateful or not, plain, streamed or in the background. */
export class Responses extends Resource {
  /** Delete a response. It can be neither read nor gone on from any more. One that still runs in the background is stopped. */
  delete(responseId: string, options?: CallOptions): Call<ResponseDeleted> {
    return this.transport.json({ method: 'DELETE', path: `/v1/responses/${pathStep(responseId)}` }, options);
  }

  /** Cancel a background response. The provider is told to stop within a second; what was generated until then is charged. Cancelling one that has ended changes nothing and shows it. */
  cancel(responseId: string, options?: CallOptions): Call<ResponseObject> {
    return this.transport.json({ method: 'POST', path: `/v1/responses/${pathStep(responseId)}/cancel` }, options);
  }
}

/** `tallygate.runs`: Agent runs: what they may spend, what they did, and the switch that stops them. */
export class Runs extends Resource {
  /** List agent runs. Runs of the account, in one mode, the newest first. */
  list(query?: RunQuery, options?: CallOptions): PagedCall<RunList, Run> {
    return this.transport.pages({ path: '/v1/runs', query: { ...query } }, options);
  }

  /** Get an agent run. The state of the run, what its steps cost, and its child runs. `limit` and `cursor` page through the steps. */
  get(runId: string, query?: RunGetQuery, options?: CallOptions): Call<RunDetail> {
    return this.transport.json({ method: 'GET', path: `/v1/runs/${pathStep(runId)}`, query: { ...query } }, options);
  }

  /** Close an agent run. Stops the run and its child runs, within a second: no call begins, and running calls are stopped and charged for what was generated. Its figures have all answered requests. Closing again changes nothing. API keys close runs of their mode only. */
  close(runId: string, query?: RunCloseQuery, options?: CallOptions): Call<Run> {
    return this.transport.json({ method: 'POST', path: `/v1/runs/${pathStep(runId)}/close`, query: { ...query } }, options);
  }
}

/** `tallygate.sessions`: Users, their profile and their sessions. */
export class Sessions extends Resource {
  /** List the user’s sessions. Every session that is alive, with where it comes from. */
  list(query?: PageQuery, options?: CallOptions): PagedCall<SessionListResponse, SessionResponse> {
    return this.transport.pages({ path: '/v1/users/me/sessions', query: { ...query } }, options);
  }

  /** End one session of the user. The session’s token stops working at once. Ending an ended session changes nothing. */
  revoke(sessionId: string, options?: CallOptions): Call<undefined> {
    return this.transport.empty({ method: 'DELETE', path: `/v1/users/me/sessions/${pathStep(sessionId)}` }, options);
  }
}

/** `tallygate.sso`: Users, their profile and their sessions. */
export class Sso extends Resource {
  /** How people log in. Whether there is a directory to sign in with, where a browser begins, and the domain of passkeys. */
  methods(options?: CallOptions): Call<LoginMethods> {
    return this.transport.json({ method: 'GET', path: '/v1/users/login/methods' }, options);
  }

  /** Switch password login of the account on or off. Off, members log in with the directory alone; owners log in with a password or a passkey all the same, so that a directory that is broken locks nobody out. Sessions that there are go on. */
  setPasswordLogin(request: PasswordLogin, options?: CallOptions): Call<PasswordLogin> {
    return this.transport.json({ method: 'PUT', path: '/v1/users/login/methods', body: request }, options);
  }

  /** Take the session after a sign-in with the directory. Exchanges the code that came back to `redirect_uri` for a session, once, for the program that began. */
  token(request: DirectoryLoginRequest, options?: CallOptions): Call<UserResponse> {
    return this.transport.json({ method: 'POST', path: '/v1/users/login/directory', body: request }, options);
  }

  /** End the session here and at the directory. Ends the session of the caller, and says where a browser ends the one at the directory. */
  logout(options?: CallOptions): Call<DirectoryLogoutResponse> {
    return this.transport.json({ method: 'POST', path: '/v1/users/logout/directory' }, options);
  }
}

/** `tallygate.uploads`: Stored files, uploaded whole or in parts: input of batches and of requests, and what batches put out. */
export class Uploads extends Resource {
  /** Begin an upload in parts. For files of more than 512 MiB, up to 8 GiB, or for sending parts side by side. It has to be completed within an hour. */
  create(request: CreateUploadRequest, options?: CallOptions): Call<Upload> {
    return this.transport.json({ method: 'POST', path: '/v1/uploads', body: request, isOnce: true }, options);
  }

  /** Complete an upload. The parts, in the order of `part_ids`, become one file; parts that are not named are deleted. Completing it again with the same parts answers the same. */
  complete(uploadId: string, request: CompleteUploadRequest, options?: CallOptions): Call<Upload> {
    return this.transport.json({ method: 'POST', path: `/v1/uploads/${pathStep(uploadId)}/complete`, body: request }, options);
  }

  /** Cancel an upload. Its parts are deleted, and no part can be added any more. Cancelling it again changes nothing. */
  cancel(uploadId: string, options?: CallOptions): Call<Upload> {
    return this.transport.json({ method: 'POST', path: `/v1/uploads/${pathStep(uploadId)}/cancel` }, options);
  }
}

/** `tallygate.usage`: What was used, what it cost, and what happened to one request. */
export class Usage extends Resource {
  /** How long requests took. Percentiles of answered requests, of those that the caller may see, by the hour in which they arrived; lines of batches and media jobs are left out. Of a busy account up to 150,000 requests, evenly from every five minutes, are measured. Months that are archived have none. */
  latency(query?: LatencyQuery, options?: CallOptions): Call<LatencyResponse> {
    return this.transport.json({ method: 'GET', path: '/v1/usage/latency', query: { ...query } }, options);
  }

  /** Usage and cost. Sums of settled requests. */
  get(query?: UsageQuery, options?: CallOptions): Call<UsageResponse> {
    return this.transport.json({ method: 'GET', path: '/v1/usage', query: { ...query } }, options);
  }

  /** Usage and cost of all accounts. For administrators: `GET /v1/usage` of all accounts, or of one. */
  getOfAll(query?: AdminUsageQuery, options?: CallOptions): Call<AdminUsageResponse> {
    return this.transport.json({ method: 'GET', path: '/v1/admin/usage', query: { ...query } }, options);
  }

  /** Export usage and cost as CSV. RFC 4180, UTF-8, streamed: all groups, as of one moment. Amounts are exact decimal USD. A cell that a spreadsheet would take for a formula begins with an apostrophe. A few exports are written at a time; others wait for their turn. */
  export(query?: UsageExportQuery, options?: CallOptions): Call<Response> {
    return this.transport.download({ method: 'GET', path: '/v1/usage/export', query: { ...query } }, options);
  }

  /** Export usage and cost of all accounts as CSV. For administrators: `GET /v1/usage/export` of all accounts, or of one. RFC 4180, UTF-8, streamed: all groups, as of one moment. Amounts are exact decimal USD. A cell that a spreadsheet would take for a formula begins with an apostrophe. A few exports are written at a time; others wait for their turn. */
  exportOfAll(query?: UsageExportOfAllQuery, options?: CallOptions): Call<Response> {
    return this.transport.download({ method: 'GET', path: '/v1/admin/usage/export', query: { ...query } }, options);
  }
}

/** `tallygate.users`: Users, their profile and their sessions. */
export class Users extends Resource {
  /** List users. For administrators: everybody, or who has a role, or whose e-mail address it is. */
  list(query?: UserQuery, options?: CallOptions): PagedCall<UserListResponse, UserResponse> {
    return this.transport.pages({ path: '/v1/admin/users', query: { ...query } }, options);
  }

  /** Give a user a role. For administrators. It counts from the next request on, for sessions and keys alike; the user is notified by mail. Only an address that was confirmed gets a role other than `member`, and nobody changes their own. */
  setRole(userId: string, role: Role, options?: CallOptions): Call<UserResponse> {
    return this.transport.json({ method: 'PUT', path: `/v1/admin/users/${pathStep(userId)}/role`, body: { role } }, options);
  }
}

/** `tallygate.videos`: Video jobs: begun, followed, downloaded; charged once, and given back in full when they fail. */
export class Videos extends Resource {
  /** List videos. The account’s videos, newest first. A test key sees those of test mode, everybody else those of live mode. */
  list(query?: VideoQuery, options?: CallOptions): PagedCall<VideoList, Video> {
    return this.transport.pages({ path: '/v1/videos', query: { ...query } }, options);
  }

  /** Get a video. The job and how far it is; no older than two seconds where its provider answers. */
  get(videoId: string, options?: CallOptions): Call<Video> {
    return this.transport.json({ method: 'GET', path: `/v1/videos/${pathStep(videoId)}` }, options);
  }

  /** Delete a video. The video and its bytes are permanently gone. A job that is `queued` is given back in full. One that runs is called off at its provider, and given back where that succeeds; where it ends all the same, it is charged. */
  delete(videoId: string, options?: CallOptions): Call<VideoDeleted> {
    return this.transport.json({ method: 'DELETE', path: `/v1/videos/${pathStep(videoId)}` }, options);
  }

  /** Get a character. A character of the account, as it was named. */
  getCharacter(characterId: string, options?: CallOptions): Call<VideoCharacter> {
    return this.transport.json({ method: 'GET', path: `/v1/videos/characters/${pathStep(characterId)}` }, options);
  }
}

/** `tallygate.webhooks`: What happens in an account, sent to addresses of yours as it happens, or listed. */
export class Webhooks extends Resource {
  /** List webhooks. Webhooks of the account, or of the gateway, the newest first. */
  list(query?: WebhookQuery, options?: CallOptions): PagedCall<WebhookEndpointList, WebhookEndpoint> {
    return this.transport.pages({ path: '/v1/webhook-endpoints', query: { ...query } }, options);
  }

  /** Create a webhook. The secret is in this answer alone. Events that happen from now on are sent. */
  create(request: CreateWebhookRequest, options?: CallOptions): Call<WebhookEndpointWithSecret> {
    return this.transport.json({ method: 'POST', path: '/v1/webhook-endpoints', body: request, isOnce: true }, options);
  }

  /** Get a webhook. One webhook, without its secret. */
  get(webhookId: string, options?: CallOptions): Call<WebhookEndpoint> {
    return this.transport.json({ method: 'GET', path: `/v1/webhook-endpoints/${pathStep(webhookId)}` }, options);
  }

  /** Change, disable or enable a webhook. Deliveries that are pending go to the new address. */
  update(webhookId: string, request: UpdateWebhookRequest, options?: CallOptions): Call<WebhookEndpoint> {
    return this.transport.json({ method: 'PATCH', path: `/v1/webhook-endpoints/${pathStep(webhookId)}`, body: request }, options);
  }

  /** Delete a webhook. With its deliveries. What is on its way arrives. */
  delete(webhookId: string, options?: CallOptions): Call<undefined> {
    return this.transport.empty({ method: 'DELETE', path: `/v1/webhook-endpoints/${pathStep(webhookId)}` }, options);
  }

  /** Replace the secret of a webhook. Deliveries carry two signatures, one with each secret, until the grace period ends. */
  rotateSecret(webhookId: string, request: RotateWebhookSecretRequest = {}, options?: CallOptions): Call<WebhookEndpointWithSecret> {
    return this.transport.json({ method: 'POST', path: `/v1/webhook-endpoints/${pathStep(webhookId)}/rotate-secret`, body: request, isOnce: true }, options);
  }

  /** Send a test event. An event of the type `webhook.test` is sent to this webhook, whatever its event types are. At most one in five seconds. */
  test(webhookId: string, options?: CallOptions): Call<WebhookTestResponse> {
    return this.transport.json({ method: 'POST', path: `/v1/webhook-endpoints/${pathStep(webhookId)}/test`, isOnce: true }, options);
  }

  /** List deliveries of a webhook. With their attempts and the status codes that came back, the newest first. Kept for 30 days unless the operator has set another time. */
  deliveries(webhookId: string, query?: WebhookDeliverieQuery, options?: CallOptions): PagedCall<WebhookDeliveryList, WebhookDelivery> {
    return this.transport.pages({ path: `/v1/webhook-endpoints/${pathStep(webhookId)}/deliveries`, query: { ...query } }, options);
  }

  /** Send one event again. Also one that was delivered. The event keeps its id. */
  replayDelivery(webhookId: string, deliveryId: string, options?: CallOptions): Call<WebhookDelivery> {
    return this.transport.json({ method: 'POST', path: `/v1/webhook-endpoints/${pathStep(webhookId)}/deliveries/${pathStep(deliveryId)}/replay`, isOnce: true }, options);
  }

  /** Send again what was not delivered. Every event since the time that failed, and every one that happened while the webhook was disabled. Events that are pending or delivered are left as they are. */
  replay(webhookId: string, request: WebhookReplayRequest, options?: CallOptions): Call<WebhookReplayResponse> {
    return this.transport.json({ method: 'POST', path: `/v1/webhook-endpoints/${pathStep(webhookId)}/replay`, body: request, isOnce: true }, options);
  }

  /** List events, or wait for them. Events of the account, or of the gateway, the newest first, without any webhook. With `after_sequence` the oldest first from there on; with `wait_seconds` the answer is held back until there is one. A client that repeats this with the last `sequence` that it has seen misses none and gets none twice. */
  events(query?: WebhookEventQuery, options?: CallOptions): PagedCall<WebhookEventList, WebhookEvent> {
    return this.transport.pages({ path: '/v1/webhook-events', query: { ...query } }, options);
  }
}
