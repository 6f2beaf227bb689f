import { ERRORS, type ErrorCode } from '@tallygate/contract';
import type {
  AgentDocument,
  AuditLogEntry,
  Batch,
  ChatCompletion,
  ChatCompletionChunk,
  FileObject,
  KeyBudgetStatusResponse,
  KeyCreatedResponse,
  KeyResponse,
  MfaStatusResponse,
  Model,
  Problem,
  ResponseObject,
  Run,
  Upload,
  UserResponse,
  Video,
} from '../src/index.ts';

export const REQUEST_ID = 'req_019aa2f1c2d37b6e8c4d1f00aa55ee77';
export const RECEIPT_ID = '6f1b1f0e-6a55-4f0e-9b57-0d6f3a0c9a11';
export const KEY_ID = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77';
export const PLAIN_KEY = 'tg_live_4f0Zk1x8QbRm0123456789abcdefghijABCDEFGHIJ01abcdef';

export const user: UserResponse = {
  user_id: '019aa2f1-0000-7000-8000-000000000001',
  account_id: '019aa2f1-0000-7000-8000-000000000002',
  email: 'ada@example.com',
  name: 'Ada Lovelace',
  role: 'member',
  account_role: 'owner',
  email_verified: true,
  mfa_enabled: false,
  plan: 'free',
  stores_content: true,
  created_at: '2026-11-01T09:00:00.000Z',
};

export const session = { token: 'tgs_4f0Zk1x8QbRm', expires_at: '2026-12-21T08:00:00.000Z' };

export const key: KeyResponse = {
  key_id: KEY_ID,
  name: 'production',
  prefix: 'tg_live_4f0Zk1x8QbRm',
  livemode: true,
  scopes: ['inference', 'account:read'],
  external_id: null,
  project_id: null,
  status: 'active',
  monthly_cap_usd: '25',
  allowed_models: null,
  allowed_endpoints: null,
  rate_limits: { requests_per_minute: null, tokens_per_minute: null, concurrency: null },
  metadata: {},
  signing_public_key: null,
  require_signature: false,
  created_at: '2026-11-01T09:00:00.000Z',
  expires_at: null,
  rotated_at: null,
  previous_secret_expires_at: null,
  revoked_at: null,
  last_used_at: '2026-11-21T07:59:00.000Z',
};

export const createdKey: KeyCreatedResponse = { ...key, last_used_at: null, key: PLAIN_KEY };

export const model: Model = {
  id: 'gpt-4o-mini',
  object: 'model',
  created: 1721260800,
  owned_by: 'openai',
  kind: 'chat',
  context_length: 128000,
  max_output_tokens: 16384,
  modalities: { input: ['text', 'image'], output: ['text'] },
  capabilities: ['streaming', 'tools', 'vision'],
  supported_parameters: ['temperature', 'tools'],
  endpoints: ['/v1/chat/completions'],
  ladder: [],
  pricing: {
    version: '2026-07-24',
    effective_from: '2026-07-24T00:00:00.000Z',
    currency: 'USD',
    prices: { input_tokens: '0.00000015', output_tokens: '0.0000006' },
    tiers: [],
    batch_factor: '0.5',
    entry: null,
    source: 'shipped',
    cited: 'https://developers.openai.com/api/docs/pricing (2026-07-24)',
  },
  aliases: ['gpt-4o-mini-2024-07-18'],
  deprecated: null,
  retired: null,
};

const chatUsage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11, cost: 0.00000255 };

export const completion: ChatCompletion = {
  id: 'chatcmpl-9f2c',
  object: 'chat.completion',
  created: 1763712000,
  model: 'gpt-4o-mini',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello.', refusal: null }, logprobs: null }],
  usage: chatUsage,
};

export const inferenceAnswerHeaders = {
  'x-request-id': REQUEST_ID,
  'x-receipt-id': RECEIPT_ID,
  'x-model-served': 'gpt-4o-mini',
  'x-provider': 'openai',
  'x-overhead-ms': '0.8',
  'x-fallback': 'none',
};

