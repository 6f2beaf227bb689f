// Generated from contract/src by sdk/scripts/generate-models.ts. Do not edit.

/** The password of the new member. */
export interface AcceptInvitationRequest {
  /** Of the link in the mail. */
  token: string;
  /** 10 to 256 characters. What is easy to guess is refused. */
  new_password: string;
  /** Display name. */
  name?: string | undefined;
}

/** Taken. If the address has an account that this applies to, a mail is on its way. */
export interface Accepted {
  accepted: true;
}

/** Proof that it is the owner who closes. */
export interface AccountCloseRequest {
  /** The password as it is now. */
  password: string;
  /** Where a second factor is on: six digits from the app, or a recovery code. */
  code?: string | undefined;
}

/** Accounts, newest first; closed ones are not among them. */
export interface AccountListResponse {
  data: AccountResponse[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** The plan to give. */
export interface AccountPlanRequest {
  /** Null takes back what was given. */
  plan_id: PlanId | null;
  /** Default: always the newest version. */
  version?: number | undefined;
}

/** An account, as administrators see it. */
export interface AccountResponse {
  /** UUIDv7. */
  account_id: string;
  name: string;
  /** Of its users. */
  emails: string[];
  /** What live keys and sessions go by. */
  plan_id: PlanId;
  plan_version: number;
  /** What the operator gave; null: the default of new accounts, or what the account has bought. */
  given_plan: {
    plan_id: PlanId;
    /** Null: always the newest. */
    version: number | null;
  } | null;
  /** What the account pays for; null without a subscription. */
  subscription_plan_id: PlanId | null;
  /** What is reserved by contract for its requests to the address for dedicated traffic; null without a contract. */
  dedicated_capacity: {
    /** Requests per minute, apart from those of the plan. */
    requests_per_minute: number;
    /** Tokens per minute, apart from those of the plan. */
    tokens_per_minute: number;
    /** Requests at the same time, kept free on every gateway. */
    concurrency: number;
  } | null;
  /** RFC 3339, UTC. */
  created_at: string;
}

/** What a member may do in the account. `owner`: everything. `admin`: everything but closing the account and changing owners. `billing`: plans, payments and what is spent. `developer`: models, and API keys of their own. `viewer`: reading. */
export type AccountRole = 'owner' | 'admin' | 'billing' | 'developer' | 'viewer';

/** An e-mail address; the answer does not reveal whether it has an account. */
export interface AddressRequest {
  /** E-mail address. An internationalized domain is stored and returned in its ASCII spelling (`xn--…`). */
  email: string;
}

export interface AdminUsageQuery {
  /** First day, in the account’s time zone. Default: the first of the current month. */
  from?: string | undefined;
  /** Last day. Default: today. */
  to?: string | undefined;
  /** One or two of account,project,member,key,model,provider,tag,end_user,run,outcome, by a comma. */
  group_by?: string | undefined;
  /** Default: `day` without `group_by`. */
  per?: 'hour' | 'day' | undefined;
  /** Live or test mode. Default: the mode of the API key that asks; live for sessions. */
  livemode?: boolean | undefined;
  model?: string | undefined;
  /** UUIDv7. */
  key_id?: string | undefined;
  run_id?: string | undefined;
  /** Of this account alone, in its time zone; otherwise days are UTC. */
  account_id?: string | undefined;
}

/** Usage of all accounts, or of one, between two days, both included. */
export interface AdminUsageResponse {
  from: string;
  to: string;
  /** Of days and hours. */
  time_zone: string;
  livemode: boolean;
  group_by: string[];
  per: 'hour' | 'day' | null;
  /** At most 1,000 groups: those of the highest cost. */
  items: AdminUsageRow[];
  /** How many groups more there are. Their usage is in `total`. */
  omitted_groups: number;
  total: {
    requests: number;
    input_tokens: number;
    cached_input_tokens: number;
    output_tokens: number;
    /** Characters that were spoken. */
    input_characters: number;
    /** Seconds of audio in. */
    audio_seconds: number;
    /** Seconds of video made. */
    video_seconds: number;
    /** Images made. */
    images: number;
    /** At catalogue prices, USD. */
    cost_usd: string;
    /** What the account paid beyond its plan’s quota, USD. */
    charged_usd: string;
  };
}

/** Usage of one group, of all accounts or of one. */
export interface AdminUsageRow {
  /** With `per=day`: a day of `time_zone`. */
  day?: string | undefined;
  /** With `per=hour`: when the hour begins. */
  hour?: string | undefined;
  project_id?: string | null | undefined;
  user_id?: string | null | undefined;
  key_id?: string | null | undefined;
  model?: string | undefined;
  provider?: string | undefined;
  tag?: string | null | undefined;
  end_user?: string | null | undefined;
  run_id?: string | null | undefined;
  outcome?: string | undefined;
  requests: number;
  input_tokens: number;
  cached_input_tokens: number;
  output_tokens: number;
  /** Characters that were spoken. */
  input_characters: number;
  /** Seconds of audio in. */
  audio_seconds: number;
  /** Seconds of video made. */
  video_seconds: number;
  /** Images made. */
  images: number;
  /** At catalogue prices, USD. */
  cost_usd: string;
  /** What the account paid beyond its plan’s quota, USD. */
  charged_usd: string;
  /** UUIDv7. */
  account_id?: string | undefined;
}

/** An agent card as A2A 1.0 has it. */
export interface AgentCard {
  name: 'Tallygate';
  description: string;
  version: string;
  documentationUrl: string;
  supportedInterfaces: {
    url: string;
    /** None of A2A’s own: the gateway is called by MCP or by OpenAI’s API. */
    protocolBinding: string;
    protocolVersion: string;
  }[];
  capabilities: {
    streaming: boolean;
    pushNotifications: boolean;
  };
  securitySchemes: {
    bearer: {
      httpAuthSecurityScheme: {
        scheme: 'Bearer';
        description: string;
      };
    };
  };
  securityRequirements: {
    schemes: {
      bearer: { [name: string]: unknown };
    };
  }[];
  defaultInputModes: string[];
  defaultOutputModes: string[];
  skills: {
    id: string;
    name: string;
    description: string;
    tags: string[];
  }[];
}

/** What an agent needs to find its way: protocols, credentials, limits, models with prices. */
export interface AgentDocument {
  name: 'Tallygate';
  description: string;
  version: string;
  /** Base of all addresses. */
  url: string;
  interfaces: AgentInterface[];
  authentication: {
    scheme: 'bearer';
    credential: string;
    scopes: Scope[];
    /** Protected-resource metadata (RFC 9728). */
    metadata: string;
  };
  capabilities: {
    name: string;
    description: string;
    operations: string[];
  }[];
  safeguards: AgentHeader[];
  models: AgentModel[];
  log: AgentLog;
  documents: {
    /** OpenAPI 3.1, JSON. */
    openapi: string;
    /** OpenAPI 3.1, YAML. */
    openapi_yaml: string;
    /** Index of the documentation. */
    llms: string;
    /** All of the documentation in one text. */
    llms_full: string;
    /** What an agent has to know. */
    agents: string;
    /** The same in A2A’s form. */
    agent_card: string;
    /** Keys that verify receipts. */
    receipt_keys: string;
    /** Every price that receipts name. */
    prices: string;
    /** Security contact, for vulnerability reports (RFC 9116). */
    security: string;
  };
}

/** A header that keeps an agent within bounds. */
export interface AgentHeader {
  name: string;
  description: string;
}

/** A protocol that agents can speak here. */
export interface AgentInterface {
  /** `openai`: the base URL of OpenAI’s clients. `mcp`: streamable HTTP. `http`: the whole API, as OpenAPI describes it. */
  protocol: 'openai' | 'mcp' | 'http';
  /** Where it is spoken. */
  url: string;
  description: string;
}

/** The log of receipts, and who watches it. */
export interface AgentLog {
  /** The log: `checkpoint` and `tile/…` are below it (c2sp.org/tlog-tiles). */
  url: string;
  /** Keys of the log. */
  keys: string;
  /** Who cosigns the states of the log; empty where nobody does. */
  witnesses: {
    name: string;
    /** Of its cosignatures (c2sp.org/tlog-cosignature). */
    verifier_key: string;
    /** Where it is asked. */
    url: string;
  }[];
  /** Whose cosignatures a verifier demands, and how many of them, in one line: `2 of KEY KEY KEY`. Null where there are no witnesses. Keep it: one that demands less later is to be distrusted. */
  witness_policy: string | null;
}

/** A model with what it costs today. */
export interface AgentModel {
  id: string;
  kind: string;
  context_length: number | null;
  endpoints: string[];
  /** USD per single unit, by meter. */
  prices: { [name: string]: string };
}

/** Anchors of the log, the newest first. */
export interface AnchorListResponse {
  data: AnchorResponse[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** A state of the receipts’ log on a public chain, or on its way there. */
export interface AnchorResponse {
  object: 'anchor';
  /** UUIDv7. */
  id: string;
  state: AnchorState;
  /** Number of the chain (EIP-155). */
  chain_id: number;
  /** Address of the contract on that chain. */
  contract: string;
  /** How many entries the log had. */
  tree_size: number;
  /** Root over these entries (RFC 9162, SHA-256), as the contract holds it. */
  root: string;
  /** Size of the state that the contract held before; 0 for its first. The contract itself has checked that this one begins with it; `GET /v1/log/consistency` shows how. */
  previous_size: number;
  /** Set once it is in a block. */
  transaction_hash: string | null;
  block_number: number | null;
  block_time: string | null;
  gas_used: string | null;
  /** What the anchor cost, in the coin of the chain, with what a layer 2 charges for data. */
  fee: string | null;
  /** The same at the price of the coin that the service was told; null where it was told none. */
  fee_usd: string | null;
  /** RFC 3339, UTC. */
  created_at: string;
  submitted_at: string | null;
  /** When the service saw it in a block. */
  included_at: string | null;
  finalized_at: string | null;
}

/** `logged`: meant for the chain, not sent yet. `submitted`: sent. `included`: in a block that the chain may still take back. `finalized`: in one that it will not. `superseded`: never got there, because a later state of the log did. */
export type AnchorState = 'logged' | 'submitted' | 'included' | 'finalized' | 'superseded';

/** An error in Anthropic’s form, with our own code beside it. */
export interface AnthropicError {
  type: 'error';
  error: {
    /** Anthropic’s class of error. */
    type: 'invalid_request_error' | 'authentication_error' | 'billing_error' | 'permission_error' | 'not_found_error' | 'request_too_large' | 'rate_limit_error' | 'timeout_error' | 'api_error' | 'overloaded_error';
    /** One sentence that says what to do. */
    message: string;
  };
  request_id: string;
  /** Our own code: its page is at `doc_url`. */
  code: 'malformed_json' | 'malformed_multipart' | 'upstream_rejected' | 'answer_too_large' | 'invalid_webhook' | 'invalid_token' | 'invalid_invite' | 'missing_credentials' | 'invalid_credentials' | 'ambiguous_credentials' | 'invalid_signature' | 'signature_required' | 'budget_exceeded' | 'run_exhausted' | 'run_closed' | 'payment_declined' | 'forbidden' | 'confirmation_failed' | 'scope_required' | 'live_key_required' | 'storing_off' | 'plan_required' | 'dedicated_capacity_required' | 'session_required' | 'model_not_allowed' | 'endpoint_not_allowed' | 'not_found' | 'unknown_path' | 'model_not_found' | 'method_not_allowed' | 'headers_too_large' | 'expectation_failed' | 'malformed_request' | 'request_timeout' | 'conflict' | 'slug_taken' | 'invalid_transition' | 'registration_closed' | 'idempotency_conflict' | 'idempotency_in_progress' | 'payload_too_large' | 'body_too_complex' | 'storage_limit_reached' | 'range_not_satisfiable' | 'unsupported_media_type' | 'validation_failed' | 'unpriced_feature' | 'context_length_exceeded' | 'rate_limited' | 'budget_in_flight' | 'disconnected_in_flight' | 'upstream_rate_limited' | 'invalid_mfa_code' | 'challenge_expired' | 'invalid_passkey' | 'recent_login_required' | 'authorization_pending' | 'slow_down' | 'access_denied' | 'expired_token' | 'management_key_not_allowed' | 'address_not_allowed' | 'directory_login_required' | 'upgrade_required' | 'realtime_sessions_full' | 'session_expired' | 'internal_error' | 'upstream_failed' | 'no_provider_configured' | 'shared_capacity_full' | 'store_unavailable' | 'payments_unavailable' | 'storage_unavailable' | 'provider_loop' | 'upstream_timeout';
  doc_url: string;
  /** The request field at fault, or null. */
  param: string | null;
  /** Every fault found in the input. */
  errors?: FieldError[] | undefined;
  /** Present on refusals over money. */
  budget?: BudgetDetail | undefined;
}

/** A model, in Anthropic’s form. */
export interface AnthropicModel {
  type: 'model';
  id: string;
  display_name: string;
  created_at: string;
  max_input_tokens: number | null;
  max_tokens: number | null;
}

/** A page of models, in Anthropic’s form. */
export interface AnthropicModelList {
  data: AnthropicModel[];
  has_more: boolean;
  first_id: string | null;
  /** The `after_id` of the next page. */
  last_id: string | null;
}

export interface AnthropicModelQuery {
  limit?: number | undefined;
  after_id?: string | undefined;
  before_id?: string | undefined;
}

/** One change, by whom and from where. Entries are never changed and never deleted. */
export interface AuditLogEntry {
  /** UUIDv7. */
  entry_id: string;
  /** Whose log it belongs to; null for what concerns no account. */
  account_id: string | null;
  actor: {
    /** Who did it; `internal` is the web front end. */
    kind: 'user' | 'key' | 'management_key' | 'internal' | 'system';
    /** The id of the user, of the API key or of the management key. */
    id: string | null;
  };
  /** What was done: noun and verb. */
  action: string;
  target: {
    kind: string;
    id: string;
  };
  /** What changed, without secrets; e-mail addresses are shortened. */
  changes: { [name: string]: unknown };
  /** Where the change came from. Null in answers to API keys, and where no request was behind it. */
  ip: string | null;
  user_agent: string | null;
  request_id: string | null;
  /** RFC 3339, UTC. */
  created_at: string;
}

/** Entries of the audit log, newest first. */
export interface AuditLogResponse {
  data: AuditLogEntry[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** A batch, in OpenAI’s shape. */
export interface Batch {
  id: string;
  object: 'batch';
  /** What all lines ask for. */
  endpoint: '/v1/chat/completions' | '/v1/responses' | '/v1/messages' | '/v1/completions' | '/v1/embeddings' | '/v1/moderations' | '/v1/images/generations' | '/v1/images/edits' | '/v1/videos';
  /** The model of all lines; left out where they ask for several. */
  model?: string | undefined;
  /** Why it failed: nothing of it was run then, and nothing charged. */
  errors?: {
    object: 'list';
    data: BatchError[];
  } | undefined;
  input_file_id: string;
  completion_window: string;
  status: 'validating' | 'failed' | 'in_progress' | 'finalizing' | 'completed' | 'expired' | 'cancelling' | 'cancelled';
  /** The answers, one a line; left out where there are none. */
  output_file_id?: string | undefined;
  /** The lines that failed; left out where none did. */
  error_file_id?: string | undefined;
  /** Unix seconds. */
  created_at: number;
  /** When it was valid and its worst case held, unix seconds. */
  in_progress_at?: number | undefined;
  /** When lines that are not done expire, unix seconds. */
  expires_at?: number | undefined;
  /** When all lines were done, unix seconds. */
  finalizing_at?: number | undefined;
  /** When its files were there, unix seconds. */
  completed_at?: number | undefined;
  /** When it failed, unix seconds. */
  failed_at?: number | undefined;
  /** When it ended without being done, unix seconds. */
  expired_at?: number | undefined;
  /** When it was asked to end, unix seconds. */
  cancelling_at?: number | undefined;
  /** When it had ended, unix seconds. */
  cancelled_at?: number | undefined;
  request_counts: {
    /** All lines. */
    total: number;
    /** Lines in the output file. */
    completed: number;
    /** Lines in the error file. */
    failed: number;
  };
  usage?: BatchUsage | undefined;
  /** Up to 16 pairs of texts of the caller’s own. */
  metadata: { [name: string]: string } | null;
}

/** Google’s request for several vectors. */
export interface BatchEmbedContentsRequest {
  /** Passed over: the model of the path counts. */
  model?: string | null | undefined;
  /** Each gives a vector; all of one length. */
  requests: EmbedContentRequest[];
  [field: string]: unknown;
}

/** One vector for each request, in order. */
export interface BatchEmbedContentsResponse {
  embeddings: {
    values: number[];
    [field: string]: unknown;
  }[];
  usageMetadata: {
    promptTokenCount: number;
    totalTokenCount?: number | undefined;
    /** What the request cost, USD. For people: the exact amount is in the receipt. */
    cost?: number | undefined;
    [field: string]: unknown;
  };
  [field: string]: unknown;
}

/** Why a batch was not begun. */
export interface BatchError {
  code: string;
  message: string;
  /** The field of the line at fault. */
  param: string | null;
  /** The line at fault, from 1. */
  line: number | null;
}

/** A page of batches. */
export interface BatchList {
  object: 'list';
  data: Batch[];
  first_id: string;
  /** The `after` of the next page; empty where the page is. */
  last_id: string;
  has_more: boolean;
}

/** Tokens of all answered lines. */
export interface BatchUsage {
  /** Tokens in. */
  input_tokens: number;
  input_tokens_details: {
    /** Of them read from a cache. */
    cached_tokens: number;
  };
  /** Tokens out. */
  output_tokens: number;
  output_tokens_details: {
    /** Of them spent on reasoning. */
    reasoning_tokens: number;
  };
  /** Both together. */
  total_tokens: number;
}

/** What the passkey is for. */
export interface BeginPasskeyLoginRequest {
  /** Of a login with a password: the passkey is its second factor. Left out, the passkey is the whole login. */
  challenge_token?: string | undefined;
}

/** The activation of an invitation. A mailed invitation can be activated only with the address it was mailed to. */
export interface BetaInviteActivateRequest {
  /** From the invitation. */
  code: string;
  /** E-mail address. An internationalized domain is stored and returned in its ASCII spelling (`xn--…`). */
  email: string;
  /** Display name. */
  name?: string | undefined;
}

/** Access to the beta. The account has it a moment later; anyone who has no account gets a mail to claim one. */
export interface BetaInviteActivationResponse {
  /** UUIDv7. */
  activation_id: string;
  status: 'activated';
  /** E-mail address. An internationalized domain is stored and returned in its ASCII spelling (`xn--…`). */
  email: string;
  /** The trial plan of the account, unless it has a paid plan or a better granted one. */
  plan_id: PlanId | null;
  plan_until: string | null;
  /** The credit added to the balance. */
  credit_usd: string;
  /** RFC 3339, UTC. */
  activated_at: string;
}

/** The numbers behind a refusal over money. */
export interface BudgetDetail {
  /** Which of the request’s limits refused it: `agent_run` is the ceiling that the run was begun with, `run` a limit that the account sets for runs. */
  limit_source: 'agent_run' | 'key' | 'plan_quota' | 'balance' | 'account' | 'project' | 'member' | 'run' | 'end_user' | 'tag' | 'model';
  /** What the limit applies to, for limits of `GET /v1/limits`: a tag, the id of a project. */
  subject?: string | undefined;
  /** Of such a limit: `hour`, `day`, `week`, `month` or `lifetime`. */
  period?: string | undefined;
  /** The limit, USD. */
  cap_usd: string;
  /** Settled so far in the period, USD. */
  spent_usd: string;
  /** Held by requests that are still running, USD. */
  held_usd: string;
  /** Worst-case cost of this request, USD. */
  required_usd: string;
  /** When the period ends; null for limits without one. */
  resets_at: string | null;
  /** Present where nothing may go beyond the quota of the plan: its numbers, in units of the meter. */
  quota?: {
    /** The one of which least is left. */
    meter: string;
    /** By the plan, until `resets_at`. */
    included: number;
    /** Of what is included. */
    used: number;
    /** By requests that are still running. */
    held: number;
    /** What this request may use. */
    required: number;
  } | undefined;
}

/** OpenAI’s chat completion. */
export interface ChatCompletion {
  id: string;
  object: 'chat.completion';
  created: number;
  model: string;
  choices: {
    index: number;
    finish_reason: string;
    message: {
      role: 'assistant';
      content: string | null;
      refusal?: string | null | undefined;
      tool_calls?: {
        id: string;
        type: string;
        function?: {
          name: string;
          arguments: string;
          [field: string]: unknown;
        } | undefined;
        [field: string]: unknown;
      }[] | undefined;
      [field: string]: unknown;
    };
    /** Log probabilities, or null. */
    logprobs?: unknown | undefined;
    [field: string]: unknown;
  }[];
  usage?: ChatUsage | undefined;
  [field: string]: unknown;
}

/** One event of a streamed chat completion. */
export interface ChatCompletionChunk {
  id: string;
  object: 'chat.completion.chunk';
  created: number;
  model: string;
  choices: {
    index: number;
    delta: {
      role?: string | undefined;
      content?: string | null | undefined;
      tool_calls?: {
        index: number;
        [field: string]: unknown;
      }[] | undefined;
      [field: string]: unknown;
    };
    finish_reason?: string | null | undefined;
    [field: string]: unknown;
  }[];
  usage?: ChatUsage | null | undefined;
  [field: string]: unknown;
}

/** The completion is gone. */
export interface ChatCompletionDeleted {
  id: string;
  object: 'chat.completion.deleted';
  deleted: true;
}

/** A page of stored chat completions. */
export interface ChatCompletionList {
  object: 'list';
  data: ChatCompletion[];
  first_id: string;
  /** The `after` of the next page; empty where the page is. */
  last_id: string;
  has_more: boolean;
}

/** A message that a stored chat completion answers. */
export interface ChatCompletionMessage {
  id: string;
  role: string;
  content: string | null;
  /** Where the content was given in parts: those of text and image. */
  content_parts?: {
    type: string;
    [field: string]: unknown;
  }[] | null | undefined;
  [field: string]: unknown;
}

/** A page of messages. */
export interface ChatCompletionMessageList {
  object: 'list';
  data: ChatCompletionMessage[];
  first_id: string;
  /** The `after` of the next page; empty where the page is. */
  last_id: string;
  has_more: boolean;
}

/** OpenAI’s chat completion request. Fields that are not listed here are passed through to the provider. */
export interface ChatCompletionRequest {
  /** A model of the catalogue. */
  model: string;
  /** Fallbacks in order, tried when `model` cannot be served. Not sent to the provider. */
  models?: string[] | null | undefined;
  /** Which providers may serve the request, and in which order. Not sent to them. */
  provider?: ProviderPreference | null | undefined;
  /** The conversation so far. */
  messages: ChatMessage[];
  /** Answer as server-sent events. */
  stream?: boolean | null | undefined;
  /** `include_usage` for a last chunk with tokens and cost. */
  stream_options?: {
    include_usage?: boolean | null | undefined;
    include_obfuscation?: boolean | null | undefined;
    [field: string]: unknown;
  } | null | undefined;
  /** Upper bound on tokens out (older name). */
  max_tokens?: number | null | undefined;
  /** Upper bound on tokens out, reasoning included. */
  max_completion_tokens?: number | null | undefined;
  /** How many choices. */
  n?: number | null | undefined;
  /** How freely tokens are drawn: 0 keeps to the likeliest. */
  temperature?: number | null | undefined;
  /** Only the likeliest tokens that together have this probability are drawn from. */
  top_p?: number | null | undefined;
  /** Above 0, tokens that were used at all become less likely. */
  presence_penalty?: number | null | undefined;
  /** Above 0, tokens become less likely the more often they were used. */
  frequency_penalty?: number | null | undefined;
  /** Texts at which the answer ends; they are not part of it. */
  stop?: string | string[] | null | undefined;
  /** Asks for the same answer to the same request, as far as the provider can. */
  seed?: number | null | undefined;
  /** Whether the answer tells how likely its tokens were. */
  logprobs?: boolean | null | undefined;
  /** So many of the likeliest tokens at each place, with `logprobs`. */
  top_logprobs?: number | null | undefined;
  /** By token id: from -100, never, to 100, always. */
  logit_bias?: { [name: string]: number } | null | undefined;
  /** Functions that the model may ask to have called. */
  tools?: {
    type: string;
    function?: {
      name: string;
      description?: string | null | undefined;
      parameters?: { [name: string]: unknown } | null | undefined;
      strict?: boolean | null | undefined;
      [field: string]: unknown;
    } | undefined;
    [field: string]: unknown;
  }[] | null | undefined;
  /** `none`, `auto`, `required` or a named tool. */
  tool_choice?: unknown | undefined;
  /** Whether it may ask for several calls at once. */
  parallel_tool_calls?: boolean | null | undefined;
  /** `json_schema` for an answer that follows a schema. */
  response_format?: {
    type: 'text' | 'json_object' | 'json_schema';
    json_schema?: {
      name: string;
      schema?: { [name: string]: unknown } | null | undefined;
      strict?: boolean | null | undefined;
      [field: string]: unknown;
    } | undefined;
    [field: string]: unknown;
  } | null | undefined;
  /** How long a reasoning model thinks, as its provider names it. */
  reasoning_effort?: string | null | undefined;
  /** What the answer is made of: `text`, `audio`. */
  modalities?: string[] | null | undefined;
  /** Kept with a completion that is stored, to find it by. */
  metadata?: { [name: string]: string } | null | undefined;
  /** The provider’s tier of processing. */
  service_tier?: string | null | undefined;
  /** An id of your own user, for the provider’s watch on abuse. */
  user?: string | null | undefined;
  [field: string]: unknown;
}

/** A part of a message’s content. */
export type ChatContentPart = {
  type: 'text';
  text: string;
  [field: string]: unknown;
} | {
  type: 'refusal';
  refusal: string;
  [field: string]: unknown;
} | {
  type: 'image_url';
  image_url: {
    /** An https URL or a data URL. */
    url: string;
    detail?: 'auto' | 'low' | 'high' | 'original' | null | undefined;
    [field: string]: unknown;
  };
  [field: string]: unknown;
} | {
  type: 'input_audio';
  input_audio: {
    data: string;
    format: string;
    [field: string]: unknown;
  };
  [field: string]: unknown;
} | {
  type: 'file';
  file: { [name: string]: unknown };
  [field: string]: unknown;
} | {
  type: 'video_url';
  video_url: {
    url: string;
    [field: string]: unknown;
  };
  [field: string]: unknown;
};

/** A message of the conversation. */
export interface ChatMessage {
  role: 'developer' | 'system' | 'user' | 'assistant' | 'tool' | 'function';
  content?: string | ChatContentPart[] | null | undefined;
  name?: string | null | undefined;
  tool_calls?: {
    id: string;
    type: string;
    function?: {
      name: string;
      arguments: string;
      [field: string]: unknown;
    } | undefined;
    [field: string]: unknown;
  }[] | null | undefined;
  tool_call_id?: string | null | undefined;
  [field: string]: unknown;
}

/** OpenAI’s usage, with the cost added. */
export interface ChatUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details?: {
    cached_tokens?: number | undefined;
    [field: string]: unknown;
  } | undefined;
  completion_tokens_details?: {
    reasoning_tokens?: number | undefined;
    [field: string]: unknown;
  } | undefined;
  /** What the request cost, USD. For people: the exact amount is in the receipt. */
  cost?: number | undefined;
  [field: string]: unknown;
}

/** A request to the team. */
export interface ClientRequestCreateRequest {
  type: ClientRequestType;
  /** Display name. */
  name: string;
  /** E-mail address. An internationalized domain is stored and returned in its ASCII spelling (`xn--…`). */
  email: string;
  /** Their company. */
  company?: string | undefined;
  /** The kind of client. */
  client_type?: 'individual' | 'startup' | 'business' | 'enterprise' | undefined;
  /** Plain text; markup is shown literally. */
  message: string;
  /** Whether they want news by mail. A mail asks the person who reads mail at the address, and only their answer counts: anybody can type anybody’s address. */
  marketing_consent?: boolean | undefined;
}

/** One change, or one note. */
export interface ClientRequestEntry {
  /** UUIDv7. */
  entry_id: string;
  actor: {
    /** Who did it. */
    kind: 'user' | 'key' | 'management_key';
    /** The id of the user or of the API key. */
    id: string | null;
  };
  /** Each changed field with its old and new value; empty for a note. */
  changes: { [name: string]: unknown };
  note: string | null;
  /** RFC 3339, UTC. */
  created_at: string;
}

/** The request was received. */
export interface ClientRequestReceivedResponse {
  /** Reference of the request. */
  request_id: string;
  type: ClientRequestType;
  /** RFC 3339, UTC. */
  received_at: string;
}

/** The status of a request; `waiting` is for an answer of the client. */
export type ClientRequestStatus = 'new' | 'in_progress' | 'waiting' | 'done' | 'declined';

/** What a request is about. */
export type ClientRequestType = 'sales' | 'enterprise' | 'support' | 'partnership' | 'press' | 'other';

/** The caller’s own signature of the request, as it was verified. */
export interface ClientSignature {
  alg: 'ed25519';
  /** The key that was registered on the API key: 32 bytes, base64url. */
  public_key: string;
  /** What was covered, with parameters: the value of `@signature-params` (RFC 9421, section 2.3). */
  signature_input: string;
  /** Ed25519 signature over the signature base, 64 bytes, base64url. */
  signature: string;
  /** `Content-Digest` of the request as sent (RFC 9530). Its sha-256 is `request_sha256`. */
  content_digest: string;
}

/** A dialogue that has become long. */
export interface CompactRequest {
  /** A model of the catalogue. */
  model: string;
  /** Fallbacks in order, tried when `model` cannot be served. Not sent to the provider. */
  models?: string[] | null | undefined;
  input?: string | ResponseItem[] | null | undefined;
  instructions?: string | null | undefined;
  previous_response_id?: string | null | undefined;
  prompt_cache_key?: string | null | undefined;
  /** Taken from clients that send the whole request of a response; the summary is made without it. */
  tools?: unknown | undefined;
  /** Taken from clients that send the whole request of a response; the summary is made without it. */
  tool_choice?: unknown | undefined;
  /** Taken from clients that send the whole request of a response; the summary is made without it. */
  parallel_tool_calls?: unknown | undefined;
  /** Taken from clients that send the whole request of a response; the summary is made without it. */
  reasoning?: unknown | undefined;
  /** Taken from clients that send the whole request of a response; the summary is made without it. */
  text?: unknown | undefined;
  /** Taken from clients that send the whole request of a response; the summary is made without it. */
  service_tier?: unknown | undefined;
  /** Taken from clients that send the whole request of a response; the summary is made without it. */
  prompt_cache_options?: unknown | undefined;
  /** Taken from clients that send the whole request of a response; the summary is made without it. */
  prompt_cache_retention?: unknown | undefined;
}

/** The user’s messages, and one item in place of everything else: the input of the next response. */
export interface CompactedResponse {
  id: string;
  object: 'response.compaction';
  created_at: number;
  output: ResponseItem[];
  usage: ResponseUsage;
}

/** Which parts make the file, in which order. */
export interface CompleteUploadRequest {
  /** The parts of the file, in its order. */
  part_ids: string[];
  /** MD5 of the whole file, in hex, to be checked. */
  md5?: string | undefined;
}

/** OpenAI’s completion. */
export interface Completion {
  id: string;
  object: 'text_completion';
  created: number;
  model: string;
  choices: {
    index: number;
    text: string;
    finish_reason: string | null;
    /** Log probabilities, or null. */
    logprobs: unknown;
    [field: string]: unknown;
  }[];
  usage?: ChatUsage | null | undefined;
  [field: string]: unknown;
}

/** OpenAI’s older completion request. Fields that are not listed here are passed through to the provider. */
export interface CompletionRequest {
  /** A model of the catalogue. */
  model: string;
  /** Fallbacks in order, tried when `model` cannot be served. Not sent to the provider. */
  models?: string[] | null | undefined;
  /** Which providers may serve the request, and in which order. Not sent to them. */
  provider?: ProviderPreference | null | undefined;
  /** The text to go on from; several make several choices. */
  prompt: string | string[] | number[] | number[][];
  best_of?: number | null | undefined;
  echo?: boolean | null | undefined;
  frequency_penalty?: number | null | undefined;
  logit_bias?: { [name: string]: number } | null | undefined;
  logprobs?: number | null | undefined;
  /** Upper bound on tokens out, of one choice. */
  max_tokens?: number | null | undefined;
  n?: number | null | undefined;
  presence_penalty?: number | null | undefined;
  seed?: number | null | undefined;
  stop?: string | string[] | null | undefined;
  /** Answer as server-sent events. */
  stream?: boolean | null | undefined;
  stream_options?: {
    include_usage?: boolean | null | undefined;
    [field: string]: unknown;
  } | null | undefined;
  suffix?: string | null | undefined;
  temperature?: number | null | undefined;
  top_p?: number | null | undefined;
  /** An id of the end user, as the caller names them. */
  user?: string | null | undefined;
  [field: string]: unknown;
}

/** How many tokens a prompt has. */
export interface ContentTokensCount {
  totalTokens: number;
}

/** The kind of text. */
export type ContentType = 'post' | 'page' | 'changelog' | 'case_study' | 'announcement';

/** A conversation, kept until it is deleted. */
export interface Conversation {
  id: string;
  object: 'conversation';
  /** Unix seconds. */
  created_at: number;
  metadata: { [name: string]: string };
}

/** The conversation is gone, its items too. */
export interface ConversationDeleted {
  id: string;
  object: 'conversation.deleted';
  deleted: true;
}

/** Which request was settled wrongly, what it really used, and why that is known. */
export interface CorrectionRequest {
  /** The `X-Request-Id` of the answer. */
  request_id: string;
  /** What was really used, all of it: what is left out was not used. Counted as receipts count. */
  usage: {
    input_tokens: number;
    cached_input_tokens: number;
    cache_write_tokens: number;
    output_tokens: number;
    reasoning_tokens: number;
    /** Part of the input: written to the provider’s cache for an hour. */
    cache_write_1h_tokens?: number | undefined;
    /** Part of the input, cached ones included. */
    audio_input_tokens?: number | undefined;
    /** Part of the audio tokens in. */
    cached_audio_input_tokens?: number | undefined;
    /** Part of the input, cached ones included. */
    image_input_tokens?: number | undefined;
    /** Part of the image tokens in. */
    cached_image_input_tokens?: number | undefined;
    /** Part of the output. */
    image_output_tokens?: number | undefined;
    /** Characters of text to be spoken. */
    input_characters?: number | undefined;
    /** Whole seconds of audio in, rounded up. */
    audio_seconds?: number | undefined;
    /** Whole seconds of video made, rounded up. */
    video_seconds?: number | undefined;
    /** Images made: counted, and priced by their tokens. */
    images?: number | undefined;
    /** Part of the output. */
    audio_output_tokens?: number | undefined;
    /** Searches of the web by the provider. */
    web_searches?: number | undefined;
    /** Searches of the web by the provider’s older tool. */
    web_search_previews?: number | undefined;
    /** Searches of stored files by the provider. */
    file_searches?: number | undefined;
    /** Memory of the containers that the provider ran, gigabytes: of each, for every session of twenty minutes. */
    container_gigabytes?: number | undefined;
    /** Text tokens that the provider’s image tool took. */
    image_tool_text_input_tokens?: number | undefined;
    /** Image tokens that the provider’s image tool took. */
    image_tool_image_input_tokens?: number | undefined;
    /** Text tokens that the provider’s image tool gave. */
    image_tool_text_output_tokens?: number | undefined;
    /** Image tokens that the provider’s image tool gave. */
    image_tool_image_output_tokens?: number | undefined;
    /** Searches of a rerank model: a query with up to a hundred documents each. */
    search_units?: number | undefined;
  };
  /** Stands in the correction’s receipt, which is public to anyone who knows its id. */
  reason: string;
}

/** A correction as it was decided. */
export interface CorrectionResponse {
  /** UUIDv7. */
  correction_id: string;
  /** The correction’s own receipt. It can be read a moment later. */
  receipt_id: string;
  /** The receipt in whose place it is. */
  corrects: string;
  /** UUIDv7. */
  account_id: string;
  request_id: string;
  reason: string;
  usage: ReceiptUsage;
  /** What that comes to at the prices of the request: every cap counts this now. */
  cost_usd: string;
  /** Decimal string, USD. */
  cost_before_usd: string;
  /** The part of it that the account pays beyond its quota. */
  charged_usd: string;
  /** Decimal string, USD. */
  charged_before_usd: string;
  /** RFC 3339, UTC. */
  corrected_at: string;
}

/** A prompt, to be counted. */
export interface CountContentTokensRequest {
  contents?: GoogleContent[] | null | undefined;
  /** In place of `contents`: with all that is sent. */
  generateContentRequest?: GenerateContentRequest | null | undefined;
}

/** A message’s prompt, to be counted. */
export interface CountTokensRequest {
  /** A model of the catalogue. */
  model: string;
  /** The conversation so far. */
  messages: MessageParam[];
  /** The system prompt. */
  system?: string | {
    type: 'text';
    text: string;
    [field: string]: unknown;
  }[] | null | undefined;
  /** Tools that the model may ask to have called. */
  tools?: MessageTool[] | null | undefined;
  tool_choice?: {
    type: 'auto' | 'any' | 'tool' | 'none';
    name?: string | undefined;
    disable_parallel_tool_use?: boolean | null | undefined;
    [field: string]: unknown;
  } | null | undefined;
  /** Whether the model thinks first, and for how many tokens at most. */
  thinking?: {
    type: 'enabled' | 'disabled' | 'adaptive';
    budget_tokens?: number | null | undefined;
    [field: string]: unknown;
  } | null | undefined;
  [field: string]: unknown;
}

/** Many requests, to be answered within a day at half the price. */
export interface CreateBatchRequest {
  /** A file with the purpose `batch`: one request a line, up to 50,000 lines and 200 MiB. */
  input_file_id: string;
  /** What all lines ask for. */
  endpoint: '/v1/chat/completions' | '/v1/responses' | '/v1/messages' | '/v1/completions' | '/v1/embeddings' | '/v1/moderations' | '/v1/images/generations' | '/v1/images/edits' | '/v1/videos';
  /** In which the batch is worked on. */
  completion_window: '24h';
  /** Up to 16 pairs of texts of the caller’s own. */
  metadata?: { [name: string]: string } | null | undefined;
  /** When output and error file delete themselves. Without it they stay. */
  output_expires_after?: {
    /** From the creation of the file on. */
    anchor: 'created_at';
    /** For how long: 3,600 to 2,592,000 seconds. */
    seconds: number;
  } | null | undefined;
}

/** A new conversation, with its first items. */
export interface CreateConversationRequest {
  items?: ResponseItem[] | null | undefined;
  metadata?: { [name: string]: string } | null | undefined;
}

export interface CreateFileFields {
  /** What the file is for. */
  purpose: 'assistants' | 'batch' | 'fine-tune' | 'vision' | 'user_data' | 'evals';
  /** When the file deletes itself. Files for `batch` do so after thirty days unless this says otherwise. */
  expires_after?: {
    /** From when on. */
    anchor: 'created_at';
    /** For how long: 3,600 to 2,592,000 seconds. */
    seconds: number;
  } | undefined;
}

/** Items for the end of a conversation. */
export interface CreateItemsRequest {
  items: ResponseItem[];
}

/** A new API key. */
export interface CreateKeyRequest {
  /** For people. */
  name: string;
  /** `false` makes a `tg_test_` key: sandbox provider only, never billed. */
  livemode?: boolean | undefined;
  /** What the key may do. */
  scopes?: Scope[] | undefined;
  /** Your own id of it, once in an account. To create it again with the same content answers with what is there. */
  external_id?: string | undefined;
  /** The project that it belongs to; a person’s own when left out. */
  project_id?: string | undefined;
  /** When the key stops working by itself. */
  expires_at?: string | undefined;
  /** Hard monthly cap, USD, UTC calendar month. None when left out. */
  monthly_cap_usd?: string | undefined;
  /** The only models that the key may use, fallbacks included. Null: all. */
  allowed_models?: string[] | null | undefined;
  /** The only endpoints that the key may spend on. Null: all. */
  allowed_endpoints?: InferenceEndpoint[] | null | undefined;
  rate_limits?: KeyRateLimitsInput | undefined;
  /** Your own notes: at most 16 pairs. */
  metadata?: { [name: string]: string } | undefined;
  /** Ed25519 public key, base64url of 32 bytes (the `x` of a JWK). Signatures of requests (RFC 9421) are verified with it. */
  signing_public_key?: string | null | undefined;
  /** Inference requests without a valid signature are refused. */
  require_signature?: boolean | undefined;
}

/** A new management key. */
export interface CreateManagementKeyRequest {
  /** For people. */
  name: string;
  /** What the key may do. */
  scopes: ManagementScope[];
  /** The only addresses that the key works from. Null: all. */
  allowed_addresses?: string[] | null | undefined;
  /** When the key stops working by itself. */
  expires_at?: string | undefined;
}

/** Many messages, to be answered within a day at half the price. */
export interface CreateMessageBatchRequest {
  /** The requests, each with a unique `custom_id`. */
  requests: {
    custom_id: string;
    params: { [name: string]: unknown };
  }[];
}

/** A new passkey. */
export interface CreatePasskeyRequest {
  /** For its owner. */
  name: string;
  credential: NewPasskeyCredential;
}

/** A new project. */
export interface CreateProjectRequest {
  /** For people. */
  name: string;
  /** Your own id of it, once in an account. To create it again with the same content answers with what is there. */
  external_id?: string | undefined;
}

/** A file to be sent in parts. */
export interface CreateUploadRequest {
  /** Size of the whole file. The parts have to add up to it. */
  bytes: number;
  /** Name of the file. */
  filename: string;
  /** Media type of the file. */
  mime_type: string;
  /** What the file is for. */
  purpose: 'assistants' | 'batch' | 'fine-tune' | 'vision' | 'user_data' | 'evals';
  /** When the file deletes itself. Files for `batch` do so after thirty days unless this says otherwise. */
  expires_after?: {
    /** From when on. */
    anchor: 'created_at';
    /** For how long: 3,600 to 2,592,000 seconds. */
    seconds: number;
  } | undefined;
}

/** A new user with a new account. */
export interface CreateUserRequest {
  /** E-mail address. An internationalized domain is stored and returned in its ASCII spelling (`xn--…`). */
  email: string;
  /** 10 to 256 characters. What is easy to guess is refused. */
  password: string;
  /** Display name. */
  name?: string | undefined;
  /** Whether they want news by mail. A mail asks the person who reads mail at the address, and only their answer counts: anybody can type anybody’s address. */
  marketing_consent?: boolean | undefined;
}

/** A new webhook. */
export interface CreateWebhookRequest {
  /** Where events are sent. */
  url: string;
  owner?: WebhookOwner | undefined;
  /** For people. */
  description?: string | undefined;
  format?: WebhookFormat | undefined;
  /** Only events of these types; null for all. */
  event_types?: WebhookEventName[] | null | undefined;
}

/** The plan of the account. */
export interface CurrentPlanResponse {
  plan: PlanConfigResponse;
  subscription: {
    /** `past_due`: a renewal was declined and is tried again; the plan stays until `grace_ends_at`. */
    status: 'none' | 'incomplete' | 'trialing' | 'active' | 'past_due' | 'unpaid' | 'paused' | 'canceled';
    period_start: string | null;
    period_end: string | null;
    cancels_at_period_end: boolean;
    grace_ends_at: string | null;
  };
  /** Grows with every change of plan. */
  change_version: number;
  scheduled_downgrade: PlanDowngradeScheduleResponse | null;
  /** False: of the payment sandbox. It never changes what live keys may do, nor what they pay. */
  livemode: boolean;
}

/** What to reserve. */
export interface DedicatedCapacityRequest {
  /** Null ends the contract. */
  dedicated_capacity: {
    /** Requests per minute, apart from those of the plan. */
    requests_per_minute: number;
    /** Tokens per minute, apart from those of the plan. */
    tokens_per_minute: number;
    /** Requests at the same time, kept free on every gateway. */
    concurrency: number;
  } | null;
}

/** How one deployment of a model is doing, as the answering process sees it. */
export interface DeploymentHealth {
  /** The provider’s name and its place in the configuration. */
  deployment: string;
  provider: string;
  model: string;
  /** The provider’s own name for the model. */
  upstream_model: string;
  /** Share of the model’s traffic, relative to its other deployments. */
  weight: number;
  /** `closed`: asked as usual. `open`: it failed or was at its limit, and is not asked while another one can be. `half_open`: one request at a time finds out whether it is back. */
  state: 'closed' | 'open' | 'half_open';
  open_until: string | null;
  /** Of the last minute; the newest hundred at most. */
  recent_calls: number;
  recent_failures: number;
  /** Until the first byte, a moving average, milliseconds. */
  latency_ms: number | null;
  /** What this gateway may ask with the provider’s key, of all models together; null where no limits are set. */
  limits: {
    requests_per_minute: number | null;
    tokens_per_minute: number | null;
    concurrency: number | null;
    /** How long until another call may be sent; 0: now. */
    free_in_ms: number;
  } | null;
  last_failure: {
    /** RFC 3339, UTC. */
    at: string;
    kind: 'rejected' | 'rate_limited' | 'timeout' | 'cancelled' | 'failed';
    /** The provider’s HTTP status, null when none came. */
    status: number | null;
  } | null;
}

/** Every configured deployment of every model. */
export interface DeploymentHealthList {
  data: DeploymentHealth[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** The code that the program shows. */
export interface DeviceDecisionRequest {
  /** Eight letters, in any case, with or without the dash. */
  user_code: string;
}

/** A program that a user signs in with a browser. */
export interface DeviceLoginRequest {
  /** What asks, in words that its user recognises. It is shown as what the asker calls itself. */
  client_name: string;
}

/** What is shown to the person, and what the program asks with (RFC 8628, 3.2). */
export interface DeviceLoginResponse {
  /** Opaque, `tgd_…`: 256 random bits that only the asking program knows. */
  device_code: string;
  /** For a person to type or compare: `XXXX-XXXX`, consonants only. */
  user_code: string;
  /** The page to open. */
  verification_uri: string;
  /** The same page with the code filled in. */
  verification_uri_complete: string;
  /** Seconds until both codes are dead. */
  expires_in: number;
  /** Seconds to wait between two questions for the session. */
  interval: number;
}

/** Asks whether the person has decided. */
export interface DeviceTokenRequest {
  /** Opaque, `tgd_…`: 256 random bits that only the asking program knows. */
  device_code: string;
}

/** A group of the company’s directory. */
export interface DirectoryGroup {
  /** UUIDv7. */
  group_id: string;
  /** As the directory names it. */
  display_name: string;
  /** The directory’s own id of it. */
  external_id: string | null;
  /** What members of the group are in the account; null: what their other groups make of them. */
  account_role: 'admin' | 'billing' | 'developer' | 'viewer' | null;
  /** Projects that members of the group are members of. */
  projects: {
    /** UUIDv7. */
    project_id: string;
    project_role: ProjectRole;
  }[];
}

/** Groups, the newest first. */
export interface DirectoryGroupList {
  data: DirectoryGroup[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** Takes the session after a sign-in with the directory. */
export interface DirectoryLoginRequest {
  /** What came back to `redirect_uri`: works once, for a minute. */
  code: string;
  /** The secret whose SHA-256 was the `code_challenge`. */
  code_verifier: string;
}

/** The session here has ended. */
export interface DirectoryLogoutResponse {
  /** Where a browser ends the session at the directory as well; null where it has no such page. */
  logout_url: string | null;
}

/** What the providers say that they serve. */
export interface DiscoveryReport {
  providers: {
    provider: string;
    /** The ids of all models that it serves. */
    found: string[];
    /** Those of them that need a price before they are served. */
    without_price: string[];
    /** Why it could not be asked; then what it served when it was asked last still counts. */
    error: string | null;
  }[];
}

/** E-mail address. An internationalized domain is stored and returned in its ASCII spelling (`xn--…`). */
export type Email = string;

export type EmailAddress = string;

/** Proof that the address is read by its user. */
export interface EmailVerifyRequest {
  /** From the link in the mail. */
  token: string;
}

/** Google’s request for a vector. A field that is not listed here is sent to Google as it is. */
export interface EmbedContentRequest {
  /** Passed over: the model of the path counts. */
  model?: string | null | undefined;
  /** What to embed: its texts. */
  content: GoogleContent;
  /** Length of the vector, where the model lets it be chosen. */
  outputDimensionality?: number | null | undefined;
  /** What the vector is for. Sent to Google, and to no other provider. */
  taskType?: unknown | undefined;
  /** Of a document that is to be found. Sent to Google, and to no other provider. */
  title?: unknown | undefined;
  [field: string]: unknown;
}

/** A vector, in Google’s form. */
export interface EmbedContentResponse {
  embedding: {
    values: number[];
    [field: string]: unknown;
  };
  usageMetadata: {
    promptTokenCount: number;
    totalTokenCount?: number | undefined;
    /** What the request cost, USD. For people: the exact amount is in the receipt. */
    cost?: number | undefined;
    [field: string]: unknown;
  };
  [field: string]: unknown;
}

/** One vector for each input, in order. */
export interface EmbeddingList {
  object: 'list';
  data: {
    object: 'embedding';
    index: number;
    /** Numbers, or base64 where it was asked for. */
    embedding: number[] | string;
    [field: string]: unknown;
  }[];
  model: string;
  usage: {
    prompt_tokens: number;
    total_tokens: number;
    /** What the request cost, USD. For people: the exact amount is in the receipt. */
    cost?: number | undefined;
    [field: string]: unknown;
  };
  [field: string]: unknown;
}

/** OpenAI’s embedding request. Fields that are not listed here are passed through to the provider. */
export interface EmbeddingRequest {
  /** A model of the catalogue. */
  model: string;
  /** Fallbacks in order, tried when `model` cannot be served. Not sent to the provider. */
  models?: string[] | null | undefined;
  /** Which providers may serve the request, and in which order. Not sent to them. */
  provider?: ProviderPreference | null | undefined;
  /** What to embed; several give several vectors. */
  input: string | string[] | number[] | number[][];
  /** Length of the vectors, where the model lets it be chosen. */
  dimensions?: number | null | undefined;
  /** `base64`: little-endian 32-bit floats. Default: `float`. */
  encoding_format?: 'float' | 'base64' | null | undefined;
  /** An id of the end user, as the caller names them. */
  user?: string | null | undefined;
  [field: string]: unknown;
}

/** Why a place is refunded. */
export interface EventRefundRequest {
  /** For the audit log. */
  reason: string;
}

/** Proof that the registrant cancels it. */
export interface EventRegistrationCancelRequest {
  /** Of the link in a mail about the registration. */
  token: string;
}

/** The event’s name in URLs. */
export type EventSlug = string;

/** One fault found in the input. */
export interface FieldError {
  /** Where it is: `body`, `query`, `path` or `header`, then the way down to the field. */
  loc: (string | number)[];
  /** What is wrong, for people. */
  msg: string;
  /** What is wrong, for programs. */
  type: string;
}

/** The file is gone. */
export interface FileDeleted {
  id: string;
  object: 'file';
  deleted: true;
}

/** A page of files. */
export interface FileList {
  object: 'list';
  data: FileObject[];
  first_id: string;
  /** The `after` of the next page; empty where the page is. */
  last_id: string;
  has_more: boolean;
}

/** A stored file, in OpenAI’s shape. */
export interface FileObject {
  id: string;
  object: 'file';
  bytes: number;
  /** Unix seconds. */
  created_at: number;
  /** When the file deletes itself, unix seconds; absent when it does not. */
  expires_at?: number | undefined;
  /** The uploader’s name for it, without folders. */
  filename: string;
  purpose: 'assistants' | 'batch' | 'fine-tune' | 'vision' | 'user_data' | 'evals' | 'assistants_output' | 'batch_output' | 'fine-tune-results';
  /** Files are `processed` as soon as they are stored. */
  status: 'uploaded' | 'processed' | 'error';
}

/** Google’s request. Fields may be written in snake case, as Google’s may (`generation_config`). Google’s models are sent it as it is, fields that are not listed here among it. */
export interface GenerateContentRequest {
  /** Passed over: the model of the path counts. */
  model?: string | null | undefined;
  /** Fallbacks in order, tried when `model` cannot be served. Not sent to the provider. */
  models?: string[] | null | undefined;
  /** The conversation so far. */
  contents: GoogleContent[];
  /** The system prompt: its texts. */
  systemInstruction?: GoogleContent | null | undefined;
  tools?: GoogleTool[] | null | undefined;
  toolConfig?: GoogleToolConfig | null | undefined;
  generationConfig?: GoogleGenerationConfig | null | undefined;
  /** What is filtered. Sent to Google, and to no other provider. */
  safetySettings?: unknown | undefined;
  /** Refused: content that is kept at Google is not the caller’s. */
  cachedContent?: unknown | undefined;
  /** For Vertex’s bill. Sent to Google, and to no other provider. */
  labels?: unknown | undefined;
  /** `standard`, or `flex` or `priority` where the model has a price at it. */
  serviceTier?: string | null | undefined;
  /** Not sent: nothing is stored at the provider. */
  store?: unknown | undefined;
  /** Refused: answers that are kept at Google. */
  continuationToken?: unknown | undefined;
  [field: string]: unknown;
}

/** Google’s answer, or an event of a streamed one. */
export interface GenerateContentResponse {
  /** None where the prompt was blocked: `promptFeedback` says why. */
  candidates?: {
    content?: {
      role?: string | undefined;
      parts?: { [name: string]: unknown }[] | undefined;
      [field: string]: unknown;
    } | undefined;
    finishReason?: string | undefined;
    index?: number | undefined;
    [field: string]: unknown;
  }[] | undefined;
  usageMetadata?: GoogleUsage | undefined;
  modelVersion?: string | undefined;
  responseId?: string | undefined;
  [field: string]: unknown;
}

/** A turn of the conversation. */
export interface GoogleContent {
  role?: 'user' | 'model' | 'function' | 'system' | null | undefined;
  parts?: GooglePart[] | null | undefined;
}

/** An error in Google’s form, with our own code beside it. */
export interface GoogleError {
  error: {
    /** The HTTP status. */
    code: number;
    /** One sentence that says what to do. */
    message: string;
    /** Google’s name of the error. */
    status: 'INVALID_ARGUMENT' | 'UNAUTHENTICATED' | 'PERMISSION_DENIED' | 'NOT_FOUND' | 'ABORTED' | 'RESOURCE_EXHAUSTED' | 'DEADLINE_EXCEEDED' | 'INTERNAL' | 'UNAVAILABLE';
    /** Google’s details: the fields at fault, and how long to wait. */
    details?: {
      '@type': string;
      [field: string]: unknown;
    }[] | undefined;
  };
  request_id: string;
  /** Our own code: its page is at `doc_url`. */
  code: 'malformed_json' | 'malformed_multipart' | 'upstream_rejected' | 'answer_too_large' | 'invalid_webhook' | 'invalid_token' | 'invalid_invite' | 'missing_credentials' | 'invalid_credentials' | 'ambiguous_credentials' | 'invalid_signature' | 'signature_required' | 'budget_exceeded' | 'run_exhausted' | 'run_closed' | 'payment_declined' | 'forbidden' | 'confirmation_failed' | 'scope_required' | 'live_key_required' | 'storing_off' | 'plan_required' | 'dedicated_capacity_required' | 'session_required' | 'model_not_allowed' | 'endpoint_not_allowed' | 'not_found' | 'unknown_path' | 'model_not_found' | 'method_not_allowed' | 'headers_too_large' | 'expectation_failed' | 'malformed_request' | 'request_timeout' | 'conflict' | 'slug_taken' | 'invalid_transition' | 'registration_closed' | 'idempotency_conflict' | 'idempotency_in_progress' | 'payload_too_large' | 'body_too_complex' | 'storage_limit_reached' | 'range_not_satisfiable' | 'unsupported_media_type' | 'validation_failed' | 'unpriced_feature' | 'context_length_exceeded' | 'rate_limited' | 'budget_in_flight' | 'disconnected_in_flight' | 'upstream_rate_limited' | 'invalid_mfa_code' | 'challenge_expired' | 'invalid_passkey' | 'recent_login_required' | 'authorization_pending' | 'slow_down' | 'access_denied' | 'expired_token' | 'management_key_not_allowed' | 'address_not_allowed' | 'directory_login_required' | 'upgrade_required' | 'realtime_sessions_full' | 'session_expired' | 'internal_error' | 'upstream_failed' | 'no_provider_configured' | 'shared_capacity_full' | 'store_unavailable' | 'payments_unavailable' | 'storage_unavailable' | 'provider_loop' | 'upstream_timeout';
  doc_url: string;
  /** The request field at fault, or null. */
  param: string | null;
  /** Every fault found in the input. */
  errors?: FieldError[] | undefined;
  /** Present on refusals over money. */
  budget?: BudgetDetail | undefined;
}

/** How to answer. A field that is not listed here is sent to Google as it is. */
export interface GoogleGenerationConfig {
  /** Upper bound on tokens out of one candidate, thoughts included. */
  maxOutputTokens?: number | null | undefined;
  /** How many answers. */
  candidateCount?: number | null | undefined;
  temperature?: number | null | undefined;
  topP?: number | null | undefined;
  topK?: number | null | undefined;
  seed?: number | null | undefined;
  presencePenalty?: number | null | undefined;
  frequencyPenalty?: number | null | undefined;
  stopSequences?: string[] | null | undefined;
  responseLogprobs?: boolean | null | undefined;
  /** So many alternatives to each token, with `responseLogprobs`. */
  logprobs?: number | null | undefined;
  responseMimeType?: 'text/plain' | 'application/json' | null | undefined;
  /** Google’s schema that the answer follows, with its types in upper case. */
  responseSchema?: { [name: string]: unknown } | null | undefined;
  /** JSON Schema, in place of `responseSchema`. */
  responseJsonSchema?: { [name: string]: unknown } | null | undefined;
  thinkingConfig?: GoogleThinkingConfig | null | undefined;
  /** `TEXT` alone: other answers have no price here. */
  responseModalities?: string[] | null | undefined;
  /** How closely images are looked at: each is held at the most that one can cost. Sent to Google, and to no other provider. */
  mediaResolution?: unknown | undefined;
  /** Answers about elections. Sent to Google, and to no other provider. */
  enableEnhancedCivicAnswers?: unknown | undefined;
  /** Refused: use `responseMimeType` and `responseJsonSchema`. */
  responseFormat?: unknown | undefined;
  /** Refused: answers that are no text. */
  speechConfig?: unknown | undefined;
  /** Refused: answers that are no text. */
  imageConfig?: unknown | undefined;
  /** Refused: answers that are no text. */
  audioTranscriptionConfig?: unknown | undefined;
  /** Refused: answers that are no text. */
  translationConfig?: unknown | undefined;
  /** Refused: answers that are no text. */
  enableAffectiveDialog?: unknown | undefined;
  /** Of Vertex alone. Sent to Google, and to no other provider. */
  audioTimestamp?: unknown | undefined;
  /** Refused: models that the provider chooses. */
  modelSelectionConfig?: unknown | undefined;
  /** Refused: models that the provider chooses. */
  routingConfig?: unknown | undefined;
  [field: string]: unknown;
}

/** A model, in Google’s form. */
export interface GoogleModel {
  name: string;
  baseModelId: string;
  version: string;
  displayName: string;
  inputTokenLimit?: number | undefined;
  outputTokenLimit?: number | undefined;
  supportedGenerationMethods: string[];
}

/** A page of models, in Google’s form. */
export interface GoogleModelList {
  models: GoogleModel[];
  /** The `pageToken` of the next page. */
  nextPageToken?: string | undefined;
}

/** A part of a turn: a text, a file, a call of a function, or what one gave back. */
export interface GooglePart {
  text?: string | null | undefined;
  inlineData?: {
    mimeType: string;
    /** Base64. */
    data: string;
    displayName?: string | null | undefined;
  } | null | undefined;
  fileData?: {
    /** An https address. Files that are kept at Google are not the caller’s, and are refused. */
    fileUri: string;
    mimeType?: string | null | undefined;
    displayName?: string | null | undefined;
  } | null | undefined;
  functionCall?: {
    id?: string | null | undefined;
    name: string;
    args?: { [name: string]: unknown } | null | undefined;
  } | null | undefined;
  functionResponse?: {
    id?: string | null | undefined;
    name: string;
    response?: { [name: string]: unknown } | null | undefined;
    /** Images that it gave back. */
    parts?: {
      inlineData: {
        mimeType: string;
        /** Base64. */
        data: string;
        displayName?: string | null | undefined;
      };
    }[] | null | undefined;
    willContinue?: false | null | undefined;
    scheduling?: string | null | undefined;
  } | null | undefined;
  /** A thought of the model. Those of earlier turns go to Google’s models alone. */
  thought?: boolean | null | undefined;
  /** Sent back to Google’s models as it came. */
  thoughtSignature?: string | null | undefined;
  /** How closely it is looked at: every image is held at the most that one can cost. Sent to Google, and to no other provider. */
  mediaResolution?: unknown | undefined;
  /** Which part of a video is looked at, and how closely. Sent to Google, and to no other provider. */
  videoMetadata?: unknown | undefined;
  /** Sent to Google, and to no other provider. */
  partMetadata?: unknown | undefined;
}

/** How much the model thinks, within the bound on tokens out. */
export interface GoogleThinkingConfig {
  includeThoughts?: boolean | null | undefined;
  /** Tokens of thought; -1 leaves it to the model. */
  thinkingBudget?: number | null | undefined;
  thinkingLevel?: 'THINKING_LEVEL_UNSPECIFIED' | 'MINIMAL' | 'LOW' | 'MEDIUM' | 'HIGH' | null | undefined;
  [field: string]: unknown;
}

/** Functions that the model may ask to have called. */
export interface GoogleTool {
  functionDeclarations?: {
    name: string;
    description?: string | null | undefined;
    /** Google’s schema, with its types in upper case. */
    parameters?: { [name: string]: unknown } | null | undefined;
    /** JSON Schema, in place of `parameters`. */
    parametersJsonSchema?: { [name: string]: unknown } | null | undefined;
    /** What it gives back. Sent to Google, and to no other provider. */
    response?: { [name: string]: unknown } | null | undefined;
    responseJsonSchema?: { [name: string]: unknown } | null | undefined;
    behavior?: 'BLOCKING' | 'UNSPECIFIED' | null | undefined;
    [field: string]: unknown;
  }[] | null | undefined;
  /** Run by Google: refused, since the catalogue has no price for it. */
  googleSearch?: unknown | undefined;
  /** Run by Google: refused, since the catalogue has no price for it. */
  googleSearchRetrieval?: unknown | undefined;
  /** Run by Google: refused, since the catalogue has no price for it. */
  codeExecution?: unknown | undefined;
  /** Run by Google: refused, since the catalogue has no price for it. */
  urlContext?: unknown | undefined;
  /** Run by Google: refused, since the catalogue has no price for it. */
  googleMaps?: unknown | undefined;
  /** Run by Google: refused, since the catalogue has no price for it. */
  fileSearch?: unknown | undefined;
  /** Run by Google: refused, since the catalogue has no price for it. */
  computerUse?: unknown | undefined;
  /** Run by Google: refused, since the catalogue has no price for it. */
  mcpServers?: unknown | undefined;
  /** Run by Google: refused, since the catalogue has no price for it. */
  enterpriseWebSearch?: unknown | undefined;
  /** Run by Google: refused, since the catalogue has no price for it. */
  retrieval?: unknown | undefined;
  /** Run by Google: refused, since the catalogue has no price for it. */
  exaAiSearch?: unknown | undefined;
  /** Run by Google: refused, since the catalogue has no price for it. */
  parallelAiSearch?: unknown | undefined;
}

/** Whether, and which, functions are to be called. */
export interface GoogleToolConfig {
  functionCallingConfig?: {
    mode?: 'MODE_UNSPECIFIED' | 'AUTO' | 'ANY' | 'NONE' | 'VALIDATED' | null | undefined;
    allowedFunctionNames?: string[] | null | undefined;
  } | null | undefined;
  /** Of tools that Google runs: not sent. */
  retrievalConfig?: unknown | undefined;
  includeServerSideToolInvocations?: boolean | null | undefined;
}

/** Google’s usage, with the cost added. */
export interface GoogleUsage {
  promptTokenCount?: number | undefined;
  /** Of the prompt, read from a cache. */
  cachedContentTokenCount?: number | undefined;
  /** Left out where nothing was written. */
  candidatesTokenCount?: number | undefined;
  /** Billed as output, beside the candidates. */
  thoughtsTokenCount?: number | undefined;
  totalTokenCount?: number | undefined;
  /** What the request cost, USD. For people: the exact amount is in the receipt. */
  cost?: number | undefined;
  [field: string]: unknown;
}

/** The problem document of a 422: every fault found in the input. */
export interface HTTPValidationError {
  /** The documentation page of this code. */
  type: string;
  /** Short and constant for the code. */
  title: string;
  /** The HTTP status. */
  status: number;
  /** One sentence that says what to do. */
  detail: string;
  /** The request id. */
  instance: string;
  /** Stable, for programs. */
  code: 'malformed_json' | 'malformed_multipart' | 'upstream_rejected' | 'answer_too_large' | 'invalid_webhook' | 'invalid_token' | 'invalid_invite' | 'missing_credentials' | 'invalid_credentials' | 'ambiguous_credentials' | 'invalid_signature' | 'signature_required' | 'budget_exceeded' | 'run_exhausted' | 'run_closed' | 'payment_declined' | 'forbidden' | 'confirmation_failed' | 'scope_required' | 'live_key_required' | 'storing_off' | 'plan_required' | 'dedicated_capacity_required' | 'session_required' | 'model_not_allowed' | 'endpoint_not_allowed' | 'not_found' | 'unknown_path' | 'model_not_found' | 'method_not_allowed' | 'headers_too_large' | 'expectation_failed' | 'malformed_request' | 'request_timeout' | 'conflict' | 'slug_taken' | 'invalid_transition' | 'registration_closed' | 'idempotency_conflict' | 'idempotency_in_progress' | 'payload_too_large' | 'body_too_complex' | 'storage_limit_reached' | 'range_not_satisfiable' | 'unsupported_media_type' | 'validation_failed' | 'unpriced_feature' | 'context_length_exceeded' | 'rate_limited' | 'budget_in_flight' | 'disconnected_in_flight' | 'upstream_rate_limited' | 'invalid_mfa_code' | 'challenge_expired' | 'invalid_passkey' | 'recent_login_required' | 'authorization_pending' | 'slow_down' | 'access_denied' | 'expired_token' | 'management_key_not_allowed' | 'address_not_allowed' | 'directory_login_required' | 'upgrade_required' | 'realtime_sessions_full' | 'session_expired' | 'internal_error' | 'upstream_failed' | 'no_provider_configured' | 'shared_capacity_full' | 'store_unavailable' | 'payments_unavailable' | 'storage_unavailable' | 'provider_loop' | 'upstream_timeout';
  error: OpenAiError;
  errors: FieldError[];
}

/** Whether the instance can serve. */
export interface Health {
  status: 'ok' | 'unavailable' | 'draining';
  checks: { [name: string]: string };
}

/** OpenAI’s image edit: a form with `image` or `image[]` (up to 16) and `mask` as files, or JSON with `images` by URL. */
export interface ImageEditRequest {
  /** An image model of the catalogue. */
  model?: string | undefined;
  /** Fallbacks in order, tried when `model` cannot be served. Not sent to the provider. */
  models?: string[] | null | undefined;
  prompt: string;
  /** How many images. */
  n?: number | null | undefined;
  size?: string | null | undefined;
  quality?: string | null | undefined;
  background?: 'transparent' | 'opaque' | 'auto' | null | undefined;
  output_format?: 'png' | 'jpeg' | 'webp' | null | undefined;
  output_compression?: number | null | undefined;
  moderation?: string | null | undefined;
  response_format?: 'url' | 'b64_json' | null | undefined;
  style?: string | null | undefined;
  /** Answer as server-sent events. */
  stream?: boolean | null | undefined;
  /** Images to show on the way, in a stream. */
  partial_images?: number | null | undefined;
  /** An id of the end user, as the caller names them. */
  user?: string | null | undefined;
  input_fidelity?: 'high' | 'low' | null | undefined;
  [field: string]: unknown;
}

/** OpenAI’s image request. Fields that are not listed here are passed through to the provider. */
export interface ImageGenerationRequest {
  /** An image model of the catalogue. */
  model?: string | undefined;
  /** Fallbacks in order, tried when `model` cannot be served. Not sent to the provider. */
  models?: string[] | null | undefined;
  prompt: string;
  /** How many images. */
  n?: number | null | undefined;
  size?: string | null | undefined;
  quality?: string | null | undefined;
  background?: 'transparent' | 'opaque' | 'auto' | null | undefined;
  output_format?: 'png' | 'jpeg' | 'webp' | null | undefined;
  output_compression?: number | null | undefined;
  moderation?: string | null | undefined;
  response_format?: 'url' | 'b64_json' | null | undefined;
  style?: string | null | undefined;
  /** Answer as server-sent events. */
  stream?: boolean | null | undefined;
  /** Images to show on the way, in a stream. */
  partial_images?: number | null | undefined;
  /** An id of the end user, as the caller names them. */
  user?: string | null | undefined;
  [field: string]: unknown;
}

/** The images made. */
export interface ImageList {
  created: number;
  data: {
    b64_json?: string | undefined;
    url?: string | undefined;
    revised_prompt?: string | undefined;
    [field: string]: unknown;
  }[];
  usage?: {
    total_tokens: number;
    input_tokens: number;
    output_tokens: number;
    input_tokens_details?: {
      text_tokens?: number | undefined;
      image_tokens?: number | undefined;
      [field: string]: unknown;
    } | undefined;
    output_tokens_details?: {
      text_tokens?: number | undefined;
      image_tokens?: number | undefined;
      [field: string]: unknown;
    } | undefined;
    /** What the request cost, USD. For people: the exact amount is in the receipt. */
    cost?: number | undefined;
    [field: string]: unknown;
  } | undefined;
  [field: string]: unknown;
}

/** A partial image, or a complete one. */
export interface ImageStreamEvent {
  type: string;
  b64_json: string;
  partial_image_index?: number | undefined;
  usage?: {
    total_tokens: number;
    input_tokens: number;
    output_tokens: number;
    /** What the request cost, USD. For people: the exact amount is in the receipt. */
    cost?: number | undefined;
    [field: string]: unknown;
  } | undefined;
  [field: string]: unknown;
}

/** OpenAI’s image variation: a form with `image` as a file. */
export interface ImageVariationRequest {
  /** An image model of the catalogue. */
  model?: string | undefined;
  /** Fallbacks in order, tried when `model` cannot be served. Not sent to the provider. */
  models?: string[] | null | undefined;
  /** How many images. */
  n?: number | null | undefined;
  size?: string | null | undefined;
  response_format?: 'url' | 'b64_json' | null | undefined;
  /** An id of the end user, as the caller names them. */
  user?: string | null | undefined;
  [field: string]: unknown;
}

/** An endpoint that spends, with everything below it. */
export type InferenceEndpoint = '/v1/chat/completions' | '/v1/responses' | '/v1/messages' | '/v1beta/models:generateContent' | '/v1beta/models:embedContent' | '/v1/completions' | '/v1/embeddings' | '/v1/rerank' | '/v1/moderations' | '/v1/images/generations' | '/v1/images/edits' | '/v1/images/variations' | '/v1/audio/speech' | '/v1/audio/transcriptions' | '/v1/audio/translations' | '/v1/realtime' | '/v1/videos' | '/v1/batches';

/** How many tokens an input has. */
export interface InputTokens {
  object: 'response.input_tokens';
  input_tokens: number;
}

/** A response’s input, to be counted. */
export interface InputTokensRequest {
  /** A model of the catalogue, whose tokenizer counts. */
  model?: string | undefined;
  input?: string | ResponseItem[] | null | undefined;
  instructions?: string | null | undefined;
  previous_response_id?: string | null | undefined;
  conversation?: string | {
    id: string;
    [field: string]: unknown;
  } | null | undefined;
  tools?: {
    type: string;
    [field: string]: unknown;
  }[] | null | undefined;
  /** Counts for nothing. */
  tool_choice?: unknown | undefined;
  text?: { [name: string]: unknown } | null | undefined;
  [field: string]: unknown;
}

/** Progress of a batch. */
export interface InviteCounts {
  /** All invitations. */
  total: number;
  /** Not handed to the mail yet. */
  pending: number;
  /** On their way. */
  queued: number;
  /** Taken by a mail server. */
  sent: number;
  /** Sent to a mail server whose answer was lost with the connection or a crash: most likely delivered, and never sent twice. */
  unconfirmed: number;
  /** Refused by a mail server, or given up. */
  failed: number;
  /** Not mailed, since the address wants no mail. */
  suppressed: number;
  /** How many people have activated one. */
  activations: number;
}

/** The benefits of an invitation. */
export interface InviteGrants {
  plan_id: PlanId | null;
  trial_days: number | null;
  /** Added to the prepaid balance, which pays beyond the quota of a plan from `pro` on. */
  credit_usd: string;
}

/** Who is invited. */
export interface InviteMemberRequest {
  /** E-mail address. An internationalized domain is stored and returned in its ASCII spelling (`xn--…`). */
  email: string;
  account_role?: AccountRole | undefined;
  /** Your own id of it, once in an account. To create it again with the same content answers with what is there. */
  external_id?: string | undefined;
}

/** Invoices of the account, the newest month first. */
export interface InvoiceList {
  data: InvoiceListItem[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** An invoice in short: `GET /v1/invoices/{month}` has it whole. */
export interface InvoiceListItem {
  object: 'invoice.item';
  /** UUIDv7. */
  id: string;
  month: string;
  livemode: boolean;
  sequence: number;
  /** How many it counts. */
  receipts: number;
  /** At catalogue prices. */
  cost_usd: string;
  /** The part of it that the plan covered. */
  covered_usd: string;
  /** The part of it that balance and invoice pay. */
  total_usd: string;
  /** What is to be paid, in whole cents. */
  due_usd: string;
  /** RFC 3339, UTC. */
  issued_at: string;
  /** Its place in the log; null for the seconds until it has one. */
  log_index: number | null;
}

/** What the receipts of one month come to that are on one invoice, in 10⁻⁹ USD: those from the first to the last number. */
export interface InvoiceMonth {
  /** Of the requests, `YYYY-MM`, UTC. */
  month: string;
  /** `account_sequence` of the first receipt that is counted. */
  first_number: number;
  /** Of the last one; one less than the first where there are none. */
  last_number: number;
  /** Receipts that settle a request, also one that got no answer. */
  charges: number;
  corrections: number;
  refunds: number;
  /** What the requests cost at catalogue prices, as they were settled. */
  used_nano_usd: string;
  /** What corrections say more, or less, than the receipts that they correct. */
  corrected_nano_usd: string;
  /** What was given back. */
  refunded_nano_usd: string;
  /** Used and corrected, less refunded. */
  cost_nano_usd: string;
  /** The part of the cost that plans’ quotas covered; 0 in test mode. */
  covered_nano_usd: string;
  /** The part of the cost that the prepaid balance pays. */
  from_balance_nano_usd: string;
  /** The part of the cost that is paid by invoice. */
  by_invoice_nano_usd: string;
  /** Units that quotas covered, less those given back. */
  covered: {
    requests?: number | undefined;
    tokens?: number | undefined;
    images?: number | undefined;
    audio_seconds?: number | undefined;
    video_seconds?: number | undefined;
  };
}

/** What is signed, as canonical JSON (RFC 8785). */
export interface InvoicePayload {
  version: 'tallygate-invoice/v1';
  /** UUIDv7. */
  invoice_id: string;
  /** 16 random bytes, hex: makes the leaf hash unguessable and salts the hashes below. */
  nonce: string;
  /** SHA-256 of "tallygate-account/v1\n", the nonce and the account id. */
  account_hash: string;
  livemode: boolean;
  month: string;
  /** The number of the invoice among those of its account and mode, without a gap. */
  sequence: number;
  /** Digest of the invoice before it, hex; null of the first. */
  previous: string | null;
  /** The plans that the month’s own receipts name, with what each includes. */
  plans: {
    plan: string;
    quota: {
      /** Null: without limit. */
      requests: number | null;
      /** Null: without limit. */
      tokens: number | null;
      /** Null: without limit. */
      images: number | null;
      /** Null: without limit. */
      audio_seconds: number | null;
      /** Null: without limit. */
      video_seconds: number | null;
    };
  }[];
  /** The month itself, then earlier ones that have got receipts since their invoices: refunds, corrections, and what was settled late. */
  months: InvoiceMonth[];
  /** What balance and invoice pay, of all its months. */
  total_nano_usd: string;
  /** The part of the total that the balance has paid. */
  from_balance_nano_usd: string;
  /** The part of the total that is paid by invoice. */
  by_invoice_nano_usd: string;
  /** What the invoice before it left. */
  carried_before_nano_usd: string;
  /** What is to be paid, in whole cents. */
  due_nano_usd: string;
  /** What is left of it for the next invoice. */
  carried_nano_usd: string;
  /** RFC 3339, UTC. */
  issued_at: string;
}

/** The bill of a month: what its receipts come to, signed, and an entry of the log. */
export interface InvoiceResponse {
  object: 'invoice';
  /** UUIDv7. */
  id: string;
  payload: InvoicePayload;
  /** SHA-256 of "tallygate-invoice/v1\n" and the canonical payload: the entry in the log. */
  digest: string;
  /** Signature of the service: a compact JWS (RFC 7515, EdDSA) over the canonical payload, which is left out (appendix F), with the `typ` `tallygate-invoice`. */
  jws: string;
  log: ReceiptLog;
}

/** A threshold that was reached, or a request that was refused. */
export interface KeyBudgetAlert {
  /** UUIDv7. */
  alert_id: string;
  /** UTC calendar month, `YYYY-MM`. */
  period: string;
  /** Null: none was reached, a request was refused below 90 % of the cap. */
  threshold_percent: number | null;
  /** `exceeded` at 100 %, else `warning`. */
  kind: 'warning' | 'exceeded';
  /** A settled request reached the threshold; a changed budget put it below what was spent; a request did not fit under the cap, which counts as 100 % while at least 90 % is spent. */
  cause: 'spend' | 'cap_change' | 'refusal';
  /** Settled in the period when the alert was recorded, USD. */
  spent_usd: string;
  /** The cap at that moment, USD. */
  cap_usd: string;
  /** What had to be held for the refused request, USD; null for other causes. */
  required_usd: string | null;
  /** RFC 3339, UTC. */
  created_at: string;
  /** First instant of the next period. */
  resets_at: string;
}

/** The alerts of a key, each threshold at most once a period, and so a refusal below 90 % of the cap. Newest first. */
export interface KeyBudgetAlertHistoryResponse {
  data: KeyBudgetAlert[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** One change of a budget. */
export interface KeyBudgetChange {
  /** UUIDv7. */
  change_id: string;
  /** RFC 3339, UTC. */
  changed_at: string;
  actor: {
    /** Who did it. */
    kind: 'user' | 'key' | 'management_key';
    /** The last four characters of the id. */
    id: string;
  };
  previous_cap_usd: string | null;
  new_cap_usd: string | null;
  /** Percent of the cap at which an alert is recorded and mailed, once a period each. With 100 among them, refused requests send alerts too. */
  previous_alert_thresholds: number[];
  /** Percent of the cap at which an alert is recorded and mailed, once a period each. With 100 among them, refused requests send alerts too. */
  new_alert_thresholds: number[];
}

/** Who changed a key’s budget, from what to what. Newest first. */
export interface KeyBudgetHistoryResponse {
  data: KeyBudgetChange[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** The budget of a key in the current month. */
export interface KeyBudgetStatusResponse {
  /** UUIDv7. */
  key_id: string;
  /** UTC calendar month, `YYYY-MM`. */
  period: string;
  /** First instant of the period. */
  period_start: string;
  /** First instant of the next period. */
  resets_at: string;
  monthly_cap_usd: string | null;
  /** Settled in the period, USD. */
  spent_usd: string;
  /** Held by requests that are running now, at their worst case, USD. */
  held_usd: string;
  /** What the next request may cost at most: cap − spent − held, never negative. */
  remaining_usd: string | null;
  /** Spent ÷ cap, rounded down to four places; 1 for a cap of zero, null without a cap. */
  utilization: number | null;
  /** `warning`: a threshold below 100 % is reached. `exceeded`: the cap is spent, or a request did not fit under it while at least 90 % of it was spent. */
  status: 'uncapped' | 'ok' | 'warning' | 'exceeded';
  /** Percent of the cap at which an alert is recorded and mailed, once a period each. With 100 among them, refused requests send alerts too. */
  alert_thresholds: number[];
}

/** The budget of one key, and which key it is. */
export interface KeyBudgetSummaryItem {
  /** UUIDv7. */
  key_id: string;
  /** UTC calendar month, `YYYY-MM`. */
  period: string;
  /** First instant of the period. */
  period_start: string;
  /** First instant of the next period. */
  resets_at: string;
  monthly_cap_usd: string | null;
  /** Settled in the period, USD. */
  spent_usd: string;
  /** Held by requests that are running now, at their worst case, USD. */
  held_usd: string;
  /** What the next request may cost at most: cap − spent − held, never negative. */
  remaining_usd: string | null;
  /** Spent ÷ cap, rounded down to four places; 1 for a cap of zero, null without a cap. */
  utilization: number | null;
  /** `warning`: a threshold below 100 % is reached. `exceeded`: the cap is spent, or a request did not fit under it while at least 90 % of it was spent. */
  status: 'uncapped' | 'ok' | 'warning' | 'exceeded';
  /** Percent of the cap at which an alert is recorded and mailed, once a period each. With 100 among them, refused requests send alerts too. */
  alert_thresholds: number[];
  /** The key’s name. */
  name: string;
  livemode: boolean;
  revoked: boolean;
}

/** The budgets of all keys of the account in the current month, newest key first. */
export interface KeyBudgetSummaryResponse {
  /** UTC calendar month, `YYYY-MM`. */
  period: string;
  /** First instant of the period. */
  period_start: string;
  /** First instant of the next period. */
  resets_at: string;
  /** Settled in the period by all live keys, USD. */
  spent_usd: string;
  /** Held by running requests of all live keys, USD. */
  held_usd: string;
  items: KeyBudgetSummaryItem[];
  /** How many keys there are. */
  total: number;
}

/** The budget that a key is to have. */
export interface KeyBudgetUpdateRequest {
  /** The new hard cap of a UTC calendar month; `"0"` lets nothing through that costs anything; null clears the cap. */
  monthly_cap_usd: string | null;
  /** Whole percents in ascending order, at most ten; empty for no alerts. Left out: they stay as they are. */
  alert_thresholds?: number[] | undefined;
}

/** An API key with its secret, shown exactly once. */
export interface KeyCreatedResponse {
  /** UUIDv7. */
  key_id: string;
  name: string;
  /** The part of the key that is no secret: it finds the key, it does not open anything. */
  prefix: string;
  livemode: boolean;
  scopes: Scope[];
  /** Your own id of it. */
  external_id: string | null;
  /** The project that it belongs to; null for none. */
  project_id: string | null;
  status: 'active' | 'expired' | 'revoked';
  monthly_cap_usd: string | null;
  /** The only models that the key may use. Null: all. */
  allowed_models: string[] | null;
  /** The only endpoints that the key may spend on. Null: all. */
  allowed_endpoints: InferenceEndpoint[] | null;
  rate_limits: KeyRateLimits;
  /** Your own notes. */
  metadata: { [name: string]: string };
  /** Ed25519 public key, base64url of 32 bytes (the `x` of a JWK). Signatures of requests (RFC 9421) are verified with it. */
  signing_public_key: string | null;
  /** Inference requests without a valid signature are refused. */
  require_signature: boolean;
  /** RFC 3339, UTC. */
  created_at: string;
  expires_at: string | null;
  /** When the secret was last replaced. */
  rotated_at: string | null;
  /** Until when the secret before the last rotation still works; null when it does not. */
  previous_secret_expires_at: string | null;
  revoked_at: string | null;
  /** To the minute. */
  last_used_at: string | null;
  /** The plain key. It is shown in this answer only; empty where the key was there already, by its `external_id`. */
  key: string;
}

/** A key that signs from now on. It is in the log before it signs. */
export interface KeyDeclaration {
  version: 'tallygate-declaration/v1';
  /** Its number among the declarations of its kind, from 1. */
  number: number;
  /** Digest of the declaration of its kind before it; null of the first. */
  previous: string | null;
  /** When it was declared (UTC). */
  declared_at: string;
  kind: 'key';
  /** What the key signs: receipts, states of the log, promises of receipts. No key does two of these. */
  purpose: 'receipt' | 'checkpoint' | 'promise';
  /** RFC 7638 thumbprint of the key. */
  kid: string;
  /** Public key, 32 bytes, base64url. */
  x: string;
  /** RFC 3339, UTC. */
  not_before: string;
  /** Signature of the key before it, a detached JWS over the canonical declaration with null in this place. Null of the first key, and where the one before was lost. */
  signed_by: {
    /** RFC 7638 thumbprint of the key. */
    kid: string;
    jws: string;
  } | null;
}

export interface KeyPath {
  /** The key’s id. */
  key_id: string;
}

/** The key’s own rate limits. The plan’s hold for all keys of the account together. */
export interface KeyRateLimits {
  /** Requests in a minute. Null: the plan’s. */
  requests_per_minute: number | null;
  /** Tokens in a minute, in and out. Null: the plan’s. */
  tokens_per_minute: number | null;
  /** Requests that run at the same time. Null: the plan’s. */
  concurrency: number | null;
}

/** Rate limits to set, each at most the plan’s. What is left out stays as it is. */
export interface KeyRateLimitsInput {
  /** Requests in a minute. Null: the plan’s. */
  requests_per_minute?: number | null | undefined;
  /** Tokens in a minute, in and out. Null: the plan’s. */
  tokens_per_minute?: number | null | undefined;
  /** Requests that run at the same time. Null: the plan’s. */
  concurrency?: number | null | undefined;
}

/** An API key without its secret. */
export interface KeyResponse {
  /** UUIDv7. */
  key_id: string;
  name: string;
  /** The part of the key that is no secret: it finds the key, it does not open anything. */
  prefix: string;
  livemode: boolean;
  scopes: Scope[];
  /** Your own id of it. */
  external_id: string | null;
  /** The project that it belongs to; null for none. */
  project_id: string | null;
  status: 'active' | 'expired' | 'revoked';
  monthly_cap_usd: string | null;
  /** The only models that the key may use. Null: all. */
  allowed_models: string[] | null;
  /** The only endpoints that the key may spend on. Null: all. */
  allowed_endpoints: InferenceEndpoint[] | null;
  rate_limits: KeyRateLimits;
  /** Your own notes. */
  metadata: { [name: string]: string };
  /** Ed25519 public key, base64url of 32 bytes (the `x` of a JWK). Signatures of requests (RFC 9421) are verified with it. */
  signing_public_key: string | null;
  /** Inference requests without a valid signature are refused. */
  require_signature: boolean;
  /** RFC 3339, UTC. */
  created_at: string;
  expires_at: string | null;
  /** When the secret was last replaced. */
  rotated_at: string | null;
  /** Until when the secret before the last rotation still works; null when it does not. */
  previous_secret_expires_at: string | null;
  revoked_at: string | null;
  /** To the minute. */
  last_used_at: string | null;
}

/** A key that signs no more. */
export interface KeyRetiredDeclaration {
  version: 'tallygate-declaration/v1';
  /** Its number among the declarations of its kind, from 1. */
  number: number;
  /** Digest of the declaration of its kind before it; null of the first. */
  previous: string | null;
  /** When it was declared (UTC). */
  declared_at: string;
  kind: 'key_retired';
  /** What the key signs: receipts, states of the log, promises of receipts. No key does two of these. */
  purpose: 'receipt' | 'checkpoint' | 'promise';
  /** RFC 7638 thumbprint of the key. */
  kid: string;
  /** RFC 3339, UTC. */
  not_after: string;
}

/** How long the requests of an hour took. */
export interface LatencyHour {
  /** When the hour begins, UTC. */
  hour: string;
  /** Answered requests that were measured. */
  requests: number;
  /** From a request’s arrival to the first byte of its answer; null where none had one. */
  first_byte_ms: LatencyPercentiles | null;
  /** From a request’s arrival to the end of its answer. */
  total_ms: LatencyPercentiles;
  /** The gateway’s own part of it. */
  overhead_ms: LatencyPercentiles;
}

/** How long something took, milliseconds. */
export interface LatencyPercentiles {
  /** Half of the requests took no longer, milliseconds. */
  p50: number;
  /** 95 of 100 requests took no longer, milliseconds. */
  p95: number;
}

export interface LatencyQuery {
  /** Start, at most seven days before `to`. Default: a day before it. */
  from?: string | undefined;
  /** End. Default: now. */
  to?: string | undefined;
  /** Live or test mode. Default: the mode of the API key that asks; live for sessions. */
  livemode?: boolean | undefined;
  /** Of this model alone, by the name that served. */
  model?: string | undefined;
}

/** How long requests of the account took, hour by hour. */
export interface LatencyResponse {
  /** RFC 3339, UTC. */
  from: string;
  /** RFC 3339, UTC. */
  to: string;
  livemode: boolean;
  /** The earliest first; hours without a request are left out. */
  hours: LatencyHour[];
}

/** Whose spending is counted: the account’s, that of a project, of a member (the person whose key or session it is) or of an API key; by request, that of an agent run with its child runs, of an end user, of a tag or of a model. */
export type LimitKind = 'account' | 'project' | 'member' | 'key' | 'run' | 'end_user' | 'tag' | 'model';

/** In the time zone of the account; a week begins on Monday. `lifetime`: all of the time. */
export type LimitPeriod = 'hour' | 'day' | 'week' | 'month' | 'lifetime';

/** A limit with what is spent under it. */
export interface LimitStatus {
  limit: SpendingLimit;
  /** Whose spending this is. */
  subject: string | null;
  livemode: boolean;
  /** Settled in the period that runs now, USD. */
  spent_usd: string;
  /** Held by running requests, USD. */
  held_usd: string;
  /** Null without a cap. */
  remaining_usd: string | null;
  /** Null for a lifetime. */
  period_start: string | null;
  /** When the period ends; null for a lifetime. */
  resets_at: string | null;
}

/** What an account spends at the moment. In a stream, what has not changed is left out. */
export interface LiveFigures {
  /** What keys have spent, and what their running requests hold. */
  budgets?: KeyBudgetSummaryResponse | undefined;
  /** Agent runs of both modes, those that began last first. */
  runs?: Run[] | undefined;
  /** Settled requests of both modes, the newest first; empty where the plan has no receipts. */
  requests?: ReceiptListItem[] | undefined;
}

/** That the log of one size is the beginning of the log of another. */
export interface LogConsistencyResponse {
  object: 'log.consistency';
  /** The smaller size. */
  from: number;
  /** The larger size. */
  to: number;
  /** The consistency path of RFC 9162, section 2.1.4. */
  path: string[];
}

/** An entry of the log that is no receipt: what is said before it is used. */
export type LogDeclaration = PriceDeclaration | KeyDeclaration | KeyRetiredDeclaration | LogPolicyDeclaration;

/** Prices, keys and rules that are entries of the log. */
export interface LogDeclarations {
  data: LoggedDeclaration[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
  /** The state of the log that the proofs are against: a signed note. */
  checkpoint: string;
  /** Entries of the log in that state. */
  tree_size: number;
  /** How many declarations of each kind the log has in that state. */
  declared: {
    price: number;
    key: number;
    key_retired: number;
    policy: number;
  };
}

/** SHA-256, base64. */
export type LogHash = string;

/** By which rules the log is kept from now on. */
export interface LogPolicyDeclaration {
  version: 'tallygate-declaration/v1';
  /** Its number among the declarations of its kind, from 1. */
  number: number;
  /** Digest of the declaration of its kind before it; null of the first. */
  previous: string | null;
  /** When it was declared (UTC). */
  declared_at: string;
  kind: 'policy';
  /** Name of the log. */
  log: string;
  receipt_version: string;
  /** How soon a receipt is in the log, seconds after its answer has ended. */
  logged_within_s: number;
  /** Whose cosignatures a verifier demands, and how many, in one line: `2 of KEY KEY KEY`. Null where there are no witnesses. The agent document lists the same. */
  witness_policy: string | null;
  /** Contracts that hold states of the log. */
  anchors: {
    chain_id: number;
    contract: string;
  }[];
}

/** A state of the receipts’ log that a time-stamping authority has signed with the time. */
export interface LogTimestamp {
  object: 'log.timestamp';
  /** UUIDv7. */
  id: string;
  /** Address of the time-stamping authority. */
  authority: string;
  /** How many entries the log had. */
  tree_size: number;
  /** What was stamped: the text of the checkpoint without its signatures (c2sp.org/tlog-checkpoint), whose SHA-256 is in the token. */
  checkpoint: string;
  /** When, by the authority’s clock. */
  time: string;
  /** The time-stamp token (RFC 3161, section 2.4.2), DER in base64. */
  token: string;
}

/** Timestamps of the log, the newest first. */
export interface LogTimestampList {
  data: LogTimestamp[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** A declaration, and the proof that it is in the log. */
export interface LoggedDeclaration {
  /** Position of the entry, from 0. */
  index: number;
  /** The entry itself. */
  digest: string;
  declaration: LogDeclaration;
  /** Hashes from the leaf upwards (RFC 9162, section 2.1.3). */
  inclusion_path: string[];
}

/** A price with the proof that it is in the state of the log that the receipt is proven against. */
export interface LoggedPrice {
  declaration: PriceDeclaration;
  /** Hashes from the leaf upwards (RFC 9162, section 2.1.3). */
  inclusion_path: string[];
}

/** How people log in here. */
export interface LoginMethods {
  /** E-mail address and password, or a passkey. */
  password: boolean;
  /** The company’s directory; null where none is configured. */
  directory: {
    /** As people call it. */
    name: string;
    /** Where a browser begins, with `redirect_uri`, `code_challenge` (base64url of the SHA-256 of a secret of yours) and, if you like, `state`. */
    login_url: string;
  } | null;
  /** Null where the service is reached at an IP address, which no passkey can be made for. */
  passkey: {
    /** The domain that passkeys are for. */
    rp_id: string;
  } | null;
}

/** The second step of a login. */
export interface LoginMfaRequest {
  /** From the answer to the login. */
  challenge_token: string;
  /** Six digits from the authenticator app, or a recovery code. */
  code: string;
}

/** The password was right; a second factor is needed. */
export interface LoginMfaRequiredResponse {
  mfa_required: true;
  /** For `POST /v1/users/login/mfa`; five minutes, five tries. */
  challenge_token: string;
  /** RFC 3339, UTC. */
  expires_at: string;
  /** `passkey`: by `POST /v1/users/login/passkey/begin`, where the user has one. */
  methods: ('totp' | 'recovery_code' | 'passkey')[];
}

/** E-mail address and password. */
export interface LoginRequest {
  /** E-mail address. An internationalized domain is stored and returned in its ASCII spelling (`xn--…`). */
  email: string;
  password: string;
}

/** A signed-in session: 30 days from its last use, 90 days at most. */
export interface LoginSession {
  /** Opaque, `tgs_…`. Shown once. */
  token: string;
  /** RFC 3339, UTC. */
  expires_at: string;
}

/** A management key without its secret. */
export interface ManagementKey {
  /** UUIDv7. */
  management_key_id: string;
  name: string;
  /** The part of the key that is no secret. */
  prefix: string;
  scopes: ManagementScope[];
  /** The only addresses that the key works from. Null: all. */
  allowed_addresses: string[] | null;
  status: 'active' | 'expired' | 'revoked';
  /** The member who made it. It is revoked when they leave the account. */
  created_by: string;
  /** RFC 3339, UTC. */
  created_at: string;
  expires_at: string | null;
  /** When the secret was last replaced. */
  rotated_at: string | null;
  /** Until when the secret before the last rotation still works; null when it does not. */
  previous_secret_expires_at: string | null;
  revoked_at: string | null;
  /** To the minute. */
  last_used_at: string | null;
}

/** A management key with its secret, shown exactly once. */
export interface ManagementKeyCreated {
  /** UUIDv7. */
  management_key_id: string;
  name: string;
  /** The part of the key that is no secret. */
  prefix: string;
  scopes: ManagementScope[];
  /** The only addresses that the key works from. Null: all. */
  allowed_addresses: string[] | null;
  status: 'active' | 'expired' | 'revoked';
  /** The member who made it. It is revoked when they leave the account. */
  created_by: string;
  /** RFC 3339, UTC. */
  created_at: string;
  expires_at: string | null;
  /** When the secret was last replaced. */
  rotated_at: string | null;
  /** Until when the secret before the last rotation still works; null when it does not. */
  previous_secret_expires_at: string | null;
  revoked_at: string | null;
  /** To the minute. */
  last_used_at: string | null;
  /** The plain key. It is shown in this answer only. */
  key: string;
}

/** Management keys, the newest first. */
export interface ManagementKeyList {
  data: ManagementKey[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** What a management key may do. */
export type ManagementScope = 'account:read' | 'keys:write' | 'projects:write' | 'members:read' | 'members:write' | 'limits:write' | 'webhooks:write' | 'scim' | 'billing:write' | 'audit:read' | 'marketing:read' | 'marketing:write' | 'events:read' | 'events:write' | 'admin:read' | 'admin:write';

/** Requests of clients, the newest first. */
export interface MarketingClientRequestListResponse {
  data: MarketingClientRequestRecord[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** A request of a client, as the team sees it. */
export interface MarketingClientRequestRecord {
  /** UUIDv7. */
  request_id: string;
  type: ClientRequestType;
  status: ClientRequestStatus;
  /** Display name. */
  name: string;
  /** E-mail address. An internationalized domain is stored and returned in its ASCII spelling (`xn--…`). */
  email: string;
  company: string | null;
  client_type: 'individual' | 'startup' | 'business' | 'enterprise' | null;
  /** Plain text; markup is shown literally. */
  message: string;
  /** The user it is assigned to. */
  owner: string | null;
  /** Changes and notes, the newest first. */
  history: ClientRequestEntry[];
  /** RFC 3339, UTC. */
  created_at: string;
  /** RFC 3339, UTC. */
  updated_at: string;
  /** When it was done or declined; null while it is open. */
  closed_at: string | null;
}

/** What to change, and a note. Fields that are left out stay. */
export interface MarketingClientRequestUpdateRequest {
  status?: ClientRequestStatus | undefined;
  type?: ClientRequestType | undefined;
  /** A user with the role `marketing` or `admin`; null if unassigned. */
  owner?: string | null | undefined;
  /** For the team; the client never sees it. */
  note?: string | undefined;
}

/** Consent to news by mail. Unsubscribing withdraws it. */
export interface MarketingConsent {
  /** Where it was given: at sign-up, at a registration, in a request to the team; or in a file that the team imported. */
  source: 'user' | 'registration' | 'client_request' | 'import';
  /** The event of the registration in which it was given. */
  event_slug: string | null;
  /** When it was given. */
  given_at: string;
  /** When the owner of the address confirmed it by mail, or when it was imported. While this is null it has no effect: anybody can fill in the form. */
  confirmed_at: string | null;
}

/** A new draft. */
export interface MarketingContentCreateRequest {
  type: ContentType;
  /** Its unique name in URLs. */
  slug: string;
  title: string;
  /** One or two sentences for lists. */
  summary?: string | undefined;
  /** CommonMark. It is stored and returned as written: sanitize it before you show it as HTML. */
  body: string;
  /** For grouping. */
  tags?: string[] | undefined;
}

/** Drafts and published content, last changed first. */
export interface MarketingContentListResponse {
  data: MarketingContentRecord[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** Content, as its authors see it. */
export interface MarketingContentRecord {
  /** UUIDv7. */
  content_id: string;
  type: ContentType;
  /** Its unique name in URLs. */
  slug: string;
  title: string;
  summary: string | null;
  /** CommonMark. It is stored and returned as written: sanitize it before you show it as HTML. */
  body: string;
  /** For grouping. */
  tags: string[];
  /** Only published content can be read without a credential. */
  status: 'draft' | 'published';
  /** Grows by one with every change. */
  version: number;
  /** The user who wrote the first version. */
  created_by: string | null;
  /** The user who changed it last. */
  updated_by: string | null;
  /** RFC 3339, UTC. */
  created_at: string;
  /** RFC 3339, UTC. */
  updated_at: string;
  /** From then on the slug is fixed. */
  first_published_at: string | null;
  /** The time of the current publication; null for a draft. */
  published_at: string | null;
}

/** What to change. A field that is left out stays; `tags` are replaced as a whole. */
export interface MarketingContentUpdateRequest {
  /** The version that the change is based on; if there is a newer one, nothing is changed (409). */
  version: number;
  type?: ContentType | undefined;
  /** Its unique name in URLs. */
  slug?: string | undefined;
  title?: string | undefined;
  summary?: string | null | undefined;
  /** CommonMark. It is stored and returned as written: sanitize it before you show it as HTML. */
  body?: string | undefined;
  /** For grouping. */
  tags?: string[] | undefined;
}

/** One person, some, or all that match a filter when the sending begins; `{ "filter": {} }` is everybody. */
export type MarketingEmailAudience = {
  /** UUIDv7. */
  person_id: string;
} | {
  person_ids: string[];
} | {
  filter: {
    /** Words, as in the list of people. */
    q?: string | undefined;
    /** A stage, `unsubscribed` or `bounced`. */
    status?: 'new' | 'contacted' | 'qualified' | 'customer' | 'lost' | 'unsubscribed' | 'bounced' | undefined;
    /** How they became known. */
    source?: 'user' | 'registration' | 'invite' | 'client_request' | 'import' | 'manual' | undefined;
    /** An event they registered for. */
    event_slug?: string | undefined;
    /** The id of the responsible user, or `none`. */
    owner?: string | undefined;
    /** Their kind of client, which an import may name as it likes, or `none`. */
    client_type?: string | undefined;
    /** The id of the plan their account is on, or `none`. */
    plan_tier?: string | undefined;
    /** Consent to news by mail. `given`: confirmed by the owner of the address. `none`: everybody else. `claimed`: of those, the people with consent on a form who have not answered the confirmation mail. */
    consent?: 'given' | 'claimed' | 'none' | undefined;
  };
};

/** The result of a bounce report. */
export interface MarketingEmailBounceResponse {
  /** Of a marketing mail; null for an invitation. */
  recipient_id: string | null;
  /** The marketing mail; null for an invitation. */
  email_id: string | null;
  /** The invitation; null for a marketing mail. */
  invite_id: string | null;
  /** `hard`: the address is none, and gets no further mail. `soft`: this mail was late or was not taken, and the address may get others. */
  kind: 'hard' | 'soft';
  /** The status code of the mail server (RFC 3463). */
  status: string;
  /** The new state of the recipient; for an invitation the state in its batch: `failed`, for every kind, if it did not arrive. */
  state: 'queued' | 'handing_over' | 'sent' | 'unconfirmed' | 'bounced' | 'rejected' | 'failed' | 'suppressed' | 'canceled';
  /** False for a report that changed nothing. */
  changed: boolean;
}

/** Marketing mails, newest first. */
export interface MarketingEmailListResponse {
  data: MarketingEmailRecord[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** One recipient of a mail, with the outcome. */
export interface MarketingEmailRecipient {
  /** The Message-ID of the mail begins with it. */
  recipient_id: string;
  person_id: string | null;
  /** Null once the person was erased. */
  to: string | null;
  state: 'queued' | 'handing_over' | 'sent' | 'unconfirmed' | 'bounced' | 'rejected' | 'failed' | 'suppressed' | 'canceled';
  /** How often it was tried. */
  attempts: number;
  /** Of subject, text and HTML as sent, each ended by a null byte. */
  sha256: string | null;
  last_error: string | null;
  /** The time of this state. */
  at: string;
}

/** The recipients of a mail. */
export interface MarketingEmailRecipientListResponse {
  data: MarketingEmailRecipient[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** A marketing mail with its progress. */
export interface MarketingEmailRecord {
  /** UUIDv7. */
  email_id: string;
  /** With its variables. */
  subject: string;
  to: { [name: string]: unknown };
  /** Its template; null if it has its own text. */
  template_id: string | null;
  /** The address for replies; null: to the sender. */
  reply_to: string | null;
  is_test: boolean;
  /** `preparing`: its recipients are being selected. `sent`: no recipient is left in the queue. */
  state: 'scheduled' | 'preparing' | 'sending' | 'sent' | 'canceled';
  /** Counts of the recipients by state. */
  progress: {
    /** All of them; final once the state is `sending`. */
    recipients: number;
    /** Waiting, also for another attempt. */
    queued: number;
    /** Taken by the mail server. */
    sent: number;
    /** Sent to the mail server, whose answer was lost with the connection or a crash: most likely delivered, and never sent twice. */
    unconfirmed: number;
    /** The mail server refused the address permanently; it gets no further mail. */
    bounced: number;
    /** The mail server refused this mail permanently. */
    rejected: number;
    /** Given up after the last attempt. */
    failed: number;
    /** Unsubscribed or bounced: got nothing. */
    suppressed: number;
    /** Still waiting when it was canceled. */
    canceled: number;
  };
  /** RFC 3339, UTC. */
  scheduled_at: string;
  /** RFC 3339, UTC. */
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
}

/** A mail, with its own text or that of a template, and its recipients. */
export interface MarketingEmailSendRequest {
  to: MarketingEmailAudience;
  /** A stored template, copied at this moment; instead of `subject`, `text` and `html`. */
  template_id?: string | undefined;
  /** May hold variables, as the bodies. */
  subject?: string | undefined;
  /** The plain part. `{{name}}`, `{{first_name}}`, `{{company}}`, `{{email}}`, `{{unsubscribe_url}}` and those of `variables` are filled in; `{{first_name|there}}` gives the text for a value that is not known. */
  text?: string | undefined;
  /** The HTML part, in which values are escaped; generated from the text if left out. */
  html?: string | undefined;
  /** Further variables, the same for everybody. */
  variables?: { [name: string]: string } | undefined;
  /** The address for replies. Left out: to `MAIL_REPLY_TO` of the gateway, or else to the sender. */
  reply_to?: string | undefined;
  /** `preview` sends nothing and shows the mail to the first recipient; `test` sends that mail to the caller’s address only. */
  mode?: 'send' | 'preview' | 'test' | undefined;
  /** Not before this time, RFC 3339, UTC. Left out: at once. */
  scheduled_at?: string | undefined;
}

/** The mail that is sent, or would be. */
export interface MarketingEmailSendResponse {
  /** Null in a preview. */
  email: MarketingEmailRecord | null;
  /** How many the audience has now, those who get no mail included. */
  recipients: number;
  /** The mail to the first recipient; null if nobody matches. */
  preview: {
    to: string;
    subject: string;
    text: string;
    html: string;
  } | null;
}

/** A new template. */
export interface MarketingEmailTemplateCreateRequest {
  /** Unique among the templates that are not archived. */
  name: string;
  /** May hold variables, as the bodies. */
  subject: string;
  /** The plain part. `{{name}}`, `{{first_name}}`, `{{company}}`, `{{email}}`, `{{unsubscribe_url}}` and those of `variables` are filled in; `{{first_name|there}}` gives the text for a value that is not known. */
  text: string;
  /** The HTML part, in which values are escaped; generated from the text if left out. */
  html?: string | undefined;
  /** Default values of its variables; a mail can set others. */
  variables?: { [name: string]: string } | undefined;
}

/** Templates, last changed first. */
export interface MarketingEmailTemplateListResponse {
  data: MarketingEmailTemplateRecord[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** The text of recurring mails. */
export interface MarketingEmailTemplateRecord {
  /** UUIDv7. */
  template_id: string;
  /** Unique among the templates that are not archived. */
  name: string;
  /** May hold variables, as the bodies. */
  subject: string;
  /** The plain part. `{{name}}`, `{{first_name}}`, `{{company}}`, `{{email}}`, `{{unsubscribe_url}}` and those of `variables` are filled in; `{{first_name|there}}` gives the text for a value that is not known. */
  text: string;
  /** Null: generated from the text. */
  html: string | null;
  /** Default values of its variables; a mail can set others. */
  variables: { [name: string]: string };
  /** Variables without a value: every mail must give them in `variables`. */
  missing_variables: string[];
  /** Grows with every change. */
  version: number;
  /** From then on, new mails cannot use it. */
  archived_at: string | null;
  /** RFC 3339, UTC. */
  created_at: string;
  /** RFC 3339, UTC. */
  updated_at: string;
}

/** What to change. A field that is left out stays; `variables` are replaced as a whole. Existing mails do not change. */
export interface MarketingEmailTemplateUpdateRequest {
  /** Unique among the templates that are not archived. */
  name?: string | undefined;
  /** May hold variables, as the bodies. */
  subject?: string | undefined;
  /** The plain part. `{{name}}`, `{{first_name}}`, `{{company}}`, `{{email}}`, `{{unsubscribe_url}}` and those of `variables` are filled in; `{{first_name|there}}` gives the text for a value that is not known. */
  text?: string | undefined;
  html?: string | null | undefined;
  /** Default values of its variables; a mail can set others. */
  variables?: { [name: string]: string } | undefined;
}

/** Counts of the registrations of an event. */
export interface MarketingEventFigures {
  /** Have a place. */
  confirmed: number;
  /** Have one held until they pay. */
  awaiting_payment: number;
  /** Wait for one. */
  waitlisted: number;
  /** Have none any more. */
  canceled: number;
  /** Came. */
  attended: number;
  /** Paid and not refunded. */
  received_usd: string;
}

/** Events in every state, the next one first. */
export interface MarketingEventListResponse {
  data: MarketingEventRecord[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** An event with the figures of its registrations. */
export interface MarketingEventRecord {
  /** UUIDv7. */
  event_id: string;
  /** Never changes once the event was published. */
  slug: string;
  title: string;
  summary: string;
  /** Plain text. */
  description: string;
  status: SiteEventStatus;
  /** RFC 3339, UTC. */
  starts_at: string;
  /** RFC 3339, UTC. */
  ends_at: string;
  /** IANA time zone in which it takes place. */
  time_zone: string;
  venue_name: string | null;
  venue_address: string | null;
  online_url: string | null;
  image_url: string | null;
  /** Null: unlimited. */
  capacity: number | null;
  /** Null: unlimited. */
  places_left: number | null;
  /** Length of the waitlist. */
  waitlist_length: number;
  /** Price of a place; 0 is free. */
  price_usd: string;
  /** When registration ends. */
  registration_closes_at: string;
  /** Whether registration is open, at least for the waitlist. */
  is_registration_open: boolean;
  /** The first time it was published. */
  published_at: string | null;
  archived_at: string | null;
  /** RFC 3339, UTC. */
  created_at: string;
  /** RFC 3339, UTC. */
  updated_at: string;
  registrations: MarketingEventFigures;
}

/** Registrations, the newest first. */
export interface MarketingEventRegistrationListResponse {
  data: MarketingEventRegistrationRecord[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** A registration as the marketing workspace sees it. */
export interface MarketingEventRegistrationRecord {
  /** UUIDv7. */
  registration_id: string;
  event_slug: string;
  event_title: string;
  email: string;
  name: string | null;
  company: string | null;
  /** Their message at the registration. */
  message: string | null;
  /** The user of the address. */
  user_id: string | null;
  status: RegistrationStatus;
  /** 1 is next. */
  waitlist_position: number | null;
  payment_status: RegistrationPayment;
  /** Decimal string, USD. */
  price_usd: string;
  /** Of the workspace; registrants never see it. */
  note: string;
  /** RFC 3339, UTC. */
  registered_at: string;
  confirmed_at: string | null;
  canceled_at: string | null;
  attended_at: string | null;
  /** RFC 3339, UTC. */
  updated_at: string;
}

/** What to change; what is left out stays. */
export interface MarketingEventRegistrationUpdateRequest {
  /** `confirmed` needs a free place, and waives a payment that is due. `waitlisted` puts somebody who is canceled at the end of the waitlist. `canceled` frees the place for the next person on the waitlist; what was paid has to be refunded instead. */
  status?: 'confirmed' | 'waitlisted' | 'canceled' | undefined;
  name?: string | null | undefined;
  company?: string | null | undefined;
  /** For administrators. */
  note?: string | undefined;
  /** Whether they came. */
  attended?: boolean | undefined;
}

/** Batches of invitations, the newest first. */
export interface MarketingInviteBatchListResponse {
  data: MarketingInviteBatchResponse[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** Invitations: by mail to `recipients`, or to all who match a `filter`, or one code with `shared_uses`. `plan_id` and `trial_days` come together. Without them and without `credit_usd` an activation creates an account and nothing else. */
export interface MarketingInviteBatchRequest {
  /** For the team. */
  name: string;
  /** Each gets their own code by mail, once, even if the address is named several times. */
  recipients?: {
    /** E-mail address. An internationalized domain is stored and returned in its ASCII spelling (`xn--…`). */
    email: string;
    /** Display name. */
    name?: string | undefined;
  }[] | undefined;
  /** Instead of recipients: everybody of `GET /v1/marketing/people` who matches, as for e-mails. A job selects them right afterwards; `{}` is everybody. */
  filter?: {
    /** Words, as in the list of people. */
    q?: string | undefined;
    /** A stage, `unsubscribed` or `bounced`. */
    status?: 'new' | 'contacted' | 'qualified' | 'customer' | 'lost' | 'unsubscribed' | 'bounced' | undefined;
    /** How they became known. */
    source?: 'user' | 'registration' | 'invite' | 'client_request' | 'import' | 'manual' | undefined;
    /** An event they registered for. */
    event_slug?: string | undefined;
    /** The id of the responsible user, or `none`. */
    owner?: string | undefined;
    /** Their kind of client, which an import may name as it likes, or `none`. */
    client_type?: string | undefined;
    /** The id of the plan their account is on, or `none`. */
    plan_tier?: string | undefined;
    /** Consent to news by mail. `given`: confirmed by the owner of the address. `none`: everybody else. `claimed`: of those, the people with consent on a form who have not answered the confirmation mail. */
    consent?: 'given' | 'claimed' | 'none' | undefined;
  } | undefined;
  /** Instead of recipients: one shared code, which this many people can activate. */
  shared_uses?: number | undefined;
  /** The plan of the trial. */
  plan_id?: PlanId | undefined;
  /** Days from the activation. */
  trial_days?: number | undefined;
  /** At most 10000 for each activation. */
  credit_usd?: string | undefined;
  /** The end of the codes’ validity. */
  expires_at: string;
  /** Of the mail. */
  subject?: string | undefined;
  /** Of the mail: plain text, paragraphs separated by an empty line; `{{name}}` is the recipient’s name. */
  message?: string | undefined;
}

/** A batch of invitations with its progress. */
export interface MarketingInviteBatchResponse {
  /** UUIDv7. */
  batch_id: string;
  name: string;
  /** `sending` while people are selected, or mails are pending or being sent. */
  status: 'sending' | 'sent' | 'expired' | 'revoked';
  grants: InviteGrants;
  counts: InviteCounts;
  /** Maximum of activations of a shared code; null if each recipient has a code. */
  shared_uses: number | null;
  /** The filter of its recipients; null if it names them, or has none. */
  filter: { [name: string]: unknown } | null;
  /** For a batch with `shared_uses`, only in the answer that creates it. */
  code?: string | undefined;
  subject: string | null;
  message: string | null;
  /** RFC 3339, UTC. */
  expires_at: string;
  /** UUIDv7. */
  created_by: string;
  /** RFC 3339, UTC. */
  created_at: string;
  revoked_at: string | null;
}

/** The invitations of a batch, in the order in which they are mailed. */
export interface MarketingInviteListResponse {
  data: MarketingInviteRecord[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** One invitation; its code is only in the mail. */
export interface MarketingInviteRecord {
  /** UUIDv7. */
  invite_id: string;
  /** Null for a shared code. */
  email: string | null;
  name: string | null;
  /** State of its mail; `shared` has none. */
  status: 'pending' | 'queued' | 'sent' | 'unconfirmed' | 'failed' | 'suppressed' | 'shared' | 'revoked';
  max_uses: number;
  /** Number of activations. */
  uses: number;
  /** The answer of the mail server. */
  failure: string | null;
  sent_at: string | null;
  revoked_at: string | null;
}

/** What to do with a person. `erase` deletes all their data, permanently, and no import restores it; an unpaid place at an event becomes free; payments stay in the ledger, which names accounts only. */
export type MarketingPeopleActionRequest = {
  action: 'tag';
  tag: string;
} | {
  action: 'untag';
  tag: string;
} | {
  action: 'assign_owner';
  /** A user with the role `marketing` or `admin`; null: none. */
  owner: string | null;
} | {
  action: 'set_status';
  status: PersonStage;
} | {
  action: 'note';
  /** Plain text, may have several lines. */
  note: string;
} | {
  action: 'merge';
  /** The person to keep; the one in the path is merged into them. */
  into: string;
} | {
  action: 'unsubscribe';
  /** The reason, for the history. */
  reason?: string | undefined;
} | {
  action: 'resubscribe';
  /** The reason, for the history. */
  reason: string;
} | {
  action: 'erase';
  /** The reason, for the history. */
  reason?: string | undefined;
};

/** The result of an action. */
export interface MarketingPeopleActionResponse {
  action: string;
  /** False if nothing changed. */
  changed: boolean;
  /** As they are now; null once erased. */
  person: MarketingPersonRecord | null;
}

/** The result of an import. Valid rows are imported even if others are not valid. */
export interface MarketingPeopleImportResponse {
  /** Rows read, the header not counted. */
  rows: number;
  created: number;
  /** People who were known already. */
  updated: number;
  /** Rows of people who were erased: no import restores them. */
  skipped: number;
  failed: number;
  /** Rows that could not be imported, the first thousand. */
  errors: {
    /** Of the file, 1 for its first; of a row of several lines, where it begins. */
    line: number;
    message: string;
  }[];
}

/** People, newest first. */
export interface MarketingPeopleListResponse {
  data: MarketingPersonRecord[];
  /** Whether the list continues after this page. */
  has_more: boolean;
  /** Number of matches. */
  total: number;
  limit: number;
  offset: number;
  /** False if `q` may match so many people that `total` is estimated from a part of them. */
  total_is_exact: boolean;
}

/** All data of a person. */
export interface MarketingPersonExport {
  person: MarketingPersonRecord;
  /** What else is stored under their addresses, by kind. */
  records: { [name: string]: { [name: string]: unknown }[] };
}

/** One entry in the history of a person. */
export interface MarketingPersonHistoryEntry {
  /** What was done, such as `tag`, `merge` or `seen`. */
  action: string;
  actor: {
    /** Who did it; `internal` is the web front end. */
    kind: 'user' | 'key' | 'management_key' | 'internal' | 'system';
    /** The id of the user or of the API key. */
    id: string | null;
  };
  /** What changed. */
  detail: { [name: string]: unknown };
  /** RFC 3339, UTC. */
  at: string;
}

/** A person the service knows by an e-mail address. */
export interface MarketingPersonRecord {
  /** UUIDv7. */
  person_id: string;
  /** In lower case. */
  email: string;
  /** Further addresses of the same person. */
  other_emails: string[];
  name: string | null;
  company: string | null;
  status: PersonStage;
  /** Whether the person gets marketing mail: `unsubscribed` and `bounced` get none. */
  subscription: 'subscribed' | 'unsubscribed' | 'bounced';
  /** When they unsubscribed. */
  unsubscribed_at: string | null;
  /** When a mail to them was refused permanently. */
  bounced_at: string | null;
  /** Their consent to news by mail; null without one. */
  consent: MarketingConsent | null;
  sources: PersonSource[];
  /** Events they registered for. */
  event_slugs: string[];
  tags: string[];
  /** The user who is responsible for them. */
  owner: string | null;
  client_type: string | null;
  plan_tier: string | null;
  /** Their user here, if they have one. */
  user_id: string | null;
  /** RFC 3339, UTC. */
  created_at: string;
  /** RFC 3339, UTC. */
  updated_at: string;
  /** Newest first, at most 200; in the answers about one person. */
  history?: MarketingPersonHistoryEntry[] | undefined;
}

/** A person of an account. */
export interface Member {
  /** UUIDv7. */
  user_id: string;
  email: string;
  name: string | null;
  account_role: AccountRole;
  /** Your own id of it. */
  external_id: string | null;
  mfa_enabled: boolean;
  /** RFC 3339, UTC. */
  joined_at: string;
}

/** An invitation that was not accepted yet. */
export interface MemberInvitation {
  /** UUIDv7. */
  invitation_id: string;
  email: string;
  account_role: AccountRole;
  /** Your own id of it. */
  external_id: string | null;
  /** RFC 3339, UTC. */
  created_at: string;
  /** RFC 3339, UTC. */
  expires_at: string;
}

/** Invitations that can still be accepted, the newest first. */
export interface MemberInvitationList {
  data: MemberInvitation[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** Members of an account, the newest first. */
export interface MemberList {
  data: Member[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** Anthropic’s message. */
export interface Message {
  id: string;
  type: 'message';
  role: 'assistant';
  model: string;
  content: {
    type: string;
    [field: string]: unknown;
  }[];
  stop_reason: string | null;
  stop_sequence?: string | null | undefined;
  usage: MessageUsage;
  [field: string]: unknown;
}

/** A batch of messages, in Anthropic’s shape. */
export interface MessageBatch {
  id: string;
  type: 'message_batch';
  processing_status: 'in_progress' | 'canceling' | 'ended';
  request_counts: {
    /** Not done yet. */
    processing: number;
    /** Answered. */
    succeeded: number;
    /** Refused, or failed. */
    errored: number;
    /** Not begun before the batch was canceled. */
    canceled: number;
    /** Not begun within the day. */
    expired: number;
  };
  created_at: string;
  expires_at: string;
  /** When all requests were done; null before. */
  ended_at: string | null;
  /** When it was asked to end, or null. */
  cancel_initiated_at: string | null;
  archived_at: null;
  /** Where the results are; null before the batch has ended. */
  results_url: string | null;
}

/** The batch and its results are gone. */
export interface MessageBatchDeleted {
  id: string;
  type: 'message_batch_deleted';
}

/** A page of batches of messages. */
export interface MessageBatchList {
  data: MessageBatch[];
  has_more: boolean;
  first_id: string | null;
  /** The `after_id` of the next page. */
  last_id: string | null;
}

/** A block of a message’s content. */
export type MessageContentBlock = {
  type: 'text';
  text: string;
  [field: string]: unknown;
} | {
  type: 'image';
  source: MessageSource;
  [field: string]: unknown;
} | {
  type: 'document';
  source: MessageSource;
  title?: string | null | undefined;
  [field: string]: unknown;
} | {
  type: 'search_result';
  source: string;
  title: string;
  content: {
    type: 'text';
    text: string;
    [field: string]: unknown;
  }[];
  [field: string]: unknown;
} | {
  type: 'thinking';
  thinking: string;
  signature: string;
  [field: string]: unknown;
} | {
  type: 'redacted_thinking';
  data: string;
  [field: string]: unknown;
} | {
  type: 'tool_use';
  id: string;
  name: string;
  input: { [name: string]: unknown };
  [field: string]: unknown;
} | {
  type: 'tool_result';
  tool_use_id: string;
  content?: string | ({
    type: 'text';
    text: string;
    [field: string]: unknown;
  } | {
    type: 'image';
    source: MessageSource;
    [field: string]: unknown;
  } | {
    type: 'document';
    source: MessageSource;
    title?: string | null | undefined;
    [field: string]: unknown;
  } | {
    type: 'search_result';
    source: string;
    title: string;
    content: {
      type: 'text';
      text: string;
      [field: string]: unknown;
    }[];
    [field: string]: unknown;
  } | {
    type: 'tool_reference';
    tool_name: string;
    [field: string]: unknown;
  } | {
    type: 'browser_state';
    [field: string]: unknown;
  })[] | null | undefined;
  is_error?: boolean | null | undefined;
  [field: string]: unknown;
} | {
  type: 'server_tool_use' | 'web_search_tool_result' | 'web_fetch_tool_result' | 'code_execution_tool_result' | 'bash_code_execution_tool_result' | 'text_editor_code_execution_tool_result' | 'tool_search_tool_result' | 'mcp_tool_use' | 'mcp_tool_result' | 'container_upload' | 'compaction';
  [field: string]: unknown;
};

/** A turn of the conversation. */
export interface MessageParam {
  role: 'user' | 'assistant' | 'system';
  content: string | MessageContentBlock[];
  [field: string]: unknown;
}

/** An image or a document: inline, or its address. */
export type MessageSource = {
  type: 'base64';
  media_type: string;
  data: string;
  [field: string]: unknown;
} | {
  type: 'url';
  url: string;
  [field: string]: unknown;
} | {
  type: 'text';
  media_type: 'text/plain';
  data: string;
  [field: string]: unknown;
} | {
  type: 'content';
  content: string | {
    type: 'text' | 'image';
    [field: string]: unknown;
  }[];
  [field: string]: unknown;
} | {
  type: 'file';
  file_id: string;
  [field: string]: unknown;
};

/** One event of a streamed message. */
export interface MessageStreamEvent {
  type: string;
  [field: string]: unknown;
}

/** How many tokens a prompt has. */
export interface MessageTokensCount {
  input_tokens: number;
}

/** A tool that the model may ask to have called. */
export interface MessageTool {
  /** Left out, or `custom`, for a tool of the caller’s own. */
  type?: string | null | undefined;
  name?: string | undefined;
  description?: string | null | undefined;
  input_schema?: {
    type: 'object';
    [field: string]: unknown;
  } | undefined;
  [field: string]: unknown;
}

/** Anthropic’s usage, with the cost added. */
export interface MessageUsage {
  /** Without those that the cache has a part in. */
  input_tokens: number;
  /** Written to the prompt cache. */
  cache_creation_input_tokens?: number | null | undefined;
  /** Read from the prompt cache. */
  cache_read_input_tokens?: number | null | undefined;
  output_tokens: number;
  /** What the request cost, USD. For people: the exact amount is in the receipt. */
  cost?: number | undefined;
  [field: string]: unknown;
}

/** Anthropic’s Messages request. Fields that are not listed here are passed through to the provider. */
export interface MessagesRequest {
  /** A model of the catalogue. */
  model: string;
  /** The conversation so far. */
  messages: MessageParam[];
  /** The system prompt. */
  system?: string | {
    type: 'text';
    text: string;
    [field: string]: unknown;
  }[] | null | undefined;
  /** Tools that the model may ask to have called. */
  tools?: MessageTool[] | null | undefined;
  tool_choice?: {
    type: 'auto' | 'any' | 'tool' | 'none';
    name?: string | undefined;
    disable_parallel_tool_use?: boolean | null | undefined;
    [field: string]: unknown;
  } | null | undefined;
  /** Whether the model thinks first, and for how many tokens at most. */
  thinking?: {
    type: 'enabled' | 'disabled' | 'adaptive';
    budget_tokens?: number | null | undefined;
    [field: string]: unknown;
  } | null | undefined;
  /** Fallbacks in order, tried when `model` cannot be served. Not sent to the provider. */
  models?: string[] | null | undefined;
  /** Which providers may serve the request, and in which order. Not sent to them. */
  provider?: ProviderPreference | null | undefined;
  /** Upper bound on tokens out, thoughts included. A model that gives fewer gives fewer. */
  max_tokens: number;
  /** Answer as server-sent events. */
  stream?: boolean | null | undefined;
  /** Texts at which the answer ends. */
  stop_sequences?: string[] | null | undefined;
  temperature?: number | null | undefined;
  top_p?: number | null | undefined;
  top_k?: number | null | undefined;
  /** `user_id`: an id of your own user, for the provider’s watch on abuse. */
  metadata?: {
    user_id?: string | null | undefined;
    [field: string]: unknown;
  } | null | undefined;
  /** `auto` or `standard_only`. */
  service_tier?: string | null | undefined;
  /** `effort`: how hard the model works. `format`: a JSON Schema that the answer follows. */
  output_config?: {
    effort?: string | null | undefined;
    format?: {
      type: 'json_schema';
      schema: { [name: string]: unknown };
      [field: string]: unknown;
    } | null | undefined;
    [field: string]: unknown;
  } | null | undefined;
  [field: string]: unknown;
}

/** A new secret; nothing changes until it is confirmed with a code. */
export interface MfaBeginResponse {
  /** For typing into an authenticator app: base32. */
  secret: string;
  /** The same as a link that authenticator apps open. */
  otpauth_uri: string;
  /** The link as a QR code: an SVG in a data URI. */
  qr_code: string;
}

/** Both factors, once more. */
export interface MfaDisableRequest {
  password: string;
  /** Six digits from the authenticator app, or a recovery code. */
  code: string;
}

/** The state of a user’s second factor. */
export interface MfaStatusResponse {
  /** Whether a login needs a second factor. */
  enabled: boolean;
  enabled_at: string | null;
  /** Begun and not confirmed yet; a login does not ask for it. */
  pending: boolean;
  recovery_codes_left: number;
  /** In the answer to confirm only: each replaces a code from the app, once. They are not shown again. */
  recovery_codes?: string[] | undefined;
}

/** The password, and a code from the app that took the secret of begin. */
export interface MfaVerifyRequest {
  /** Six digits from the authenticator app, or a recovery code. */
  code: string;
  /** Anyone who has only a session or an API key must not decide how its owner logs in. */
  password: string;
}

/** A model in OpenAI’s shape, with what it can do and what it costs. */
export interface Model {
  id: string;
  object: 'model';
  /** Release, unix seconds; 0 where no release date is known. */
  created: number;
  owned_by: string;
  kind: 'chat' | 'completion' | 'embedding' | 'image' | 'moderation' | 'realtime' | 'rerank' | 'tts' | 'stt' | 'video';
  /** Tokens; null where the model is not limited in tokens. */
  context_length: number | null;
  max_output_tokens: number | null;
  modalities: {
    input: string[];
    output: string[];
  };
  capabilities: string[];
  /** Request fields that the model acts on. */
  supported_parameters: string[];
  endpoints: string[];
  /** Other names of it, dated ones among them. With a `*`: every name of that form. */
  aliases: string[];
  /** Models that may answer instead while its providers fail, the most similar first, in agent runs and with `X-Fallback-Policy: semantic`. Of these only those are tried that can do all that the request asks, and that cost no more. */
  ladder: string[];
  /** Day on which its end was announced. */
  deprecated: string | null;
  /** Day (UTC) from which its provider does not serve it. */
  retired: string | null;
  /** Null where it has no price yet: until it has one it is not served. */
  pricing: ModelPricing | null;
}

/** A model without its price. What is left out is as `MODELS_FILE`, the shipped list or discovery has it, or else what nearly every model of its kind has. */
export interface ModelDefinition {
  /** Whose it is: the provider of that name serves it without naming it. Left out, it is served by the providers that name or find it. */
  provider?: string | undefined;
  /** Whether `GET /v1/models` lists it without being asked for all; `true` for models of one’s own. */
  advertised?: boolean | undefined;
  /** The provider’s name for it, where it is not the id. */
  provider_model?: string | undefined;
  /** Other names that callers may write. The provider is sent its own name. */
  aliases?: string[] | undefined;
  /** Names that the provider knows itself and that cost the same, such as dated ones: it is sent the name as it was asked for. `*` matches any characters: `llama3*`. */
  variants?: string[] | undefined;
  kind?: 'chat' | 'completion' | 'embedding' | 'image' | 'moderation' | 'realtime' | 'rerank' | 'tts' | 'stt' | 'video' | undefined;
  released?: string | null | undefined;
  /** Day on which its end was announced. */
  deprecated?: string | undefined;
  /** Day (UTC) from which it is refused. */
  retired?: string | undefined;
  /** Tokens; null if unknown. */
  context_window?: number | null | undefined;
  /** Tokens; null if unknown. */
  max_output_tokens?: number | null | undefined;
  /** What it takes. */
  input_modalities?: string[] | undefined;
  /** What it gives. */
  output_modalities?: string[] | undefined;
  /** What it can do, such as `tools`, `json_schema`, `vision`. Left out, what nearly every model of its kind can. */
  capabilities?: string[] | undefined;
  /** The endpoints that serve it. Left out, those of its kind. */
  endpoints?: string[] | undefined;
  /** Request fields that it does not act on, of those of its kind and capabilities. */
  unsupported_parameters?: string[] | undefined;
  /** Request fields that it acts on beside those. */
  additional_parameters?: string[] | undefined;
  /** Models of the same kind that may answer instead, the most similar first. */
  ladder?: string[] | undefined;
  /** Where its maker publishes it. */
  tokenizer?: 'o200k_base' | 'cl100k_base' | null | undefined;
  /** The most that it thinks beside the bound on tokens out, where its provider bills thought beside that bound, as Alibaba does. It is held with every request, and sent as `thinking_budget`. */
  thinking_tokens?: number | undefined;
  /** The most that one image can cost, tokens. */
  image_token_bound?: number | undefined;
  embedding_dimensions?: number | undefined;
  /** Lengths that a video may have. */
  video_seconds_allowed?: string[] | undefined;
  /** Lengths by which a video can be extended. */
  video_extension_seconds_allowed?: string[] | undefined;
  /** Sizes that a video may have. */
  video_sizes?: string[] | undefined;
  note?: string | undefined;
}

export type ModelId = string;

export type ModelKind = 'chat' | 'completion' | 'embedding' | 'image' | 'moderation' | 'realtime' | 'rerank' | 'tts' | 'stt' | 'video';

/** The catalogue. */
export interface ModelList {
  object: 'list';
  data: Model[];
}

/** A price that was set. */
export interface ModelPrice {
  /** The model. */
  id: string;
  pricing: ModelPricing;
}

/** What a model costs. */
export interface ModelPricing {
  /** The price version that receipts name. */
  version: string;
  /** From which on it is charged (UTC). */
  effective_from: string;
  currency: 'USD';
  /** USD per single unit, by meter. */
  prices: { [name in 'input_tokens' | 'cached_input_tokens' | 'cache_write_tokens' | 'cache_write_1h_tokens' | 'output_tokens' | 'audio_input_tokens' | 'cached_audio_input_tokens' | 'image_input_tokens' | 'cached_image_input_tokens' | 'image_output_tokens' | 'input_characters' | 'audio_seconds' | 'video_seconds' | 'audio_output_tokens' | 'web_searches' | 'web_search_previews' | 'file_searches' | 'container_gigabytes' | 'image_tool_text_input_tokens' | 'image_tool_image_input_tokens' | 'image_tool_text_output_tokens' | 'image_tool_image_output_tokens' | 'search_units']?: string };
  /** Empty where long inputs cost no more. */
  tiers: PriceTier[];
  /** Factor on all prices in batches. */
  batch_factor: string;
  /** Who set it: the list that comes with the gateway, the operator’s `MODELS_FILE`, an administrator. */
  source: 'shipped' | 'file' | 'admin';
  /** Where the figures are from, and of which day. */
  cited: string | null;
  /** The entry of the log of receipts that declares it, made before it is charged. Receipts name it. */
  entry: PriceEntry | null;
}

/** One judgement for each input. */
export interface Moderation {
  id: string;
  model: string;
  results: {
    flagged: boolean;
    categories: { [name: string]: boolean };
    category_scores: { [name: string]: number };
    category_applied_input_types?: { [name: string]: string[] } | undefined;
    [field: string]: unknown;
  }[];
  [field: string]: unknown;
}

/** OpenAI’s moderation request. */
export interface ModerationRequest {
  model?: string | undefined;
  /** What to judge. */
  input: string | string[] | ({
    type: 'text';
    text: string;
    [field: string]: unknown;
  } | {
    type: 'image_url';
    image_url: {
      url: string;
      [field: string]: unknown;
    };
    [field: string]: unknown;
  })[];
  [field: string]: unknown;
}

/** `toJSON()` of what `navigator.credentials.create` has answered. */
export interface NewPasskeyCredential {
  /** Base64url. */
  id: string;
  /** Base64url. */
  rawId: string;
  type: 'public-key';
  response: {
    /** What the browser has signed, base64url. */
    clientDataJSON: string;
    /** The public key, base64url. */
    attestationObject: string;
    transports?: string[] | undefined;
    [field: string]: unknown;
  };
  [field: string]: unknown;
}

/** 10 to 256 characters. What is easy to guess is refused. */
export type NewPassword = string;

/** The error in OpenAI’s form, so that OpenAI SDKs raise their own typed errors. */
export interface OpenAiError {
  /** The same sentence as `detail`. */
  message: string;
  /** OpenAI’s class of error. */
  type: string;
  /** The same code as `code`; on OpenAI’s operations OpenAI’s, where it has one, or that of the provider which refused the request. */
  code: string | null;
  /** The request field at fault, or null. */
  param: string | null;
}

/** A passkey of a user. */
export interface Passkey {
  /** UUIDv7. */
  passkey_id: string;
  name: string;
  /** Whether its provider keeps a copy, so that it outlives the device. */
  synced: boolean;
  /** RFC 3339, UTC. */
  created_at: string;
  last_used_at: string | null;
}

/** `toJSON()` of what `navigator.credentials.get` has answered. */
export interface PasskeyAssertion {
  /** Base64url. */
  id: string;
  /** Base64url. */
  rawId: string;
  type: 'public-key';
  response: {
    /** What the browser has signed, base64url. */
    clientDataJSON: string;
    /** Base64url. */
    authenticatorData: string;
    /** Base64url. */
    signature: string;
    /** Whose passkey it says it is. */
    userHandle?: string | null | undefined;
    [field: string]: unknown;
  };
  [field: string]: unknown;
}

/** For `navigator.credentials.create`: what `PublicKeyCredential.parseCreationOptionsFromJSON` takes. */
export interface PasskeyCreationOptions {
  rp: {
    /** The domain that the passkey is for. */
    id: string;
    name: string;
  };
  user: {
    /** Names the user to the passkey, and says nothing about them. */
    id: string;
    name: string;
    displayName: string;
  };
  /** Works once, within five minutes. */
  challenge: string;
  /** Algorithms (COSE), the preferred first. */
  pubKeyCredParams: {
    type: 'public-key';
    alg: number;
  }[];
  /** Milliseconds that the browser waits for the person. */
  timeout: number;
  attestation: 'none';
  /** Passkeys that the user has already. */
  excludeCredentials: {
    type: 'public-key';
    /** Base64url. */
    id: string;
    /** How browsers reach it. */
    transports: string[];
  }[];
  authenticatorSelection: {
    residentKey: 'required';
    requireResidentKey: true;
    userVerification: 'required';
  };
}

/** Passkeys, the newest first. */
export interface PasskeyList {
  data: Passkey[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** A login with a passkey. */
export interface PasskeyLoginRequest {
  /** Of a login with a password: the passkey is its second factor. Left out, the passkey is the whole login. */
  challenge_token?: string | undefined;
  credential: PasskeyAssertion;
}

/** For `navigator.credentials.get`: what `PublicKeyCredential.parseRequestOptionsFromJSON` takes. */
export interface PasskeyRequestOptions {
  /** The domain that the passkey is for. */
  rpId: string;
  /** Works once, within five minutes. */
  challenge: string;
  /** Milliseconds that the browser waits for the person. */
  timeout: number;
  /** `required` where the passkey is the whole login. */
  userVerification: 'required' | 'preferred';
  /** Empty: any passkey for the domain. */
  allowCredentials: {
    type: 'public-key';
    /** Base64url. */
    id: string;
    /** How browsers reach it. */
    transports: string[];
  }[];
}

/** The old password and the new one. */
export interface PasswordChangeRequest {
  /** The password as it is now. */
  current_password: string;
  /** 10 to 256 characters. What is easy to guess is refused. */
  new_password: string;
}

/** How members of the account log in beside the directory. */
export interface PasswordLogin {
  /** Whether members log in with e-mail address and password, or with a passkey. */
  password: boolean;
}

/** A new password for the person who reads the mail. */
export interface PasswordResetRequest {
  /** From the link in the mail. */
  token: string;
  /** 10 to 256 characters. What is easy to guess is refused. */
  new_password: string;
}

/** The event was taken. */
export interface PaymentWebhookResponse {
  received: boolean;
}

/** Who asks to be signed in, and for what. */
export interface PendingDeviceLogin {
  /** What asks, in words that its user recognises. It is shown as what the asker calls itself. */
  client_name: string;
  /** Where the program asked from. */
  ip_address: string | null;
  user_agent: string | null;
  /** What it may do once approved: a session has all of its user’s rights. */
  scopes: Scope[];
  /** RFC 3339, UTC. */
  requested_at: string;
  /** RFC 3339, UTC. */
  expires_at: string;
}

/** Source of a person. */
export type PersonSource = 'user' | 'registration' | 'invite' | 'client_request' | 'import' | 'manual';

/** Stage of the contact with a person. */
export type PersonStage = 'new' | 'contacted' | 'qualified' | 'customer' | 'lost';

/** When to charge the saved card, and what. */
export interface PlanAutoTopupRequest {
  enabled: boolean;
  /** Charge as soon as the balance is below this. */
  threshold_usd: string;
  /** What to charge: whole cents, from $1 to $10,000, and not less than the threshold. */
  amount_usd: string;
  /** What is charged in 24 hours at most. Default: five times the amount. */
  daily_maximum_usd?: string | undefined;
}

/** The settings of automatic top-up. */
export interface PlanAutoTopupResponse {
  enabled: boolean;
  threshold_usd: string | null;
  amount_usd: string | null;
  daily_maximum_usd: string | null;
  /** `limited`: another charge would exceed the daily maximum. `declined`: the card was refused; nothing is tried again until the settings are sent anew. */
  status: 'off' | 'ready' | 'charging' | 'limited' | 'declined';
  /** Why the card was refused. */
  decline: string | null;
  /** False: of the payment sandbox. It never changes what live keys may do, nor what they pay. */
  livemode: boolean;
}

/** What to pay into the balance. */
export interface PlanBalanceCheckoutRequest {
  /** Whole cents, from $1 to $10,000. */
  amount_usd: string;
  /** Keep the card for automatic top-ups. */
  save_card?: boolean | undefined;
  /** The return URL of the browser. Default: a page of this server. */
  success_url?: string | undefined;
  /** The return URL of the browser. Default: a page of this server. */
  cancel_url?: string | undefined;
}

/** The page on which to pay. */
export interface PlanBalanceCheckoutResponse {
  /** UUIDv7. */
  checkout_id: string;
  /** Of the hosted page. */
  status: 'open' | 'completed' | 'expired';
  /** Send the browser there; null once the page is not open. */
  checkout_url: string | null;
  /** What is paid there, USD. */
  amount_usd: string;
  /** Until when it can be paid; null where nothing is open. */
  expires_at: string | null;
  /** False: of the payment sandbox. It never changes what live keys may do, nor what they pay. */
  livemode: boolean;
}

/** Billing and overage. */
export interface PlanBillingSummaryResponse {
  plan_id: PlanId;
  /** A plan’s version never changes; a subscription keeps its own. */
  version: number;
  /** `past_due`: a renewal was declined and is tried again; the plan stays until `grace_ends_at`. */
  status: 'none' | 'incomplete' | 'trialing' | 'active' | 'past_due' | 'unpaid' | 'paused' | 'canceled';
  /** Decimal string, USD. */
  monthly_price_usd: string;
  /** UTC calendar month, `YYYY-MM`. */
  period: string;
  /** RFC 3339, UTC. */
  period_start: string;
  /** First instant of the next month. */
  resets_at: string;
  /** Prepaid and not used; below zero where more was used than paid. */
  balance_usd: string;
  /** Charged beyond the quota this month. */
  charged_usd: string;
  /** Of plans that pay by invoice: used and not on an invoice yet. */
  uninvoiced_usd: string;
  /** Invoiced and not paid yet: usage that waits for the next renewal, and invoices that are open. */
  owed_usd: string;
  overage: PlanOverage;
  /** Taken back by a bank for the time being: credits, or a plan, that are suspended until the dispute is closed. */
  disputed_usd: string;
  /** A payment is late: until then the plan stays. */
  grace_ends_at: string | null;
  next_charge_at: string | null;
  /** What the next renewal charges: the price of the plan that follows, and usage that waits for it. */
  next_charge_usd: string | null;
  /** False: of the payment sandbox. It never changes what live keys may do, nor what they pay. */
  livemode: boolean;
}

/** The plan to have from now on. */
export interface PlanCheckoutRequest {
  plan_id: PlanId;
  /** The return URL of the browser. Default: a page of this server. */
  success_url?: string | undefined;
  /** The return URL of the browser. Default: a page of this server. */
  cancel_url?: string | undefined;
  /** `effective_at` of an upgrade preview of this plan, at most ten minutes old: exactly its amount is charged. */
  prorated_at?: string | undefined;
}

/** `open`: pay on the hosted page. `completed`: a plan that is paid for already was changed at once, and the difference charged to the card on file. */
export interface PlanCheckoutResponse {
  /** UUIDv7. */
  checkout_id: string;
  /** Of the hosted page. */
  status: 'open' | 'completed' | 'expired';
  /** Send the browser there; null once the page is not open. */
  checkout_url: string | null;
  /** What is paid there, USD. */
  amount_usd: string;
  /** Until when it can be paid; null where nothing is open. */
  expires_at: string | null;
  /** False: of the payment sandbox. It never changes what live keys may do, nor what they pay. */
  livemode: boolean;
  plan_id: PlanId;
}

/** The state of a checkout. */
export interface PlanCheckoutState {
  /** UUIDv7. */
  checkout_id: string;
  /** Of the hosted page. */
  status: 'open' | 'completed' | 'expired';
  /** Send the browser there; null once the page is not open. */
  checkout_url: string | null;
  /** What is paid there, USD. */
  amount_usd: string;
  /** Until when it can be paid; null where nothing is open. */
  expires_at: string | null;
  /** False: of the payment sandbox. It never changes what live keys may do, nor what they pay. */
  livemode: boolean;
  /** What is paid for; `purchase`: something else, such as a place at an event. */
  kind: 'plan' | 'balance' | 'purchase';
  plan_id: PlanId | null;
}

/** A plan. */
export interface PlanConfigResponse {
  plan_id: PlanId;
  /** A plan’s version never changes; a subscription keeps its own. */
  version: number;
  name: string;
  /** Decimal string, USD. */
  monthly_price_usd: string;
  quota: PlanQuota;
  overage: PlanOverage;
  rate_limits: PlanRateLimits;
  /** What else is in it. */
  features: string[];
}

/** The plan to move to. */
export interface PlanDowngradePreviewRequest {
  plan_id: PlanId;
}

/** What a downgrade would change. */
export interface PlanDowngradePreviewResponse {
  from: PlanConfigResponse;
  to: PlanConfigResponse;
  /** New monthly price less the old one. */
  difference_usd: string;
  /** When it would take effect. */
  effective_at: string;
  /** Everything that differs. */
  changes: {
    entitlement: string;
    /** Null: without limit. */
    from: number | boolean | string | null;
    /** Null: without limit. */
    to: number | boolean | string | null;
  }[];
  /** False: of the payment sandbox. It never changes what live keys may do, nor what they pay. */
  livemode: boolean;
  /** Where this month’s usage is above what the new plan includes. */
  warnings: {
    /** What is counted. */
    meter: 'requests' | 'tokens' | 'images' | 'audio_seconds' | 'video_seconds';
    used: number;
    included: number;
  }[];
}

/** The cheaper plan. */
export interface PlanDowngradeScheduleRequest {
  plan_id: PlanId;
}

/** A downgrade. */
export interface PlanDowngradeScheduleResponse {
  /** UUIDv7. */
  downgrade_id: string;
  from_plan_id: PlanId;
  to_plan_id: PlanId;
  /** The end of the period that is paid for. */
  effective_at: string;
  /** `dropped`: a newer change of plan came first. */
  state: 'scheduled' | 'applied' | 'dropped' | 'canceled';
  /** False: of the payment sandbox. It never changes what live keys may do, nor what they pay. */
  livemode: boolean;
}

/** Null: without limit. */
export type PlanEntitlement = number | boolean | string | null;

/** Plans side by side. */
export interface PlanEntitlementMatrixResponse {
  plans: PlanConfigResponse[];
  rows: {
    entitlement: string;
    kind: 'price' | 'quota' | 'overage' | 'rate_limit' | 'feature';
    values: {
      plan_id: PlanId;
      /** Null: without limit. */
      value: number | boolean | string | null;
    }[];
  }[];
}

/** What the active plan entitles to. */
export interface PlanEntitlementsResponse {
  plan_id: PlanId;
  /** A plan’s version never changes; a subscription keeps its own. */
  version: number;
  quota: PlanQuota;
  overage: PlanOverage;
  rate_limits: PlanRateLimits;
  /** What else is in it. */
  features: string[];
  /** False: of the payment sandbox. It never changes what live keys may do, nor what they pay. */
  livemode: boolean;
}

/** A plan of `GET /v1/plans/config`, or `operator`. */
export type PlanId = string;

/** One line of an invoice. */
export interface PlanInvoiceLine {
  description: string;
  /** Requests, of usage; null elsewhere. */
  quantity: number | null;
  /** Decimal string, USD. */
  amount_usd: string;
}

/** Invoices, newest first. */
export interface PlanInvoiceListResponse {
  data: PlanInvoiceSummary[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** An invoice. */
export interface PlanInvoiceResponse {
  /** UUIDv7. */
  invoice_id: string;
  /** As it is printed. */
  number: string | null;
  /** `usage`: a month beyond the quota. `subscription`: of the payment provider. */
  kind: 'usage' | 'subscription';
  status: 'open' | 'paid' | 'void' | 'uncollectible';
  /** The month (UTC) it is for, `YYYY-MM`. */
  period: string;
  /** The sum of its lines; of usage, the receipts of the month less what the plan included of them. */
  total_usd: string;
  /** The part of the total that the balance had paid as it was used. */
  from_balance_usd: string;
  /** What is billed for it, in whole cents. */
  due_usd: string;
  /** Less than a cent that goes to the next invoice. */
  carried_usd: string;
  /** RFC 3339, UTC. */
  issued_at: string;
  /** The payment provider’s page of it. */
  hosted_url: string | null;
  /** False: of the payment sandbox. It never changes what live keys may do, nor what they pay. */
  livemode: boolean;
  lines: PlanInvoiceLine[];
}

/** An invoice without its lines. */
export interface PlanInvoiceSummary {
  /** UUIDv7. */
  invoice_id: string;
  /** As it is printed. */
  number: string | null;
  /** `usage`: a month beyond the quota. `subscription`: of the payment provider. */
  kind: 'usage' | 'subscription';
  status: 'open' | 'paid' | 'void' | 'uncollectible';
  /** The month (UTC) it is for, `YYYY-MM`. */
  period: string;
  /** The sum of its lines; of usage, the receipts of the month less what the plan included of them. */
  total_usd: string;
  /** The part of the total that the balance had paid as it was used. */
  from_balance_usd: string;
  /** What is billed for it, in whole cents. */
  due_usd: string;
  /** Less than a cent that goes to the next invoice. */
  carried_usd: string;
  /** RFC 3339, UTC. */
  issued_at: string;
  /** The payment provider’s page of it. */
  hosted_url: string | null;
  /** False: of the payment sandbox. It never changes what live keys may do, nor what they pay. */
  livemode: boolean;
}

/** False: of the payment sandbox. It never changes what live keys may do, nor what they pay. */
export type PlanLivemode = boolean;

/** What is counted. */
export type PlanMeter = 'requests' | 'tokens' | 'images' | 'audio_seconds' | 'video_seconds';

/** One meter of the quota. */
export interface PlanMeterUsage {
  /** What is counted. */
  meter: 'requests' | 'tokens' | 'images' | 'audio_seconds' | 'video_seconds';
  included: number | null;
  /** Of what is included. */
  used: number;
  remaining: number | null;
  /** Used beyond what is included, and charged or part of a charged request. */
  beyond: number;
  /** Used ÷ included, rounded down to four places; 1 where nothing is included, 0 without limit. */
  utilization: number;
}

/** What happens beyond the quota. */
export interface PlanOverage {
  /** Beyond the quota: nothing goes (`block`), the prepaid balance pays, or an invoice at the month’s end. `none`: the quota is without limit. */
  policy: 'none' | 'block' | 'balance' | 'invoice';
  /** Of an invoice, a month. */
  ceiling_usd: string | null;
}

/** Charges beyond the quota. */
export interface PlanOverageEstimateResponse {
  /** UTC calendar month, `YYYY-MM`. */
  period: string;
  /** RFC 3339, UTC. */
  period_start: string;
  /** First instant of the next month. */
  resets_at: string;
  /** RFC 3339, UTC. */
  as_of: string;
  /** Beyond the quota: nothing goes (`block`), the prepaid balance pays, or an invoice at the month’s end. `none`: the quota is without limit. */
  policy: 'none' | 'block' | 'balance' | 'invoice';
  /** Charged so far this month. */
  charged_usd: string;
  /** Projection for the whole month, at the present rate of usage. */
  projected_usd: string;
  meters: PlanMeterUsage[];
  /** They sum to `charged_usd`. */
  lines: {
    model: string;
    /** Those that were charged. */
    requests: number;
    /** Decimal string, USD. */
    charged_usd: string;
  }[];
  /** False: of the payment sandbox. It never changes what live keys may do, nor what they pay. */
  livemode: boolean;
}

/** One payment. */
export interface PlanPayment {
  /** UUIDv7. */
  payment_id: string;
  /** What it was for. */
  kind: 'balance' | 'auto_topup' | 'subscription' | 'purchase';
  status: 'pending' | 'succeeded' | 'failed' | 'canceled';
  /** Decimal string, USD. */
  amount_usd: string;
  /** Returned to where it came from. */
  refunded_usd: string;
  /** Taken back by the customer’s bank, temporarily or permanently. */
  disputed_usd: string;
  /** RFC 3339, UTC. */
  created_at: string;
  /** False: of the payment sandbox. It never changes what live keys may do, nor what they pay. */
  livemode: boolean;
}

/** Payments, newest first. */
export interface PlanPaymentListResponse {
  data: PlanPayment[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** What to return, and why. */
export interface PlanPaymentRefundRequest {
  /** Whole cents; all that is left, when left out. */
  amount_usd?: string | undefined;
  /** For the audit log. */
  reason: string;
}

/** Where to come back to. */
export interface PlanPortalRequest {
  /** The return URL of the browser. Default: a page of this server. */
  return_url?: string | undefined;
}

/** The payment provider’s page of the customer. */
export interface PlanPortalResponse {
  /** Good for minutes. */
  url: string;
}

/** Included in a UTC calendar month; null: without limit. */
export interface PlanQuota {
  requests: number | null;
  tokens: number | null;
  images: number | null;
  audio_seconds: number | null;
  video_seconds: number | null;
}

/** Of all live keys and sessions together; null: without limit. */
export interface PlanRateLimits {
  requests_per_minute: number | null;
  tokens_per_minute: number | null;
  concurrency: number | null;
}

/** How far to go. */
export interface PlanScheduledDowngradeApplyRequest {
  /** How many at most. */
  limit?: number | undefined;
}

/** What was done. */
export interface PlanScheduledDowngradeApplyResponse {
  /** Now in effect. */
  applied: number;
  /** Overtaken by a newer change of plan. */
  dropped: number;
  /** Due, and not yet confirmed by the payment provider. */
  waiting: number;
  items: {
    /** UUIDv7. */
    downgrade_id: string;
    /** UUIDv7. */
    account_id: string;
    outcome: 'applied' | 'dropped' | 'waiting';
  }[];
}

/** At which charges to mail. */
export interface PlanSpendAlertsRequest {
  /** Charges of a month (UTC) at which to mail; at most ten. */
  thresholds_usd: string[];
}

/** The thresholds, and those that were reached. */
export interface PlanSpendAlertsResponse {
  thresholds_usd: string[];
  /** What was reached, newest first; each threshold once a month. */
  alerts: {
    period: string;
    /** Decimal string, USD. */
    threshold_usd: string;
    /** Decimal string, USD. */
    charged_usd: string;
    /** RFC 3339, UTC. */
    created_at: string;
  }[];
}

/** The plan to move to. */
export interface PlanUpgradePreviewRequest {
  plan_id: PlanId;
}

/** What an upgrade would change. */
export interface PlanUpgradePreviewResponse {
  from: PlanConfigResponse;
  to: PlanConfigResponse;
  /** New monthly price less the old one. */
  difference_usd: string;
  /** When it would take effect. */
  effective_at: string;
  /** Everything that differs. */
  changes: {
    entitlement: string;
    /** Null: without limit. */
    from: number | boolean | string | null;
    /** Null: without limit. */
    to: number | boolean | string | null;
  }[];
  /** False: of the payment sandbox. It never changes what live keys may do, nor what they pay. */
  livemode: boolean;
  /** Charged at once; prorated where a plan is paid for already. */
  due_now_usd: string;
  next_charge_at: string | null;
  /** Whether a hosted page has to be visited. */
  requires_checkout: boolean;
}

/** This month’s usage against the quota. */
export interface PlanUsageQuotaResponse {
  plan_id: PlanId;
  /** UTC calendar month, `YYYY-MM`. */
  period: string;
  /** RFC 3339, UTC. */
  period_start: string;
  /** First instant of the next month. */
  resets_at: string;
  meters: PlanMeterUsage[];
  /** At catalogue prices. */
  cost_usd: string;
  /** The part of it that the plan covered. */
  covered_usd: string;
  /** The part of it beyond the quota. */
  charged_usd: string;
  /** False: of the payment sandbox. It never changes what live keys may do, nor what they pay. */
  livemode: boolean;
}

/** What a model costs in one version. It is in the log before it is charged. */
export interface PriceDeclaration {
  version: 'tallygate-declaration/v1';
  /** Its number among the declarations of its kind, from 1. */
  number: number;
  /** Digest of the declaration of its kind before it; null of the first. */
  previous: string | null;
  /** When it was declared (UTC). */
  declared_at: string;
  kind: 'price';
  model: string;
  price_version: string;
  /** From which on it is charged (UTC). */
  effective_from: string;
  /** Price per single unit in 10⁻¹² USD, by meter. */
  unit_prices_pico_usd: { [name: string]: string };
  /** Empty where long inputs cost no more. */
  tiers: {
    above_input_tokens: number;
    /** Price per single unit in 10⁻¹² USD, by meter. */
    unit_prices_pico_usd: { [name: string]: string };
  }[];
  /** Factor on all prices in batches. */
  batch_factor: string;
}

/** Which entry of the log declares a price. */
export interface PriceEntry {
  /** Position of the entry, from 0. */
  index: number;
  /** SHA-256 of "tallygate-declaration/v1\n" and the canonical declaration: the entry itself. */
  digest: string;
}

/** A price of a model. It has to name every meter that the model’s kind is charged by; 0 is allowed. */
export interface PriceInput {
  /** USD per 1,000,000 units, exact decimals, by meter. "0" is a price. */
  usd_per_million: { [name in 'input_tokens' | 'cached_input_tokens' | 'cache_write_tokens' | 'cache_write_1h_tokens' | 'output_tokens' | 'audio_input_tokens' | 'cached_audio_input_tokens' | 'image_input_tokens' | 'cached_image_input_tokens' | 'image_output_tokens' | 'input_characters' | 'audio_seconds' | 'video_seconds' | 'audio_output_tokens' | 'web_searches' | 'web_search_previews' | 'file_searches' | 'container_gigabytes' | 'image_tool_text_input_tokens' | 'image_tool_image_input_tokens' | 'image_tool_text_output_tokens' | 'image_tool_image_output_tokens' | 'search_units']?: string };
  /** Prices of long inputs. */
  tiers?: {
    /** The whole request is priced at this tier when its input is above this many tokens. */
    above_input_tokens: number;
    /** USD per 1,000,000 units, exact decimals, by meter. "0" is a price. */
    usd_per_million: { [name in 'input_tokens' | 'cached_input_tokens' | 'cache_write_tokens' | 'cache_write_1h_tokens' | 'output_tokens' | 'audio_input_tokens' | 'cached_audio_input_tokens' | 'image_input_tokens' | 'cached_image_input_tokens' | 'image_output_tokens' | 'input_characters' | 'audio_seconds' | 'video_seconds' | 'audio_output_tokens' | 'web_searches' | 'web_search_previews' | 'file_searches' | 'container_gigabytes' | 'image_tool_text_input_tokens' | 'image_tool_image_input_tokens' | 'image_tool_text_output_tokens' | 'image_tool_image_output_tokens' | 'search_units']?: string };
  }[] | undefined;
  /** Prices of requests that the provider serves at another `service_tier`, in place of all others: with every meter that is priced without. Each is a version of its own, such as `2026-07-24/flex`. */
  service_tiers?: { [name in 'flex' | 'priority']?: {
    /** USD per 1,000,000 units, exact decimals, by meter. "0" is a price. */
    usd_per_million: { [name in 'input_tokens' | 'cached_input_tokens' | 'cache_write_tokens' | 'cache_write_1h_tokens' | 'output_tokens' | 'audio_input_tokens' | 'cached_audio_input_tokens' | 'image_input_tokens' | 'cached_image_input_tokens' | 'image_output_tokens' | 'input_characters' | 'audio_seconds' | 'video_seconds' | 'audio_output_tokens' | 'web_searches' | 'web_search_previews' | 'file_searches' | 'container_gigabytes' | 'image_tool_text_input_tokens' | 'image_tool_image_input_tokens' | 'image_tool_text_output_tokens' | 'image_tool_image_output_tokens' | 'search_units']?: string };
    /** Prices of long inputs. */
    tiers?: {
      /** The whole request is priced at this tier when its input is above this many tokens. */
      above_input_tokens: number;
      /** USD per 1,000,000 units, exact decimals, by meter. "0" is a price. */
      usd_per_million: { [name in 'input_tokens' | 'cached_input_tokens' | 'cache_write_tokens' | 'cache_write_1h_tokens' | 'output_tokens' | 'audio_input_tokens' | 'cached_audio_input_tokens' | 'image_input_tokens' | 'cached_image_input_tokens' | 'image_output_tokens' | 'input_characters' | 'audio_seconds' | 'video_seconds' | 'audio_output_tokens' | 'web_searches' | 'web_search_previews' | 'file_searches' | 'container_gigabytes' | 'image_tool_text_input_tokens' | 'image_tool_image_input_tokens' | 'image_tool_text_output_tokens' | 'image_tool_image_output_tokens' | 'search_units']?: string };
    }[] | undefined;
  } } | undefined;
  /** Factor on all prices in batches. */
  batch_factor?: string | undefined;
  /** When it is to be charged from, not before now. Now when left out. */
  effective_from?: string | undefined;
  /** Where the figures are from: a page, an offer. */
  source?: string | undefined;
}

/** Every price of every model, one entry for each version: those that were, are and will be charged. A version that was published never changes. */
export interface PriceList {
  object: 'list';
  data: {
    /** The model. */
    id: string;
    pricing: ModelPricing;
  }[];
}

export type PriceMeter = 'input_tokens' | 'cached_input_tokens' | 'cache_write_tokens' | 'cache_write_1h_tokens' | 'output_tokens' | 'audio_input_tokens' | 'cached_audio_input_tokens' | 'image_input_tokens' | 'cached_image_input_tokens' | 'image_output_tokens' | 'input_characters' | 'audio_seconds' | 'video_seconds' | 'audio_output_tokens' | 'web_searches' | 'web_search_previews' | 'file_searches' | 'container_gigabytes' | 'image_tool_text_input_tokens' | 'image_tool_image_input_tokens' | 'image_tool_text_output_tokens' | 'image_tool_image_output_tokens' | 'search_units';

export interface PriceTerms {
  /** USD per 1,000,000 units, exact decimals, by meter. "0" is a price. */
  usd_per_million: { [name in 'input_tokens' | 'cached_input_tokens' | 'cache_write_tokens' | 'cache_write_1h_tokens' | 'output_tokens' | 'audio_input_tokens' | 'cached_audio_input_tokens' | 'image_input_tokens' | 'cached_image_input_tokens' | 'image_output_tokens' | 'input_characters' | 'audio_seconds' | 'video_seconds' | 'audio_output_tokens' | 'web_searches' | 'web_search_previews' | 'file_searches' | 'container_gigabytes' | 'image_tool_text_input_tokens' | 'image_tool_image_input_tokens' | 'image_tool_text_output_tokens' | 'image_tool_image_output_tokens' | 'search_units']?: string };
  /** Prices of long inputs. */
  tiers?: {
    /** The whole request is priced at this tier when its input is above this many tokens. */
    above_input_tokens: number;
    /** USD per 1,000,000 units, exact decimals, by meter. "0" is a price. */
    usd_per_million: { [name in 'input_tokens' | 'cached_input_tokens' | 'cache_write_tokens' | 'cache_write_1h_tokens' | 'output_tokens' | 'audio_input_tokens' | 'cached_audio_input_tokens' | 'image_input_tokens' | 'cached_image_input_tokens' | 'image_output_tokens' | 'input_characters' | 'audio_seconds' | 'video_seconds' | 'audio_output_tokens' | 'web_searches' | 'web_search_previews' | 'file_searches' | 'container_gigabytes' | 'image_tool_text_input_tokens' | 'image_tool_image_input_tokens' | 'image_tool_text_output_tokens' | 'image_tool_image_output_tokens' | 'search_units']?: string };
  }[] | undefined;
  /** Prices of requests that the provider serves at another `service_tier`, in place of all others: with every meter that is priced without. Each is a version of its own, such as `2026-07-24/flex`. */
  service_tiers?: { [name in 'flex' | 'priority']?: {
    /** USD per 1,000,000 units, exact decimals, by meter. "0" is a price. */
    usd_per_million: { [name in 'input_tokens' | 'cached_input_tokens' | 'cache_write_tokens' | 'cache_write_1h_tokens' | 'output_tokens' | 'audio_input_tokens' | 'cached_audio_input_tokens' | 'image_input_tokens' | 'cached_image_input_tokens' | 'image_output_tokens' | 'input_characters' | 'audio_seconds' | 'video_seconds' | 'audio_output_tokens' | 'web_searches' | 'web_search_previews' | 'file_searches' | 'container_gigabytes' | 'image_tool_text_input_tokens' | 'image_tool_image_input_tokens' | 'image_tool_text_output_tokens' | 'image_tool_image_output_tokens' | 'search_units']?: string };
    /** Prices of long inputs. */
    tiers?: {
      /** The whole request is priced at this tier when its input is above this many tokens. */
      above_input_tokens: number;
      /** USD per 1,000,000 units, exact decimals, by meter. "0" is a price. */
      usd_per_million: { [name in 'input_tokens' | 'cached_input_tokens' | 'cache_write_tokens' | 'cache_write_1h_tokens' | 'output_tokens' | 'audio_input_tokens' | 'cached_audio_input_tokens' | 'image_input_tokens' | 'cached_image_input_tokens' | 'image_output_tokens' | 'input_characters' | 'audio_seconds' | 'video_seconds' | 'audio_output_tokens' | 'web_searches' | 'web_search_previews' | 'file_searches' | 'container_gigabytes' | 'image_tool_text_input_tokens' | 'image_tool_image_input_tokens' | 'image_tool_text_output_tokens' | 'image_tool_image_output_tokens' | 'search_units']?: string };
    }[] | undefined;
  } } | undefined;
  /** Factor on all prices in batches. */
  batch_factor?: string | undefined;
}

/** Long-context prices. */
export interface PriceTier {
  /** The whole request is priced at this tier when its input is above this many tokens. */
  above_input_tokens: number;
  prices: { [name in 'input_tokens' | 'cached_input_tokens' | 'cache_write_tokens' | 'cache_write_1h_tokens' | 'output_tokens' | 'audio_input_tokens' | 'cached_audio_input_tokens' | 'image_input_tokens' | 'cached_image_input_tokens' | 'image_output_tokens' | 'input_characters' | 'audio_seconds' | 'video_seconds' | 'audio_output_tokens' | 'web_searches' | 'web_search_previews' | 'file_searches' | 'container_gigabytes' | 'image_tool_text_input_tokens' | 'image_tool_image_input_tokens' | 'image_tool_text_output_tokens' | 'image_tool_image_output_tokens' | 'search_units']?: string };
}

/** Problem details (RFC 9457) with OpenAI’s `error` member. */
export interface Problem {
  /** The documentation page of this code. */
  type: string;
  /** Short and constant for the code. */
  title: string;
  /** The HTTP status. */
  status: number;
  /** One sentence that says what to do. */
  detail: string;
  /** The request id. */
  instance: string;
  /** Stable, for programs. */
  code: 'malformed_json' | 'malformed_multipart' | 'upstream_rejected' | 'answer_too_large' | 'invalid_webhook' | 'invalid_token' | 'invalid_invite' | 'missing_credentials' | 'invalid_credentials' | 'ambiguous_credentials' | 'invalid_signature' | 'signature_required' | 'budget_exceeded' | 'run_exhausted' | 'run_closed' | 'payment_declined' | 'forbidden' | 'confirmation_failed' | 'scope_required' | 'live_key_required' | 'storing_off' | 'plan_required' | 'dedicated_capacity_required' | 'session_required' | 'model_not_allowed' | 'endpoint_not_allowed' | 'not_found' | 'unknown_path' | 'model_not_found' | 'method_not_allowed' | 'headers_too_large' | 'expectation_failed' | 'malformed_request' | 'request_timeout' | 'conflict' | 'slug_taken' | 'invalid_transition' | 'registration_closed' | 'idempotency_conflict' | 'idempotency_in_progress' | 'payload_too_large' | 'body_too_complex' | 'storage_limit_reached' | 'range_not_satisfiable' | 'unsupported_media_type' | 'validation_failed' | 'unpriced_feature' | 'context_length_exceeded' | 'rate_limited' | 'budget_in_flight' | 'disconnected_in_flight' | 'upstream_rate_limited' | 'invalid_mfa_code' | 'challenge_expired' | 'invalid_passkey' | 'recent_login_required' | 'authorization_pending' | 'slow_down' | 'access_denied' | 'expired_token' | 'management_key_not_allowed' | 'address_not_allowed' | 'directory_login_required' | 'upgrade_required' | 'realtime_sessions_full' | 'session_expired' | 'internal_error' | 'upstream_failed' | 'no_provider_configured' | 'shared_capacity_full' | 'store_unavailable' | 'payments_unavailable' | 'storage_unavailable' | 'provider_loop' | 'upstream_timeout';
  error: OpenAiError;
  /** Every fault found in the input, where an operation of OpenAI’s answers 400 to it. */
  errors?: FieldError[] | undefined;
  /** Present on refusals over money. */
  budget?: BudgetDetail | undefined;
}

/** A part of an account’s work, with API keys and limits. */
export interface Project {
  /** UUIDv7. */
  project_id: string;
  name: string;
  /** Your own id of it. */
  external_id: string | null;
  /** RFC 3339, UTC. */
  created_at: string;
  /** When it was archived; null while it is in use. */
  archived_at: string | null;
}

/** Projects, the newest first. */
export interface ProjectList {
  data: Project[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** A person of a project. */
export interface ProjectMember {
  /** UUIDv7. */
  user_id: string;
  email: string;
  name: string | null;
  project_role: ProjectRole;
  /** Whether a group of the company’s directory made them a member: leaving it removes them. */
  by_directory: boolean;
  /** RFC 3339, UTC. */
  added_at: string;
}

/** Members of a project. */
export interface ProjectMemberList {
  data: ProjectMember[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** `member`: sees the project and makes API keys in it. `admin`: also says who its members are. */
export type ProjectRole = 'admin' | 'member';

/** OAuth 2.0 protected-resource metadata (RFC 9728). It names no authorization server: the bearer token is an API key, made by its owner. */
export interface ProtectedResourceMetadata {
  /** What is protected. */
  resource: string;
  resource_name: string;
  /** How to get in. */
  resource_documentation: string;
  bearer_methods_supported: 'header'[];
  scopes_supported: Scope[];
}

/** Which of the gateway’s providers may serve the request, and in which order. */
export interface ProviderPreference {
  /** Providers to try first, in this order. */
  order?: string[] | null | undefined;
  /** No other providers are asked. */
  only?: string[] | null | undefined;
  /** Providers that are not asked. */
  ignore?: string[] | null | undefined;
  /** `false`: none but those of `order`; without an order the first one alone. */
  allow_fallbacks?: boolean | null | undefined;
  /** What is tried first, in place of a share by weight: the cheapest of `model` and `models`, the deployment whose answers begin the soonest, or the one that writes the fastest, as this gateway has measured them. */
  sort?: 'price' | 'latency' | 'throughput' | null | undefined;
  /** The most that a token in and a token out may cost, USD per million. What is dearer is not asked. */
  max_price?: {
    prompt?: number | string | null | undefined;
    completion?: number | string | null | undefined;
  } | null | undefined;
}

export type PublicReason = string;

/** Published content without its text. */
export interface PublishedContentItem {
  type: ContentType;
  /** Its unique name in URLs. */
  slug: string;
  title: string;
  summary: string | null;
  /** For grouping. */
  tags: string[];
  /** When it was published first. */
  published_at: string;
  /** RFC 3339, UTC. */
  updated_at: string;
}

/** Published content, the newest first. */
export interface PublishedContentListResponse {
  data: PublishedContentItem[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** Published content with its text. */
export interface PublishedContentResponse {
  type: ContentType;
  /** Its unique name in URLs. */
  slug: string;
  title: string;
  summary: string | null;
  /** For grouping. */
  tags: string[];
  /** When it was published first. */
  published_at: string;
  /** RFC 3339, UTC. */
  updated_at: string;
  /** CommonMark. It is stored and returned as written: sanitize it before you show it as HTML. */
  body: string;
}

/** What they are in the project. */
export interface PutProjectMemberRequest {
  project_role?: ProjectRole | undefined;
}

/** The documents by their relevance, the most relevant first. */
export interface Ranking {
  id?: string | undefined;
  results: {
    /** Which of the documents. */
    index: number;
    /** The higher, the more relevant. */
    relevance_score: number;
    /** Where `return_documents` asked for it: an object as it was sent, a string as its `text`. */
    document?: {
      text?: string | undefined;
      [field: string]: unknown;
    } | undefined;
    [field: string]: unknown;
  }[];
  /** What was counted: `search_units`, or tokens. */
  usage: {
    /** What the request cost, USD. For people: the exact amount is in the receipt. */
    cost?: number | undefined;
    [field: string]: unknown;
  };
  [field: string]: unknown;
}

/** A secret that opens realtime sessions for a while, and nothing else. */
export interface RealtimeClientSecret {
  /** The secret, in place of an API key. */
  value: string;
  /** Unix seconds. */
  expires_at: number;
  /** What its sessions are set to. */
  session: {
    type: 'realtime';
    object: 'realtime.session';
    id: string;
    model?: string | undefined;
    [field: string]: unknown;
  };
}

/** A secret for a browser or an app, with what its sessions are set to. */
export interface RealtimeClientSecretRequest {
  /** When it ends. Sessions that it has opened go on. */
  expires_after?: {
    anchor?: 'created_at' | undefined;
    /** How long it opens sessions, seconds; 600 when left out. */
    seconds?: number | undefined;
  } | undefined;
  session?: RealtimeSession | undefined;
}

/** What a realtime session is set to, as OpenAI’s `session.update` has it. OpenAI’s other fields pass. */
export interface RealtimeSession {
  /** Transcription sessions are not available. */
  type: 'realtime';
  /** The only model that the secret opens. Left out: any that the key may use. */
  model?: string | undefined;
  [field: string]: unknown;
}

/** Where on a public chain the receipt can be found: the state of the log that holds it, and its place in there. */
export type ReceiptAnchor = {
  /** No state of the log with this receipt in it has been sent to a chain yet. */
  state: 'pending';
} | {
  state: 'submitted' | 'included' | 'finalized';
  /** For `GET /v1/anchors/{anchor_id}`. */
  id: string;
  /** Number of the chain (EIP-155). */
  chain_id: number;
  /** Address of the contract on that chain. */
  contract: string;
  /** How many entries the log had. */
  tree_size: number;
  /** Root over these entries (RFC 9162, SHA-256), as the contract holds it. */
  root: string;
  /** Null while it is in no block. */
  transaction_hash: string | null;
  block_number: number | null;
  block_time: string | null;
  /** Place of the receipt in the log, from 0. */
  index: number;
  /** Inclusion path of the receipt in the log of `tree_size` entries (RFC 9162, section 2.1.3), as the contract’s `isIncluded` takes it. */
  path: string[];
};

/** Receipts of the account, the newest request first. */
export interface ReceiptList {
  data: ReceiptListItem[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** A receipt in short: `GET /v1/receipts/{id}` has it whole. */
export interface ReceiptListItem {
  object: 'receipt.item';
  /** UUIDv7. */
  id: string;
  /** What was settled: an answered request, a line of a batch, a media job. `refund`: money given back. `correction`: takes the place of an earlier receipt. */
  kind: 'usage' | 'batch_line' | 'media_job' | 'refund' | 'correction';
  request_id: string;
  endpoint: string;
  /** The model that answered. */
  model: string;
  /** The agent run as the caller named it (`X-Agent-Run-Id`), or null. */
  run_id: string | null;
  livemode: boolean;
  /** `cancelled`: the client hung up, or the agent run ended. `abandoned`: the gateway stopped, or gave up waiting, while the provider was at work. `cut`: the provider broke off after the first byte, or failed and said what it had used. `failed`: no answer, nothing charged. `cached`: an answer that was kept; no model was run, and nothing is charged. `refunded`: of a refund, and of nothing else. */
  outcome: 'completed' | 'cancelled' | 'abandoned' | 'cut' | 'failed' | 'cached' | 'refunded';
  /** What it cost at catalogue prices; of a refund, what is given back. */
  cost_usd: string;
  /** The receipt whose cost is given back, or that is corrected; null otherwise. */
  refund_of: string | null;
  /** RFC 3339, UTC. */
  started_at: string;
  /** RFC 3339, UTC. */
  completed_at: string;
  /** Its place in the log; null for the seconds until it has one. */
  log_index: number | null;
}

/** Where the receipt is in the log, with the proof of it. */
export type ReceiptLog = {
  state: 'pending';
} | {
  state: 'logged';
  /** Position of the entry, from 0. */
  index: number;
  /** Entries of the log in the state that the proof is against. */
  tree_size: number;
  /** Hashes from the leaf upwards (RFC 9162, section 2.1.3). */
  inclusion_path: string[];
  /** That state as the log signed it, and witnesses with it: a signed note (c2sp.org/tlog-checkpoint). */
  checkpoint: string;
};

/** What is signed, as canonical JSON (RFC 8785). */
export interface ReceiptPayload {
  version: 'tallygate-receipt/v1';
  /** What was settled: an answered request, a line of a batch, a media job. `refund`: money given back. `correction`: takes the place of an earlier receipt. */
  kind: 'usage' | 'batch_line' | 'media_job' | 'refund' | 'correction';
  /** UUIDv7. */
  receipt_id: string;
  /** 16 random bytes, hex: makes the leaf hash unguessable and salts the hashes below. */
  nonce: string;
  request_id: string;
  /** SHA-256 of "tallygate-account/v1\n", the nonce and the account id. */
  account_hash: string;
  /** SHA-256 of "tallygate-key/v1\n", the nonce and the key id; null for a session. */
  key_hash: string | null;
  /** SHA-256 of "tallygate-project/v1\n", the nonce and the project id; absent without a project. */
  project_hash?: string | undefined;
  /** SHA-256 of "tallygate-end-user/v1\n", the nonce and the end user as the request named them; absent without one. */
  end_user_hash?: string | undefined;
  /** SHA-256 of "tallygate-tag/v1\n", the nonce and the tag, of each tag, sorted; absent without tags. */
  tag_hashes?: string[] | undefined;
  livemode: boolean;
  /** The number of the receipt among those of its account, mode and month (UTC, of the request): 1, 2, 3, …, without a gap. */
  account_sequence: number;
  endpoint: string;
  /** The agent run as the caller named it (`X-Agent-Run-Id`), or null. */
  run_id: string | null;
  model_requested: string;
  model_served: string;
  provider: string;
  fallback: 'none' | 'deployment' | 'model';
  /** `cancelled`: the client hung up, or the agent run ended. `abandoned`: the gateway stopped, or gave up waiting, while the provider was at work. `cut`: the provider broke off after the first byte, or failed and said what it had used. `failed`: no answer, nothing charged. `cached`: an answer that was kept; no model was run, and nothing is charged. `refunded`: of a refund, and of nothing else. */
  outcome: 'completed' | 'cancelled' | 'abandoned' | 'cut' | 'failed' | 'cached' | 'refunded';
  /** Of the request body as received. */
  request_sha256: string;
  /** Of the response body as sent; of a stream, up to its last settled event. */
  response_sha256: string;
  usage: ReceiptUsage;
  /** The provider reported no usage: the counts are ours, or the most that the request could use, which is what was held for it. */
  estimated: boolean;
  price_version: string;
  /** The entry of the log that declares the price, made before it was charged; null where nothing has a price. */
  price_entry: PriceEntry | null;
  /** The long-context tier that was applied, or null. */
  price_tier_above_input_tokens: number | null;
  /** Price per single unit in 10⁻¹² USD, by meter, as published. */
  unit_prices_pico_usd: { [name: string]: string };
  /** On all unit prices: "1", or the published batch factor. */
  price_factor: string;
  /** What was not charged: what the provider billed beyond what was held, and what no longer fitted a cap when the request was settled late. Together with the cost it is usage × unit prices. Absent where nothing was waived. */
  waived_nano_usd?: string | undefined;
  /** Sum of units × price, times the factor, rounded up once, in 10⁻⁹ USD. Of a refund: what is given back, at most that. */
  cost_nano_usd: string;
  payment: ReceiptPayment;
  /** The receipt whose cost is given back, or that is corrected; null otherwise. */
  refund_of: string | null;
  /** Why; null where `refund_of` is. */
  refund_reason: string | null;
  /** RFC 3339, UTC. */
  started_at: string;
  /** RFC 3339, UTC. */
  completed_at: string;
  /** The caller’s own signature (RFC 9421); null where the request carried none. */
  client_signature: ClientSignature | null;
}

/** Who paid: the plan’s quota, and what pays beyond it. */
export interface ReceiptPayment {
  /** The version of the plan whose quota it drew on; null in test mode. */
  plan: string | null;
  /** What pays beyond the quota. `none`: nothing may go beyond it. `test`: nobody pays. */
  funding: 'balance' | 'invoice' | 'none' | 'test';
  /** Units that the quota covered, by meter; those of which it covered none are absent. */
  covered: {
    requests?: number | undefined;
    tokens?: number | undefined;
    images?: number | undefined;
    audio_seconds?: number | undefined;
    video_seconds?: number | undefined;
  };
  /** What the balance or the invoice pays: the cost, less the share that the quota covered of the scarcest meter, rounded up. Of a refund: what they are given back. */
  charged_nano_usd: string;
}

/** A signed receipt: with the public key, everything needed to verify it offline. */
export interface ReceiptResponse {
  object: 'receipt';
  /** UUIDv7. */
  id: string;
  payload: ReceiptPayload;
  /** SHA-256 of "tallygate-receipt/v1\n" and the canonical payload: the entry in the log. */
  digest: string;
  /** Signature of the service: a compact JWS (RFC 7515, EdDSA) over the canonical payload, which is left out (appendix F). Its `kid` is in `/.well-known/vaas-keys.json`. It is made when the receipt is read. */
  jws: string;
  log: ReceiptLog;
  /** The entry of the log that declares the price, with its proof against the same state; null while the receipt is not in the log, where it has no price, and in an export where an earlier receipt has it. */
  price: LoggedPrice | null;
  /** The anchor on a public chain, the one that is furthest along; null where this service anchors nowhere. */
  anchor: ReceiptAnchor | null;
}

/** All that shows offline, beside the receipt, that it existed at a time. */
export interface ReceiptTimestamp {
  object: 'receipt.timestamp';
  /** UUIDv7. */
  id: string;
  /** Address of the time-stamping authority. */
  authority: string;
  /** How many entries the log had. */
  tree_size: number;
  /** What was stamped: the text of the checkpoint without its signatures (c2sp.org/tlog-checkpoint), whose SHA-256 is in the token. */
  checkpoint: string;
  /** When, by the authority’s clock. */
  time: string;
  /** The time-stamp token (RFC 3161, section 2.4.2), DER in base64. */
  token: string;
  /** Place of the receipt in the log, from 0. */
  index: number;
  /** Inclusion path of the receipt in that state (RFC 9162, section 2.1.3), base64. */
  path: string[];
}

/** What was consumed. Cached, cache-write, audio and image tokens are parts of the input, reasoning, image and audio tokens of the output. What tools of the provider used is beside both. Counts that only some requests have are absent when they are zero. */
export interface ReceiptUsage {
  input_tokens: number;
  cached_input_tokens: number;
  cache_write_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  /** Part of the input: written to the provider’s cache for an hour. */
  cache_write_1h_tokens?: number | undefined;
  /** Part of the input, cached ones included. */
  audio_input_tokens?: number | undefined;
  /** Part of the audio tokens in. */
  cached_audio_input_tokens?: number | undefined;
  /** Part of the input, cached ones included. */
  image_input_tokens?: number | undefined;
  /** Part of the image tokens in. */
  cached_image_input_tokens?: number | undefined;
  /** Part of the output. */
  image_output_tokens?: number | undefined;
  /** Characters of text to be spoken. */
  input_characters?: number | undefined;
  /** Whole seconds of audio in, rounded up. */
  audio_seconds?: number | undefined;
  /** Whole seconds of video made, rounded up. */
  video_seconds?: number | undefined;
  /** Images made: counted, and priced by their tokens. */
  images?: number | undefined;
  /** Part of the output. */
  audio_output_tokens?: number | undefined;
  /** Searches of the web by the provider. */
  web_searches?: number | undefined;
  /** Searches of the web by the provider’s older tool. */
  web_search_previews?: number | undefined;
  /** Searches of stored files by the provider. */
  file_searches?: number | undefined;
  /** Memory of the containers that the provider ran, gigabytes: of each, for every session of twenty minutes. */
  container_gigabytes?: number | undefined;
  /** Text tokens that the provider’s image tool took. */
  image_tool_text_input_tokens?: number | undefined;
  /** Image tokens that the provider’s image tool took. */
  image_tool_image_input_tokens?: number | undefined;
  /** Text tokens that the provider’s image tool gave. */
  image_tool_text_output_tokens?: number | undefined;
  /** Image tokens that the provider’s image tool gave. */
  image_tool_image_output_tokens?: number | undefined;
  /** Searches of a rerank model: a query with up to a hundred documents each. */
  search_units?: number | undefined;
}

/** Which request’s cost is given back, and why. */
export interface RefundRequest {
  /** The `X-Request-Id` of the answer. */
  request_id: string;
  /** Stands in the refund’s receipt, which is public to anyone who knows its id. */
  reason: string;
}

/** A refund as it was decided. */
export interface RefundResponse {
  /** UUIDv7. */
  refund_id: string;
  /** The refund’s own receipt. It can be read a moment later. */
  receipt_id: string;
  /** The receipt of what was refunded. */
  refund_of: string;
  /** UUIDv7. */
  account_id: string;
  request_id: string;
  reason: string;
  /** All that the request cost at catalogue prices: every cap counts it no longer. */
  cost_usd: string;
  /** The part that the account had paid, back where it came from. */
  charged_usd: string;
  /** RFC 3339, UTC. */
  refunded_at: string;
}

/** The address of the registration, in upper or lower case. */
export type RegistrantEmail = string;

/** `waived`: an administrator confirmed the place without a payment. */
export type RegistrationPayment = 'not_required' | 'due' | 'paid' | 'refunded' | 'waived';

/** `confirmed`: the place is yours. `awaiting_payment`: a place is held until `pay_by`. `waitlisted`: all places were taken; the next one that falls free goes to the person who has waited longest. `canceled`: registering again starts anew. */
export type RegistrationStatus = 'confirmed' | 'awaiting_payment' | 'waitlisted' | 'canceled';

/** One call to a provider. */
export interface RequestAttempt {
  deployment: string;
  provider: string;
  model: string;
  outcome: 'answered' | 'rejected' | 'rate_limited' | 'failed' | 'timeout';
  /** The provider’s HTTP status, null when none came. */
  status: number | null;
  /** Milliseconds after the request arrived. */
  started_ms: number;
  /** Until the answer’s first byte, or until the failure, milliseconds. */
  duration_ms: number;
  /** The provider reported less usage than before in the same stream. The largest of its counts was charged. */
  usage_decreased?: true | undefined;
}

/** What a request really used and cost. It counts in the place of what was settled. */
export interface RequestCorrection {
  /** The correction’s own receipt. */
  receipt_id: string;
  reason: string;
  usage: ReceiptUsage;
  /** Decimal string, USD. */
  cost_usd: string;
  /** Decimal string, USD. */
  charged_usd: string;
  /** RFC 3339, UTC. */
  corrected_at: string;
}

/** The `X-Request-Id` of the answer. */
export type RequestName = string;

/** That a request’s cost was given back. It then counts nowhere as usage. */
export interface RequestRefund {
  /** The refund’s own receipt. */
  receipt_id: string;
  reason: string;
  /** What was given back, at catalogue prices: all of it, what the quota had covered too. */
  cost_usd: string;
  /** RFC 3339, UTC. */
  refunded_at: string;
}

/** What happened to one request: attempts, times, money. No prompt, no answer. */
export interface RequestTrace {
  /** An answered request, a line of a batch, or a media job. */
  kind: 'usage' | 'batch_line' | 'media_job';
  request_id: string;
  /** The `X-Request-Id` that the caller sent. */
  client_request_id: string | null;
  /** UUIDv7. */
  receipt_id: string;
  key_id: string | null;
  run_id: string | null;
  /** The project of its API key. */
  project_id: string | null;
  /** As the request named them. */
  end_user: string | null;
  /** Of `X-Tags`. */
  tags: string[] | null;
  livemode: boolean;
  endpoint: string;
  stream: boolean;
  model_requested: string;
  model_served: string;
  provider: string;
  fallback: 'none' | 'deployment' | 'model';
  /** `cancelled`: the client hung up, or the agent run ended. `abandoned`: the gateway stopped, or gave up waiting, while the provider was at work. `cut`: the provider broke off, or failed and said what it had used. `failed`: no answer. `cached`: an answer that was kept, at no cost. */
  outcome: 'completed' | 'cancelled' | 'abandoned' | 'cut' | 'failed' | 'cached';
  attempts: RequestAttempt[];
  /** What could have served and was not asked. */
  skipped: SkippedDeployment[];
  usage: ReceiptUsage;
  estimated: boolean;
  price_version: string;
  /** On all prices: "1", or that of batches. */
  price_factor: string;
  /** Worst case that was held before the provider was called, USD. */
  held_usd: string;
  /** Decimal string, USD. */
  cost_usd: string;
  /** Decimal string, USD. */
  charged_usd: string;
  /** What the provider billed beyond `held_usd`, and what no longer fitted a cap when the request was settled late. It is not charged, and in neither `cost_usd` nor `charged_usd`. */
  waived_usd: string;
  /** Null unless it was corrected: then this is what counts. */
  correction: RequestCorrection | null;
  /** Null unless its cost was given back. */
  refund: RequestRefund | null;
  /** RFC 3339, UTC. */
  started_at: string;
  first_byte_at: string | null;
  /** RFC 3339, UTC. */
  completed_at: string;
  overhead_ms: number;
}

/** A query with the documents to rank by it, as at Cohere and Jina. Fields that are not listed here are passed through. */
export interface RerankRequest {
  /** A model of the catalogue. */
  model: string;
  /** Fallbacks in order, tried when `model` cannot be served. Not sent to the provider. */
  models?: string[] | null | undefined;
  /** Which providers may serve the request, and in which order. Not sent to them. */
  provider?: ProviderPreference | null | undefined;
  /** What the documents are compared with. */
  query: string;
  /** What to rank: strings, or objects with a `text`. The other fields of an object are for the caller. */
  documents: (string | { [name: string]: unknown })[];
  /** The most results. Default: one for each document. */
  top_n?: number | null | undefined;
  /** Of documents that are objects: the fields that are ranked by, in order, in place of `text`. */
  rank_fields?: string[] | null | undefined;
  /** Repeat the document in each result. Default: false. The gateway adds it, whichever provider answers. */
  return_documents?: boolean | null | undefined;
  /** Cohere: a document is cut to so many tokens. */
  max_tokens_per_doc?: number | null | undefined;
  /** An id of the end user, as the caller names them. */
  user?: string | null | undefined;
  [field: string]: unknown;
}

/** The response is gone. */
export interface ResponseDeleted {
  id: string;
  object: 'response';
  deleted: true;
}

/** A message, a call, a call’s output, a reasoning item … */
export interface ResponseItem {
  type?: string | undefined;
  id?: string | null | undefined;
  role?: string | undefined;
  [field: string]: unknown;
}

/** A page of items, each with an id. */
export interface ResponseItemList {
  object: 'list';
  data: ResponseItem[];
  first_id: string;
  /** The `after` of the next page; empty where the page is. */
  last_id: string;
  has_more: boolean;
}

/** OpenAI’s response. */
export interface ResponseObject {
  id: string;
  object: 'response';
  created_at: number;
  status: 'completed' | 'failed' | 'in_progress' | 'cancelled' | 'queued' | 'incomplete';
  error: {
    code: string;
    message: string;
    [field: string]: unknown;
  } | null;
  incomplete_details: {
    reason?: string | undefined;
    [field: string]: unknown;
  } | null;
  instructions: string | ResponseItem[] | null;
  metadata: { [name: string]: string } | null;
  model: string;
  output: ResponseItem[];
  parallel_tool_calls: boolean;
  previous_response_id?: string | null | undefined;
  temperature: number | null;
  /** `none`, `auto`, `required` or a named tool. */
  tool_choice: unknown;
  tools: {
    type: string;
    [field: string]: unknown;
  }[];
  top_p: number | null;
  usage?: ResponseUsage | null | undefined;
  [field: string]: unknown;
}

/** OpenAI’s Responses request. Fields that are not listed here are passed through to the provider. */
export interface ResponseRequest {
  /** A model of the catalogue. */
  model: string;
  /** Fallbacks in order, tried when `model` cannot be served. Not sent to the provider. */
  models?: string[] | null | undefined;
  /** Which providers may serve the request, and in which order. Not sent to them. */
  provider?: ProviderPreference | null | undefined;
  input?: string | ResponseItem[] | null | undefined;
  instructions?: string | null | undefined;
  previous_response_id?: string | null | undefined;
  conversation?: string | {
    id: string;
    [field: string]: unknown;
  } | null | undefined;
  /** Keep the response for 30 days. Default: true. */
  store?: boolean | null | undefined;
  background?: boolean | null | undefined;
  /** Answer as server-sent events. */
  stream?: boolean | null | undefined;
  stream_options?: {
    include_obfuscation?: boolean | null | undefined;
    [field: string]: unknown;
  } | null | undefined;
  max_output_tokens?: number | null | undefined;
  max_tool_calls?: number | null | undefined;
  temperature?: number | null | undefined;
  top_p?: number | null | undefined;
  top_logprobs?: number | null | undefined;
  tools?: {
    type: string;
    [field: string]: unknown;
  }[] | null | undefined;
  /** `none`, `auto`, `required` or a named tool. */
  tool_choice?: unknown | undefined;
  parallel_tool_calls?: boolean | null | undefined;
  text?: {
    format?: {
      type: 'text' | 'json_object' | 'json_schema';
      [field: string]: unknown;
    } | null | undefined;
    verbosity?: string | null | undefined;
    [field: string]: unknown;
  } | null | undefined;
  reasoning?: {
    effort?: string | null | undefined;
    summary?: string | null | undefined;
    [field: string]: unknown;
  } | null | undefined;
  truncation?: 'auto' | 'disabled' | null | undefined;
  include?: ('reasoning.encrypted_content' | 'message.output_text.logprobs' | 'message.input_image.image_url' | 'file_search_call.results' | 'web_search_call.results' | 'web_search_call.action.sources' | 'computer_call_output.output.image_url' | 'code_interpreter_call.outputs')[] | null | undefined;
  metadata?: { [name: string]: string } | null | undefined;
  service_tier?: string | null | undefined;
  safety_identifier?: string | null | undefined;
  prompt_cache_key?: string | null | undefined;
  /** An id of the end user, as the caller names them. */
  user?: string | null | undefined;
  [field: string]: unknown;
}

/** One event of a streamed response. */
export interface ResponseStreamEvent {
  type: string;
  /** From 0, without gaps. */
  sequence_number: number;
  [field: string]: unknown;
}

/** OpenAI’s usage of a response, with the cost added. */
export interface ResponseUsage {
  input_tokens: number;
  input_tokens_details: {
    cached_tokens: number;
    [field: string]: unknown;
  };
  output_tokens: number;
  output_tokens_details: {
    reasoning_tokens: number;
    [field: string]: unknown;
  };
  total_tokens: number;
  /** What the request cost, USD. For people: the exact amount is in the receipt. */
  cost?: number | undefined;
  [field: string]: unknown;
}

/** What a user may administer. */
export type Role = 'member' | 'marketing' | 'admin';

/** What the user may administer from now on. */
export interface RoleUpdateRequest {
  role: Role;
}

/** How to replace the secret. */
export interface RotateKeyRequest {
  /** How long the old secret keeps working, seconds; 0 ends it at once. */
  grace_seconds?: number | undefined;
}

/** How long both secrets sign. */
export interface RotateWebhookSecretRequest {
  /** How long deliveries are signed with both secrets. */
  grace_seconds?: number | undefined;
}

/** One agent run: what it may do and what it has done. Figures are current to within a second or so. */
export interface Run {
  run_id: string;
  /** The run that it draws on too. */
  parent_run_id: string | null;
  livemode: boolean;
  state: RunState;
  /** Hard ceiling; null if the run itself has none. */
  ceiling_usd: string | null;
  /** Settled in the run and in its child runs, at catalogue prices. */
  spent_usd: string;
  /** Settled requests of the run and its child runs. */
  requests: number;
  /** The most calls that the run and its child runs may make. */
  max_calls: number | null;
  /** Null where the run has no bound on its calls. */
  calls_remaining: number | null;
  /** From then on it makes no calls, and running ones are stopped. */
  deadline: string | null;
  /** RFC 3339, UTC. */
  started_at: string;
  /** When its newest settled request began. */
  last_request_at: string | null;
  /** When it or its parent was closed; null if open. */
  closed_at: string | null;
}

/** A run with its steps and its child runs. */
export interface RunDetail {
  run_id: string;
  /** The run that it draws on too. */
  parent_run_id: string | null;
  livemode: boolean;
  state: RunState;
  /** Hard ceiling; null if the run itself has none. */
  ceiling_usd: string | null;
  /** Settled in the run and in its child runs, at catalogue prices. */
  spent_usd: string;
  /** Settled requests of the run and its child runs. */
  requests: number;
  /** The most calls that the run and its child runs may make. */
  max_calls: number | null;
  /** Null where the run has no bound on its calls. */
  calls_remaining: number | null;
  /** From then on it makes no calls, and running ones are stopped. */
  deadline: string | null;
  /** RFC 3339, UTC. */
  started_at: string;
  /** When its newest settled request began. */
  last_request_at: string | null;
  /** When it or its parent was closed; null if open. */
  closed_at: string | null;
  /** Held by running requests of the run and its child runs. */
  held_usd: string;
  /** The run’s own requests, the oldest first; those of a child run are in the child. */
  steps: {
    data: RunStep[];
    has_more: boolean;
    /** The `cursor` of the next page. */
    next_cursor: string | null;
  };
  /** Its child runs, the oldest first; at most 200. */
  children: Run[];
}

/** Runs of the account, the newest first. */
export interface RunList {
  data: Run[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

export interface RunPath {
  /** The run’s id, as the caller chose it. */
  run_id: string;
}

export interface RunQuery {
  /** Live or test mode. Default: the mode of the API key that asks; live for sessions. */
  livemode?: boolean | undefined;
  /** Only runs in this state. */
  state?: RunState | undefined;
  /** Only child runs of this run. */
  parent_run_id?: string | undefined;
  /** How many at most. */
  limit?: number | undefined;
  /** The `next_cursor` of the page before. */
  cursor?: string | undefined;
}

/** `exhausted`: its ceiling is spent, its calls are made or its deadline has passed. `closed`: by somebody, or with its parent. */
export type RunState = 'active' | 'exhausted' | 'closed';

/** One settled request of a run. */
export interface RunStep {
  /** For `GET /v1/requests/{id}`. */
  request_id: string;
  endpoint: string;
  model_requested: string;
  model_served: string;
  fallback: 'none' | 'deployment' | 'model';
  outcome: 'completed' | 'cancelled' | 'abandoned' | 'cut' | 'failed' | 'cached';
  /** Decimal string, USD. */
  cost_usd: string;
  /** Whether its cost was given back. */
  refunded: boolean;
  /** UUIDv7. */
  receipt_id: string;
  /** RFC 3339, UTC. */
  started_at: string;
  /** RFC 3339, UTC. */
  completed_at: string;
}

/** What an API key may do. */
export type Scope = 'inference' | 'account:read' | 'account:write' | 'keys:write' | 'billing:write' | 'audit:read' | 'marketing:read' | 'marketing:write' | 'events:read' | 'events:write' | 'admin:read' | 'admin:write';

/** That the service is there, and where to go on. */
export interface ServiceStatus {
  name: 'Tallygate';
  status: 'ok' | 'draining';
  version: string;
  /** The documentation; where its pages are not built, the OpenAPI document. */
  documentation: string;
  /** The OpenAPI document. */
  openapi: string;
  /** What agents find here. */
  agent: string;
  /** The documentation for language models. */
  llms: string;
  /** The MCP server. */
  mcp: string;
}

export type ServiceTier = 'flex' | 'priority';

/** Live sessions, the last used first. */
export interface SessionListResponse {
  data: SessionResponse[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** A signed-in browser or terminal. */
export interface SessionResponse {
  /** UUIDv7. */
  session_id: string;
  /** Whether it is the session that asks. */
  current: boolean;
  /** RFC 3339, UTC. */
  created_at: string;
  /** To the minute. */
  last_used_at: string;
  /** RFC 3339, UTC. */
  expires_at: string;
  ip_address: string | null;
  user_agent: string | null;
}

/** A limit as it is to be. Kind, subject and period name it. */
export interface SetLimitRequest {
  kind: LimitKind;
  /** What it limits: the id of the project, member (user) or API key, the agent run or the end user as requests name it, the tag as `name=value`, or the id of the model. Null: each of the kind that has no limit of its own for the period; of the kind `account` it is always null. */
  subject?: string | null | undefined;
  period: LimitPeriod;
  /** Your own id of it, once in an account. To create it again with the same content answers with what is there. */
  external_id?: string | undefined;
  /** The most that may be spent in the period, USD. */
  cap_usd?: string | null | undefined;
  /** Requests in a minute; null for no such limit. */
  requests_per_minute?: number | null | undefined;
  /** Tokens in a minute, in and out; null for no such limit. */
  tokens_per_minute?: number | null | undefined;
  /** Whole percents of the cap in ascending order, at most ten, at which webhooks are told; empty for none. */
  alert_thresholds?: number[] | undefined;
}

/** One VEVENT. */
export type SiteEventCalendar = string;

/** A new event. It begins as a draft, which is not public. */
export interface SiteEventCreateRequest {
  /** The event’s name in URLs. */
  slug: string;
  /** In one line. */
  title: string;
  /** One sentence for lists. */
  summary?: string | undefined;
  /** Plain text. */
  description?: string | undefined;
  /** RFC 3339, with any offset. */
  starts_at: string;
  /** RFC 3339, with any offset. */
  ends_at: string;
  /** IANA time zone in which the event takes place. */
  time_zone: string;
  /** Where it takes place; null for online only. */
  venue_name?: string | null | undefined;
  /** Postal address of the venue. */
  venue_address?: string | null | undefined;
  /** Where to join online. */
  online_url?: string | null | undefined;
  /** A picture of it. */
  image_url?: string | null | undefined;
  /** Number of places; null: unlimited. */
  capacity?: number | null | undefined;
  /** Price of a place, USD, whole cents; 0 is free. */
  price_usd?: string | undefined;
  /** When registration ends; null: with the event. */
  registration_closes_at?: string | null | undefined;
}

/** An event in the vocabulary of schema.org, for search engines. */
export interface SiteEventJsonLd {
  '@context': 'https://schema.org';
  '@type': 'Event';
  '@id': string;
  name: string;
  /** ISO 8601 with the offset of the event’s time zone. */
  startDate: string;
  endDate: string;
  eventStatus: 'https://schema.org/EventScheduled';
  eventAttendanceMode: string;
  [field: string]: unknown;
}

/** An event. */
export interface SiteEventResponse {
  /** UUIDv7. */
  event_id: string;
  /** Never changes once the event was published. */
  slug: string;
  title: string;
  summary: string;
  /** Plain text. */
  description: string;
  status: SiteEventStatus;
  /** RFC 3339, UTC. */
  starts_at: string;
  /** RFC 3339, UTC. */
  ends_at: string;
  /** IANA time zone in which it takes place. */
  time_zone: string;
  venue_name: string | null;
  venue_address: string | null;
  online_url: string | null;
  image_url: string | null;
  /** Null: unlimited. */
  capacity: number | null;
  /** Null: unlimited. */
  places_left: number | null;
  /** Length of the waitlist. */
  waitlist_length: number;
  /** Price of a place; 0 is free. */
  price_usd: string;
  /** When registration ends. */
  registration_closes_at: string;
  /** Whether registration is open, at least for the waitlist. */
  is_registration_open: boolean;
  /** The first time it was published. */
  published_at: string | null;
  archived_at: string | null;
  /** RFC 3339, UTC. */
  created_at: string;
  /** RFC 3339, UTC. */
  updated_at: string;
}

/** A `draft` becomes `published`; either becomes `archived`. A published event may become a draft again; an archived one stays archived. */
export type SiteEventStatus = 'draft' | 'published' | 'archived';

/** What to change; what is left out stays. More places go to the waitlist at once; fewer than are taken are refused. A new price applies to later registrations. */
export interface SiteEventUpdateRequest {
  /** Only while the event has never been published. */
  slug?: string | undefined;
  /** In one line. */
  title?: string | undefined;
  /** One sentence for lists. */
  summary?: string | undefined;
  /** Plain text. */
  description?: string | undefined;
  /** RFC 3339, with any offset. */
  starts_at?: string | undefined;
  /** RFC 3339, with any offset. */
  ends_at?: string | undefined;
  /** IANA time zone in which the event takes place. */
  time_zone?: string | undefined;
  /** Where it takes place; null for online only. */
  venue_name?: string | null | undefined;
  /** Postal address of the venue. */
  venue_address?: string | null | undefined;
  /** Where to join online. */
  online_url?: string | null | undefined;
  /** A picture of it. */
  image_url?: string | null | undefined;
  /** Number of places; null: unlimited. */
  capacity?: number | null | undefined;
  /** Price of a place, USD, whole cents; 0 is free. */
  price_usd?: string | undefined;
  /** When registration ends; null: with the event. */
  registration_closes_at?: string | null | undefined;
}

/** A deployment or a model that was left aside, and why. */
export interface SkippedDeployment {
  model: string;
  /** Null where it is the model that could not serve. */
  deployment: string | null;
  provider: string | null;
  /** `cooling_down`: it failed or was at its rate limit lately. `probing`: another request was finding out whether it is back. `incapable`: the model cannot do what the request asks. `not_deployed`: no provider is configured for it. `too_dear`: it costs more than `provider.max_price`. */
  reason: 'cooling_down' | 'probing' | 'incapable' | 'not_deployed' | 'too_dear';
}

/** OpenAI’s speech request. Fields that are not listed here are passed through to the provider. */
export interface SpeechRequest {
  /** A model of the catalogue. */
  model: string;
  /** Fallbacks in order, tried when `model` cannot be served. Not sent to the provider. */
  models?: string[] | null | undefined;
  /** What to say. */
  input: string;
  voice: string | {
    id: string;
    [field: string]: unknown;
  };
  instructions?: string | null | undefined;
  response_format?: 'mp3' | 'opus' | 'aac' | 'flac' | 'wav' | 'pcm' | null | undefined;
  speed?: number | null | undefined;
  /** `sse`: the audio as server-sent events. */
  stream_format?: 'audio' | 'sse' | null | undefined;
  [field: string]: unknown;
}

/** A limit on what is spent, and how fast. */
export interface SpendingLimit {
  /** UUIDv7. */
  limit_id: string;
  kind: LimitKind;
  /** What it limits: the id of the project, member (user) or API key, the agent run or the end user as requests name it, the tag as `name=value`, or the id of the model. Null: each of the kind that has no limit of its own for the period; of the kind `account` it is always null. */
  subject: string | null;
  period: LimitPeriod;
  /** Your own id of it. */
  external_id: string | null;
  /** Spending cap of the period, USD; null for none. */
  cap_usd: string | null;
  /** Requests in a minute; null for no such limit. */
  requests_per_minute: number | null;
  /** Tokens in a minute, in and out; null for no such limit. */
  tokens_per_minute: number | null;
  /** Percent of the cap at which webhooks are told, once a period each. For the lifetime of an agent run: of its ceiling (`X-Agent-Max-Budget`) where that is lower or there is no cap. */
  alert_thresholds: number[];
  /** RFC 3339, UTC. */
  created_at: string;
  /** RFC 3339, UTC. */
  updated_at: string;
}

/** Limits, the newest first. */
export interface SpendingLimitList {
  data: SpendingLimit[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** The time zone by which the periods of limits are counted. */
export interface TimeZone {
  /** IANA name. */
  time_zone: string;
}

/** What was said. With `text`, `srt` or `vtt` as the format, the answer is text instead. */
export interface Transcript {
  text: string;
  usage?: {
    type: 'tokens' | 'duration';
    seconds?: number | undefined;
    input_tokens?: number | undefined;
    output_tokens?: number | undefined;
    total_tokens?: number | undefined;
    /** What the request cost, USD. For people: the exact amount is in the receipt. */
    cost?: number | undefined;
    [field: string]: unknown;
  } | undefined;
  language?: string | undefined;
  duration?: number | undefined;
  segments?: {
    start: number;
    end: number;
    text: string;
    [field: string]: unknown;
  }[] | undefined;
  words?: {
    word: string;
    start: number;
    end: number;
    [field: string]: unknown;
  }[] | undefined;
  [field: string]: unknown;
}

/** A piece of the text, or all of it at the end. */
export interface TranscriptStreamEvent {
  type: string;
  delta?: string | undefined;
  text?: string | undefined;
  usage?: {
    type: 'tokens' | 'duration';
    seconds?: number | undefined;
    input_tokens?: number | undefined;
    output_tokens?: number | undefined;
    total_tokens?: number | undefined;
    /** What the request cost, USD. For people: the exact amount is in the receipt. */
    cost?: number | undefined;
    [field: string]: unknown;
  } | undefined;
  [field: string]: unknown;
}

/** OpenAI’s transcription: a form with `file`. */
export interface TranscriptionRequest {
  /** A model of the catalogue. */
  model: string;
  language?: string | null | undefined;
  prompt?: string | null | undefined;
  response_format?: 'json' | 'text' | 'srt' | 'verbose_json' | 'vtt' | 'diarized_json' | null | undefined;
  temperature?: number | null | undefined;
  stream?: string | boolean | null | undefined;
  include?: string[] | null | undefined;
  timestamp_granularities?: ('word' | 'segment')[] | null | undefined;
  [field: string]: unknown;
}

/** OpenAI’s translation into English: a form with `file`. */
export interface TranslationRequest {
  /** A model of the catalogue. */
  model: string;
  prompt?: string | null | undefined;
  response_format?: 'json' | 'text' | 'srt' | 'verbose_json' | 'vtt' | null | undefined;
  temperature?: number | null | undefined;
  [field: string]: unknown;
}

/** The metadata that takes the place of the old. */
export interface UpdateChatCompletionRequest {
  metadata: { [name: string]: string } | null;
}

/** The metadata that takes the place of the old. */
export interface UpdateConversationRequest {
  metadata: { [name: string]: string } | null;
}

/** What the group gives. What is left out stays. */
export interface UpdateDirectoryGroupRequest {
  /** What members of the group are in the account; null: what their other groups make of them. */
  account_role?: 'admin' | 'billing' | 'developer' | 'viewer' | null | undefined;
  /** Projects that members of the group are members of. */
  projects?: {
    /** UUIDv7. */
    project_id: string;
    project_role: ProjectRole;
  }[] | undefined;
}

/** What to change. A field that is left out stays as it is; lists and `metadata` are replaced whole. */
export interface UpdateKeyRequest {
  /** For people. */
  name?: string | undefined;
  /** What the key may do. */
  scopes?: Scope[] | undefined;
  /** The project that it belongs to; null for none. Needs a session. */
  project_id?: string | null | undefined;
  /** When the key stops working by itself; null for never. */
  expires_at?: string | null | undefined;
  /** The only models that the key may use, fallbacks included. Null: all. */
  allowed_models?: string[] | null | undefined;
  /** The only endpoints that the key may spend on. Null: all. */
  allowed_endpoints?: InferenceEndpoint[] | null | undefined;
  rate_limits?: KeyRateLimitsInput | undefined;
  /** Your own notes: at most 16 pairs. */
  metadata?: { [name: string]: string } | undefined;
  /** Ed25519 public key, base64url of 32 bytes (the `x` of a JWK). Signatures of requests (RFC 9421) are verified with it. */
  signing_public_key?: string | null | undefined;
  /** Inference requests without a valid signature are refused. */
  require_signature?: boolean | undefined;
}

/** What to change. */
export interface UpdateMemberRequest {
  account_role?: AccountRole | undefined;
  external_id?: string | null | undefined;
}

/** What to change. */
export interface UpdatePasskeyRequest {
  /** For its owner. */
  name: string;
}

/** What to change. */
export interface UpdateProjectRequest {
  /** For people. */
  name?: string | undefined;
  /** `true` archives it and revokes its API keys; `false` takes it into use again, with new keys. */
  archived?: boolean | undefined;
}

/** What to change. */
export interface UpdateWebhookRequest {
  /** Where events are sent. */
  url?: string | undefined;
  /** For people. */
  description?: string | undefined;
  format?: WebhookFormat | undefined;
  /** Only events of these types; null for all. */
  event_types?: WebhookEventName[] | null | undefined;
  /** `false` ends all deliveries to it; `true` begins with the events that come from then on. */
  enabled?: boolean | undefined;
}

/** A file that is sent in parts. */
export interface Upload {
  id: string;
  object: 'upload';
  /** Size of the whole file. */
  bytes: number;
  /** Unix seconds. */
  created_at: number;
  /** Until when it has to be completed: an hour after it was made. */
  expires_at: number;
  filename: string;
  /** What the file is for. */
  purpose: 'assistants' | 'batch' | 'fine-tune' | 'vision' | 'user_data' | 'evals';
  status: 'pending' | 'completed' | 'cancelled' | 'expired';
  /** The file that a completed upload has become. */
  file: FileObject | null;
}

/** A part of an upload. */
export interface UploadPart {
  id: string;
  object: 'upload.part';
  /** Unix seconds. */
  created_at: number;
  upload_id: string;
}

export interface UsageQuery {
  /** First day, in the account’s time zone. Default: the first of the current month. */
  from?: string | undefined;
  /** Last day. Default: today. */
  to?: string | undefined;
  /** One or two of project,member,key,model,provider,tag,end_user,run,outcome, by a comma. */
  group_by?: string | undefined;
  /** Default: `day` without `group_by`. */
  per?: 'hour' | 'day' | undefined;
  /** Live or test mode. Default: the mode of the API key that asks; live for sessions. */
  livemode?: boolean | undefined;
  model?: string | undefined;
  /** UUIDv7. */
  key_id?: string | undefined;
  run_id?: string | undefined;
}

/** Usage of the account between two days, both included. */
export interface UsageResponse {
  from: string;
  to: string;
  /** Of days and hours. */
  time_zone: string;
  livemode: boolean;
  group_by: string[];
  per: 'hour' | 'day' | null;
  /** At most 1,000 groups: those of the highest cost. */
  items: UsageRow[];
  /** How many groups more there are. Their usage is in `total`. */
  omitted_groups: number;
  total: {
    requests: number;
    input_tokens: number;
    cached_input_tokens: number;
    output_tokens: number;
    /** Characters that were spoken. */
    input_characters: number;
    /** Seconds of audio in. */
    audio_seconds: number;
    /** Seconds of video made. */
    video_seconds: number;
    /** Images made. */
    images: number;
    /** At catalogue prices, USD. */
    cost_usd: string;
    /** What the account paid beyond its plan’s quota, USD. */
    charged_usd: string;
  };
}

/** Usage of one group. It has the fields that usage is grouped by, null for requests without one. */
export interface UsageRow {
  /** With `per=day`: a day of `time_zone`. */
  day?: string | undefined;
  /** With `per=hour`: when the hour begins. */
  hour?: string | undefined;
  project_id?: string | null | undefined;
  user_id?: string | null | undefined;
  key_id?: string | null | undefined;
  model?: string | undefined;
  provider?: string | undefined;
  tag?: string | null | undefined;
  end_user?: string | null | undefined;
  run_id?: string | null | undefined;
  outcome?: string | undefined;
  requests: number;
  input_tokens: number;
  cached_input_tokens: number;
  output_tokens: number;
  /** Characters that were spoken. */
  input_characters: number;
  /** Seconds of audio in. */
  audio_seconds: number;
  /** Seconds of video made. */
  video_seconds: number;
  /** Images made. */
  images: number;
  /** At catalogue prices, USD. */
  cost_usd: string;
  /** What the account paid beyond its plan’s quota, USD. */
  charged_usd: string;
}

/** Users of the gateway, the newest first; who has closed their account is not among them. */
export interface UserListResponse {
  data: UserResponse[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** Display name. */
export type UserName = string;

/** A user. */
export interface UserResponse {
  /** UUIDv7. */
  user_id: string;
  /** The account that owns keys, usage and money. */
  account_id: string;
  /** E-mail address. An internationalized domain is stored and returned in its ASCII spelling (`xn--…`). */
  email: string;
  name: string | null;
  role: Role;
  account_role: AccountRole;
  email_verified: boolean;
  mfa_enabled: boolean;
  /** The account’s plan. */
  plan: string;
  /** Whether the account allows prompts and answers to be stored. */
  stores_content: boolean;
  /** RFC 3339, UTC. */
  created_at: string;
  /** Present in answers to a login only. */
  session?: LoginSession | undefined;
}

/** What to change; what is left out stays. */
export interface UserUpdateRequest {
  /** Display name; null removes it. */
  name?: string | null | undefined;
  /** The new address. It takes effect when the link that is sent to it is opened; until then nothing changes. */
  email?: string | undefined;
  /** The password; needed with `email`. */
  password?: string | undefined;
  /** Whether prompts and answers may be stored. With `false`, nothing is stored from now on; existing content stays until it is deleted. */
  stores_content?: boolean | undefined;
}

/** A public key that signs receipts, with its time of validity. */
export interface VaasKey {
  kty: 'OKP';
  crv: 'Ed25519';
  /** Public key, base64url (RFC 8037). */
  x: string;
  /** RFC 7638 thumbprint. */
  kid: string;
  use: 'sig';
  alg: 'EdDSA';
  purpose: 'receipt';
  /** From when on it signs. What it signs may be older: a receipt is signed when it is read. */
  not_before: string;
  /** Set once the key is retired. */
  not_after: string | null;
}

/** JSON Web Key Set (RFC 7517) of the keys of receipts, of their log and of promises, retired ones included. */
export interface VaasKeySet {
  keys: (VaasKey | VaasLogKey | VaasPromiseKey)[];
}

/** A public key that signs the states of the receipts’ log, with its time of validity. */
export interface VaasLogKey {
  kty: 'OKP';
  crv: 'Ed25519';
  /** Public key, base64url (RFC 8037). */
  x: string;
  /** RFC 7638 thumbprint. */
  kid: string;
  use: 'sig';
  alg: 'EdDSA';
  purpose: 'checkpoint';
  /** Name of the log, id and bytes of the key, as signed notes know them (c2sp.org/signed-note). */
  verifier_key: string;
  /** From when on it signs. What it signs may be older: a receipt is signed when it is read. */
  not_before: string;
  /** Set once the key is retired. */
  not_after: string | null;
}

/** A public key that signs promises of receipts (`X-Receipt-Promise`), with its time of validity. */
export interface VaasPromiseKey {
  kty: 'OKP';
  crv: 'Ed25519';
  /** Public key, base64url (RFC 8037). */
  x: string;
  /** RFC 7638 thumbprint. */
  kid: string;
  use: 'sig';
  alg: 'EdDSA';
  purpose: 'promise';
  /** From when on it signs. What it signs may be older: a receipt is signed when it is read. */
  not_before: string;
  /** Set once the key is retired. */
  not_after: string | null;
}

/** Options of the payment of a place. */
export interface VibethonCheckoutRequest {
  /** The return URL of the browser. Default: a page of this server. */
  success_url?: string | undefined;
  /** The return URL of the browser. Default: a page of this server. */
  cancel_url?: string | undefined;
}

/** The next step of the payment of a place. */
export interface VibethonCheckoutResponse {
  /** UUIDv7. */
  registration_id: string;
  event_slug: string;
  /** `open`: pay on the hosted page. `completed`: it is paid. `not_required`: the place is free of charge, or the payment was waived. */
  status: 'not_required' | 'open' | 'completed';
  /** For `GET /v1/plans/checkouts/{checkout_id}`, which has its state. */
  checkout_id: string | null;
  /** Send the browser there; null if there is nothing to pay. */
  checkout_url: string | null;
  /** The price of the place, as it was at the registration. */
  amount_usd: string;
  /** The end of the payment page and of the hold. */
  expires_at: string | null;
}

/** The Vibethon. It exists from the first start and its slug is fixed; administrators can change everything else. */
export interface VibethonEventResponse {
  /** UUIDv7. */
  event_id: string;
  /** Never changes once the event was published. */
  slug: string;
  title: string;
  summary: string;
  /** Plain text. */
  description: string;
  status: SiteEventStatus;
  /** RFC 3339, UTC. */
  starts_at: string;
  /** RFC 3339, UTC. */
  ends_at: string;
  /** IANA time zone in which it takes place. */
  time_zone: string;
  venue_name: string | null;
  venue_address: string | null;
  online_url: string | null;
  image_url: string | null;
  /** Null: unlimited. */
  capacity: number | null;
  /** Null: unlimited. */
  places_left: number | null;
  /** Length of the waitlist. */
  waitlist_length: number;
  /** Price of a place; 0 is free. */
  price_usd: string;
  /** When registration ends. */
  registration_closes_at: string;
  /** Whether registration is open, at least for the waitlist. */
  is_registration_open: boolean;
  /** The first time it was published. */
  published_at: string | null;
  archived_at: string | null;
  /** RFC 3339, UTC. */
  created_at: string;
  /** RFC 3339, UTC. */
  updated_at: string;
  /** Whether a place has to be paid before it is confirmed. */
  requires_payment: boolean;
}

/** A registration with the notes of administrators. */
export interface VibethonRegistrant {
  /** The user of the address; null for the second or two until it is linked. */
  user_id: string | null;
  name: string | null;
  company: string | null;
  message: string | null;
  /** Notes of administrators. */
  note: string;
  /** Of `GET /v1/plans/payments`. */
  payment_id: string | null;
  attended_at: string | null;
  confirmed_at: string | null;
  canceled_at: string | null;
}

/** What to change; what is left out stays. */
export interface VibethonRegistrationAdminUpdateRequest {
  /** `confirmed` needs a free place, and waives a payment that is due. `waitlisted` puts somebody who is canceled at the end of the waitlist. `canceled` frees the place for the next person on the waitlist; what was paid has to be refunded instead. */
  status?: 'confirmed' | 'waitlisted' | 'canceled' | undefined;
  name?: string | null | undefined;
  company?: string | null | undefined;
  /** For administrators. */
  note?: string | undefined;
  /** Whether they came. */
  attended?: boolean | undefined;
}

/** The participant. No password is set here: a mail leads the person who reads mail at the address to their account. */
export interface VibethonRegistrationRequest {
  /** The address of the registration, in upper or lower case. */
  email: string;
  /** For people. */
  name?: string | undefined;
  /** Where they come from. */
  company?: string | undefined;
  /** A message to the organisers. */
  message?: string | undefined;
  /** Whether they want news by mail. A mail asks the person who reads mail at the address, and only their answer counts: anybody can type anybody’s address. */
  marketing_consent?: boolean | undefined;
}

/** A registration for the Vibethon, or for another event. */
export interface VibethonRegistrationResponse {
  /** UUIDv7. */
  registration_id: string;
  event_slug: string;
  email: string;
  status: RegistrationStatus;
  /** 1 is next; null if not on the waitlist. */
  waitlist_position: number | null;
  payment_status: RegistrationPayment;
  /** The price at the time of the registration. */
  price_usd: string;
  /** The end of the hold for payment; null without one. */
  pay_by: string | null;
  /** RFC 3339, UTC. */
  registered_at: string;
  /** For administrators. Null in answers to the public form, which anyone can send with any address. */
  registrant: VibethonRegistrant | null;
}

/** Whether an address is registered, and its status. Nothing else. */
export interface VibethonRegistrationStatusResponse {
  event_slug: string;
  /** The address of the request. */
  email: string;
  status: 'confirmed' | 'awaiting_payment' | 'waitlisted' | 'canceled' | 'not_registered';
  /** 1 is next; null if not on the waitlist. */
  waitlist_position: number | null;
  /** Null where there is no registration. */
  payment_status: RegistrationPayment | null;
  /** The end of the hold for payment; null without one. */
  pay_by: string | null;
}

/** A video job, in OpenAI’s shape. */
export interface Video {
  id: string;
  object: 'video';
  model: string;
  /** A job that has `failed` is given back in full, with a receipt of kind `refund`. */
  status: 'queued' | 'in_progress' | 'completed' | 'failed';
  /** How far it is, percent. */
  progress: number;
  /** When the job was begun, unix seconds. */
  created_at: number;
  /** When the video was there to be downloaded, unix seconds. */
  completed_at: number | null;
  /** Until when it can be downloaded, unix seconds. */
  expires_at: number | null;
  prompt: string | null;
  /** Length; of an extension, with what it goes on from. */
  seconds: string;
  size: string;
  /** The video that this is a remix, an edit or an extension of. */
  remixed_from_video_id: string | null;
  /** Why it failed. */
  error: {
    code: string;
    message: string;
    [field: string]: unknown;
  } | null;
  /** The receipt of kind `refund` of a failed job, once its cost is given back. Not OpenAI’s. */
  refund_receipt_id: string | null;
  [field: string]: unknown;
}

/** A character, in OpenAI’s shape. */
export interface VideoCharacter {
  /** What the `characters` of a video are named by. */
  id: string | null;
  name: string | null;
  /** When it was made, unix seconds. */
  created_at: number;
}

/** A character of the account. */
export interface VideoCharacterReference {
  id: string;
  [field: string]: unknown;
}

/** A character, shown by a video: a file of the form, or a completed video of the account. */
export interface VideoCharacterRequest {
  /** What prompts call it by. */
  name: string;
  /** The video model whose provider is to keep it. Not OpenAI’s. */
  model?: string | undefined;
  /** A completed video of yours, in place of a file. Not OpenAI’s. */
  video?: VideoReference | undefined;
  [field: string]: unknown;
}

/** The video is gone. */
export interface VideoDeleted {
  id: string;
  object: 'video.deleted';
  deleted: true;
}

/** What is to be changed in a completed video. */
export interface VideoEditRequest {
  video: VideoReference;
  /** What is to be different. */
  prompt: string;
  [field: string]: unknown;
}

/** How a completed video is to go on. */
export interface VideoExtensionRequest {
  video: VideoReference;
  /** How it goes on. */
  prompt: string;
  /** How much longer it is to be. */
  seconds: string | number;
  [field: string]: unknown;
}

/** A page of videos. */
export interface VideoList {
  object: 'list';
  data: Video[];
  first_id: string;
  /** The `after` of the next page; empty where the page is. */
  last_id: string;
  has_more: boolean;
}

export interface VideoPath {
  /** The video’s id. */
  video_id: string;
}

/** A completed video of the account. */
export interface VideoReference {
  id: string;
  [field: string]: unknown;
}

/** What is to be different from the video that is remixed. */
export interface VideoRemixRequest {
  /** What is to be different. */
  prompt: string;
  [field: string]: unknown;
}

/** OpenAI’s video request: JSON, or a form with `input_reference` as a file. */
export interface VideoRequest {
  /** A video model of the catalogue. */
  model?: string | undefined;
  prompt: string;
  /** Length. Default: `"4"`. */
  seconds?: string | number | null | undefined;
  size?: string | null | undefined;
  /** Who is to appear; the prompt calls them by their names. */
  characters?: VideoCharacterReference[] | null | undefined;
  /** An id of the end user, as the caller names them. */
  user?: string | null | undefined;
  [field: string]: unknown;
}

/** One event for one webhook. */
export interface WebhookDelivery {
  /** UUIDv7. */
  delivery_id: string;
  /** UUIDv7. */
  webhook_id: string;
  event: WebhookEvent;
  /** `failed`: not tried again by itself. */
  status: 'pending' | 'delivered' | 'failed';
  /** The last 20, the oldest first. */
  attempts: {
    /** RFC 3339, UTC. */
    at: string;
    /** What the endpoint answered; null where it did not. */
    status_code: number | null;
    /** Null for a success. `address_refused`: the name leads to an address that this gateway does not send to. `redirected`: redirects are not followed. `rejected`: any other status than 2xx. */
    error: 'connection_failed' | 'timed_out' | 'address_refused' | 'redirected' | 'rejected' | null;
    duration_ms: number;
  }[];
  /** Null unless it is pending. */
  next_attempt_at: string | null;
  /** RFC 3339, UTC. */
  created_at: string;
}

/** Deliveries, the newest first. */
export interface WebhookDeliveryList {
  data: WebhookDelivery[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** An address to which events are sent. */
export interface WebhookEndpoint {
  /** UUIDv7. */
  webhook_id: string;
  owner: WebhookOwner;
  /** Where events are sent. Of Slack and Teams without its path, which is the credential there. */
  url: string;
  description: string;
  format: WebhookFormat;
  /** Only events of these types; null for all. */
  event_types: WebhookEventName[] | null;
  /** `failing`: enabled, and its last delivery failed. */
  status: 'enabled' | 'disabled' | 'failing';
  /** `gone`: it answered 410. Null unless it is disabled. */
  disabled_reason: 'by_user' | 'failed_for_three_days' | 'gone' | null;
  /** Null where its last delivery succeeded. */
  failing_since: string | null;
  /** Until when deliveries are signed with the secret before as well; null otherwise. */
  previous_secret_expires_at: string | null;
  /** RFC 3339, UTC. */
  created_at: string;
  /** RFC 3339, UTC. */
  updated_at: string;
}

/** Webhooks, the newest first. */
export interface WebhookEndpointList {
  data: WebhookEndpoint[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** A webhook with its secret. */
export interface WebhookEndpointWithSecret {
  /** UUIDv7. */
  webhook_id: string;
  owner: WebhookOwner;
  /** Where events are sent. Of Slack and Teams without its path, which is the credential there. */
  url: string;
  description: string;
  format: WebhookFormat;
  /** Only events of these types; null for all. */
  event_types: WebhookEventName[] | null;
  /** `failing`: enabled, and its last delivery failed. */
  status: 'enabled' | 'disabled' | 'failing';
  /** `gone`: it answered 410. Null unless it is disabled. */
  disabled_reason: 'by_user' | 'failed_for_three_days' | 'gone' | null;
  /** Null where its last delivery succeeded. */
  failing_since: string | null;
  /** Until when deliveries are signed with the secret before as well; null otherwise. */
  previous_secret_expires_at: string | null;
  /** RFC 3339, UTC. */
  created_at: string;
  /** RFC 3339, UTC. */
  updated_at: string;
  /** Verifies deliveries. It is not shown again. */
  secret: string;
}

/** Something that happened, as webhooks deliver it. */
export type WebhookEvent = {
  type: 'key.created';
  /** Of the event, the same in every delivery of it; also the header `webhook-id`. */
  id: string;
  /** When it happened. */
  timestamp: string;
  /** Whose it is; null for what concerns the whole gateway. */
  account_id: string | null;
  /** Its place in the order of all events of the gateway. */
  sequence: number;
  data: {
    /** The API key’s id. */
    key_id: string;
    /** The API key’s name. */
    name: string;
    /** Whether it is of live or of test mode. */
    livemode: boolean;
  };
} | {
  type: 'key.rotated';
  /** Of the event, the same in every delivery of it; also the header `webhook-id`. */
  id: string;
  /** When it happened. */
  timestamp: string;
  /** Whose it is; null for what concerns the whole gateway. */
  account_id: string | null;
  /** Its place in the order of all events of the gateway. */
  sequence: number;
  data: {
    /** The API key’s id. */
    key_id: string;
    /** The API key’s name. */
    name: string;
    /** Whether it is of live or of test mode. */
    livemode: boolean;
  };
} | {
  type: 'key.revoked';
  /** Of the event, the same in every delivery of it; also the header `webhook-id`. */
  id: string;
  /** When it happened. */
  timestamp: string;
  /** Whose it is; null for what concerns the whole gateway. */
  account_id: string | null;
  /** Its place in the order of all events of the gateway. */
  sequence: number;
  data: {
    /** The API key’s id. */
    key_id: string;
    /** The API key’s name. */
    name: string;
    /** Whether it is of live or of test mode. */
    livemode: boolean;
  };
} | {
  type: 'budget.threshold_reached';
  /** Of the event, the same in every delivery of it; also the header `webhook-id`. */
  id: string;
  /** When it happened. */
  timestamp: string;
  /** Whose it is; null for what concerns the whole gateway. */
  account_id: string | null;
  /** Its place in the order of all events of the gateway. */
  sequence: number;
  data: {
    /** The API key’s id. */
    key_id: string;
    /** The API key’s name. */
    name: string;
    /** Calendar month, UTC. */
    period: string;
    /** Settled in the period so far, USD. */
    spent_usd: string;
    /** The cap of the period, USD. */
    cap_usd: string;
    /** When the period ends; null for a lifetime. */
    resets_at: string | null;
    /** The share of the cap that was reached, percent. */
    threshold_percent: number;
  };
} | {
  type: 'budget.cap_hit';
  /** Of the event, the same in every delivery of it; also the header `webhook-id`. */
  id: string;
  /** When it happened. */
  timestamp: string;
  /** Whose it is; null for what concerns the whole gateway. */
  account_id: string | null;
  /** Its place in the order of all events of the gateway. */
  sequence: number;
  data: {
    /** The API key’s id. */
    key_id: string;
    /** The API key’s name. */
    name: string;
    /** Calendar month, UTC. */
    period: string;
    /** Settled in the period so far, USD. */
    spent_usd: string;
    /** The cap of the period, USD. */
    cap_usd: string;
    /** When the period ends; null for a lifetime. */
    resets_at: string | null;
    /** What had to be held for the refused request, USD. */
    required_usd: string;
  };
} | {
  type: 'limit.threshold_reached';
  /** Of the event, the same in every delivery of it; also the header `webhook-id`. */
  id: string;
  /** When it happened. */
  timestamp: string;
  /** Whose it is; null for what concerns the whole gateway. */
  account_id: string | null;
  /** Its place in the order of all events of the gateway. */
  sequence: number;
  data: {
    kind: LimitKind;
    /** Whose spending it is; null for the account’s. */
    subject: string | null;
    period: LimitPeriod;
    /** Whether it is of live or of test mode. */
    livemode: boolean;
    /** Settled in the period so far, USD. */
    spent_usd: string;
    /** The cap of the period, USD. */
    cap_usd: string;
    /** When the period ends; null for a lifetime. */
    resets_at: string | null;
    /** The share of the cap that was reached, percent. */
    threshold_percent: number;
  };
} | {
  type: 'limit.cap_hit';
  /** Of the event, the same in every delivery of it; also the header `webhook-id`. */
  id: string;
  /** When it happened. */
  timestamp: string;
  /** Whose it is; null for what concerns the whole gateway. */
  account_id: string | null;
  /** Its place in the order of all events of the gateway. */
  sequence: number;
  data: {
    kind: LimitKind;
    /** Whose spending it is; null for the account’s. */
    subject: string | null;
    period: LimitPeriod;
    /** Whether it is of live or of test mode. */
    livemode: boolean;
    /** Settled in the period so far, USD. */
    spent_usd: string;
    /** The cap of the period, USD. */
    cap_usd: string;
    /** When the period ends; null for a lifetime. */
    resets_at: string | null;
    /** What had to be held for the refused request, USD. */
    required_usd: string;
  };
} | {
  type: 'spend.threshold_reached';
  /** Of the event, the same in every delivery of it; also the header `webhook-id`. */
  id: string;
  /** When it happened. */
  timestamp: string;
  /** Whose it is; null for what concerns the whole gateway. */
  account_id: string | null;
  /** Its place in the order of all events of the gateway. */
  sequence: number;
  data: {
    /** Calendar month, UTC. */
    period: string;
    /** The threshold of the account’s spend alerts, USD. */
    threshold_usd: string;
    /** Charged beyond the plan’s quota in the month so far, USD. */
    charged_usd: string;
  };
} | {
  type: 'run.exhausted';
  /** Of the event, the same in every delivery of it; also the header `webhook-id`. */
  id: string;
  /** When it happened. */
  timestamp: string;
  /** Whose it is; null for what concerns the whole gateway. */
  account_id: string | null;
  /** Its place in the order of all events of the gateway. */
  sequence: number;
  data: {
    /** As the requests name it. */
    run_id: string;
    /** Whether it is of live or of test mode. */
    livemode: boolean;
    /** Which bound of the run refused a request. */
    reason: 'budget' | 'calls' | 'deadline';
  };
} | {
  type: 'provider.set_aside';
  /** Of the event, the same in every delivery of it; also the header `webhook-id`. */
  id: string;
  /** When it happened. */
  timestamp: string;
  /** Whose it is; null for what concerns the whole gateway. */
  account_id: string | null;
  /** Its place in the order of all events of the gateway. */
  sequence: number;
  data: {
    /** Name of the provider. */
    provider: string;
    /** As `GET /v1/admin/deployments` names it. */
    deployment: string;
    /** The model that it is asked for. */
    model: string;
    /** Why other providers are asked first. */
    reason: 'rate_limited' | 'retry_after' | 'credentials' | 'failures';
  };
} | {
  type: 'provider.restored';
  /** Of the event, the same in every delivery of it; also the header `webhook-id`. */
  id: string;
  /** When it happened. */
  timestamp: string;
  /** Whose it is; null for what concerns the whole gateway. */
  account_id: string | null;
  /** Its place in the order of all events of the gateway. */
  sequence: number;
  data: {
    /** Name of the provider. */
    provider: string;
    /** As `GET /v1/admin/deployments` names it. */
    deployment: string;
    /** The model that it is asked for. */
    model: string;
    /** Since when it was set aside. */
    set_aside_at: string;
  };
} | {
  type: 'invoice.issued';
  /** Of the event, the same in every delivery of it; also the header `webhook-id`. */
  id: string;
  /** When it happened. */
  timestamp: string;
  /** Whose it is; null for what concerns the whole gateway. */
  account_id: string | null;
  /** Its place in the order of all events of the gateway. */
  sequence: number;
  data: {
    /** UUIDv7. */
    invoice_id: string;
    /** Calendar month, UTC. */
    month: string;
    /** Whether it is of live or of test mode. */
    livemode: boolean;
    /** What the receipts on it come to, USD. */
    total_usd: string;
    /** What is to be paid, USD. */
    due_usd: string;
  };
} | {
  type: 'receipt.anchored';
  /** Of the event, the same in every delivery of it; also the header `webhook-id`. */
  id: string;
  /** When it happened. */
  timestamp: string;
  /** Whose it is; null for what concerns the whole gateway. */
  account_id: string | null;
  /** Its place in the order of all events of the gateway. */
  sequence: number;
  data: {
    /** UUIDv7. */
    anchor_id: string;
    /** The chain’s id (EIP-155). */
    chain_id: number;
    transaction_hash: string;
    /** Entries of the log in the state that is anchored. */
    tree_size: number;
    /** Receipts of the account in it that asked to be anchored, since the anchor before. */
    receipt_count: number;
    /** Their ids, at most 100. */
    receipt_ids: string[];
  };
} | {
  type: 'log.stopped';
  /** Of the event, the same in every delivery of it; also the header `webhook-id`. */
  id: string;
  /** When it happened. */
  timestamp: string;
  /** Whose it is; null for what concerns the whole gateway. */
  account_id: string | null;
  /** Its place in the order of all events of the gateway. */
  sequence: number;
  data: {
    /** What is wrong with the log of receipts. */
    reason: string;
  };
} | {
  type: 'webhook.test';
  /** Of the event, the same in every delivery of it; also the header `webhook-id`. */
  id: string;
  /** When it happened. */
  timestamp: string;
  /** Whose it is; null for what concerns the whole gateway. */
  account_id: string | null;
  /** Its place in the order of all events of the gateway. */
  sequence: number;
  data: {
    /** The endpoint that was asked to be tested. */
    webhook_id: string;
  };
};

/** Events. */
export interface WebhookEventList {
  data: WebhookEvent[];
  has_more: boolean;
  /** The `cursor` of the next page. */
  next_cursor: string | null;
}

/** What an event tells of. */
export type WebhookEventName = 'key.created' | 'key.rotated' | 'key.revoked' | 'budget.threshold_reached' | 'budget.cap_hit' | 'limit.threshold_reached' | 'limit.cap_hit' | 'spend.threshold_reached' | 'run.exhausted' | 'provider.set_aside' | 'provider.restored' | 'invoice.issued' | 'receipt.anchored' | 'log.stopped' | 'webhook.test';

/** `standard`: the event as JSON, signed. `slack`: a message for an incoming webhook of Slack. `teams`: a card for a workflow of Microsoft Teams. */
export type WebhookFormat = 'standard' | 'slack' | 'teams';

/** `account`: events of the account. `gateway`: events of the gateway and of every account; for administrators. */
export type WebhookOwner = 'account' | 'gateway';

/** From when. */
export interface WebhookReplayRequest {
  /** Events from this time on, as far as they are kept. */
  since: string;
}

/** What is sent again. */
export interface WebhookReplayResponse {
  /** How many events are sent again. */
  replayed: number;
}

/** The event that is sent. */
export interface WebhookTestResponse {
  /** UUIDv7. */
  event_id: string;
}