const chunk = (choices: ChatCompletionChunk['choices'], more: Partial<ChatCompletionChunk> = {}): ChatCompletionChunk => ({
  id: 'chatcmpl-9f2c',
  object: 'chat.completion.chunk',
  created: 1763712000,
  model: 'gpt-4o-mini',
  choices,
  ...more,
});

/** The chunks of a streamed answer: role, each text, the reason it stopped, the usage. */
export const chunks = (...texts: string[]): ChatCompletionChunk[] => [
  chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]),
  ...texts.map((content) => chunk([{ index: 0, delta: { content }, finish_reason: null }])),
  chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]),
  chunk([], { usage: chatUsage }),
];

/** One `data:` event. */
export const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;

export const DONE = 'data: [DONE]\n\n';

/** The scripted answer with the problem document of a code. */
export function refusal(code: ErrorCode, more: { headers?: Record<string, string>; detail?: string; problem?: object } = {}) {
  const { status, title, type } = ERRORS[code];
  const detail = more.detail ?? `What to do about ${code}.`;
  const problem: Problem = {
    type: `https://tallygate.example/docs/errors/${code}`,
    title,
    status,
    detail,
    instance: REQUEST_ID,
    code,
    error: { message: detail, type, code, param: null },
  };
  return { status, headers: { 'x-request-id': REQUEST_ID, ...more.headers }, json: { ...problem, ...more.problem } };
}

const GATEWAY = 'https://gateway.example.com';

/** The agent document of a gateway with these witnesses of its log. */
export const agentDocument = (witness_policy: string | null): AgentDocument => ({
  ...{ name: 'Tallygate', description: 'A gateway.', version: '0.1.0', url: GATEWAY },
  ...{ interfaces: [], capabilities: [], safeguards: [], models: [] },
  authentication: { scheme: 'bearer', credential: 'An API key.', scopes: [], metadata: `${GATEWAY}/.well-known/oauth-protected-resource` },
  log: { url: `${GATEWAY}/v1/log`, keys: `${GATEWAY}/.well-known/vaas-keys.json`, witnesses: [], witness_policy },
  documents: {
    ...{ openapi: `${GATEWAY}/openapi.json`, openapi_yaml: `${GATEWAY}/openapi.yaml`, llms: `${GATEWAY}/llms.txt` },
    ...{ llms_full: `${GATEWAY}/llms-full.txt`, agents: `${GATEWAY}/agents.md`, agent_card: `${GATEWAY}/.well-known/agent-card.json` },
    ...{ receipt_keys: `${GATEWAY}/.well-known/vaas-keys.json`, prices: `${GATEWAY}/v1/prices` },
    security: `${GATEWAY}/.well-known/security.txt`,
  },
});

export const budget = {
  limit_source: 'key',
  cap_usd: '25',
  spent_usd: '24.9',
  held_usd: '0.05',
  required_usd: '0.2',
  resets_at: '2026-12-01T00:00:00.000Z',
} as const;

/** Entry of the audit log; the number makes its id. */
export const auditEntry = (number: number): AuditLogEntry => ({
  entry_id: `019aa2f1-c2d3-7b6e-8c4d-${String(number).padStart(12, '0')}`,
  account_id: user.account_id,
  actor: { kind: 'user', id: user.user_id },
  action: 'key.created',
  target: { kind: 'key', id: KEY_ID },
  changes: { monthly_cap_usd: { from: null, to: '25' } },
  ip: '203.0.113.7',
  user_agent: 'tallygate-cli/0.1.0',
  request_id: REQUEST_ID,
  created_at: '2026-11-21T08:00:00.000Z',
});

export const budgetStatus: KeyBudgetStatusResponse = {
  key_id: KEY_ID,
  period: '2026-11',
  period_start: '2026-11-01T00:00:00.000Z',
  resets_at: '2026-12-01T00:00:00.000Z',
  monthly_cap_usd: '25',
  spent_usd: '20.5',
  held_usd: '0.04',
  remaining_usd: '4.46',
  utilization: 0.8234,
  status: 'warning',
  alert_thresholds: [50, 80, 100],
};

export const mfaStatus: MfaStatusResponse = {
  enabled: true,
  enabled_at: '2026-11-21T08:00:00.000Z',
  pending: false,
  recovery_codes_left: 10,
};

/** A stored file; the number makes its id. */
export const storedFile = (number: number): FileObject => ({
  id: `file-019aa2f1c2d37b6e8c4d${String(number).padStart(12, '0')}`,
  object: 'file',
  bytes: 120_000,
  created_at: 1763712000,
  filename: 'requests.jsonl',
  purpose: 'user_data',
  status: 'processed',
});

export const storedUpload: Upload = {
  id: 'upload_019aa2f1c2d37b6e8c4d000000000001',
  object: 'upload',
  bytes: 7,
  created_at: 1763712000,
  expires_at: 1763715600,
  filename: 'a.bin',
  purpose: 'user_data',
  status: 'pending',
  file: null,
};

export const storedBatch = (status: Batch['status']): Batch => ({
  id: 'batch_019aa2f1c2d37b6e8c4d000000000001',
  object: 'batch',
  endpoint: '/v1/chat/completions',
  model: 'gpt-4o-mini',
  input_file_id: storedFile(1).id,
  completion_window: '24h',
  status,
  ...(status === 'completed' && { output_file_id: storedFile(2).id, completed_at: 1763712100 }),
  created_at: 1763712000,
  in_progress_at: 1763712001,
  expires_at: 1763798400,
  request_counts: { total: 3, completed: status === 'completed' ? 3 : 1, failed: 0 },
  metadata: null,
});

/** A video job, with the receipt of its refund where it has failed. */
export const storedVideo = (status: Video['status']): Video => ({
  id: 'video_019aa2f1c2d37b6e8c4d000000000001',
  object: 'video',
  model: 'sora-2',
  status,
  progress: { queued: 0, in_progress: 40, completed: 100, failed: 40 }[status],
  created_at: 1763712000,
  completed_at: status === 'completed' ? 1763712060 : null,
  expires_at: status === 'completed' ? 1763798460 : null,
  prompt: 'A ledger turning its own pages',
  seconds: '4',
  size: '720x1280',
  remixed_from_video_id: null,
  error: status === 'failed' ? { code: 'moderation_blocked', message: 'Not this.' } : null,
  refund_receipt_id: status === 'failed' ? '019aa2f1-c2d3-7b6e-8c4d-000000000009' : null,
});

/** A stored response with the text "Hello." once it is completed. */
export const storedResponse = (status: ResponseObject['status']): ResponseObject => ({
  id: 'resp_019aa2f1c2d37b6e8c4d000000000001',
  object: 'response',
  created_at: 1763712000,
  status,
  error: null,
  incomplete_details: null,
  instructions: null,
  metadata: {},
  model: 'gpt-4o-mini',
  output:
    status === 'completed'
      ? [
          {
            ...{ id: 'msg_1', type: 'message', role: 'assistant', status },
            content: [{ type: 'output_text', text: 'Hello.', annotations: [], logprobs: [] }],
          },
        ]
      : [],
  parallel_tool_calls: true,
  previous_response_id: null,
  temperature: 1,
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
  usage:
    status === 'completed'
      ? {
          input_tokens: 9,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens: 2,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: 11,
          cost: 0.00000255,
        }
      : null,
});

export const agentRun: Run = {
  run_id: 'trip-42',
  parent_run_id: null,
  livemode: true,
  state: 'active',
  ceiling_usd: '0.5',
  spent_usd: '0.0125',
  requests: 12,
  max_calls: 100,
  calls_remaining: 88,
  deadline: null,
  started_at: '2026-11-21T08:00:00.000Z',
  last_request_at: '2026-11-21T08:01:00.000Z',
  closed_at: null,
};
