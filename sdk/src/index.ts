export { type Verification, verifyReceipt, verifyReceiptText } from '@tallygate/receipts';
export type { Budgets } from './budgets.ts';
export type { Models } from './catalog.ts';
export {
  AbortError,
  type AnyErrorCode,
  AuthenticationError,
  BadRequestError,
  BudgetExceededError,
  BudgetInFlightError,
  ConflictError,
  ConnectionError,
  type LocalErrorCode,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
  TallygateError,
  TimeoutError,
  UpstreamError,
  ValidationError,
} from './errors.ts';
export type { ErrorCode } from './generated/errors.ts';
export type {
  BudgetDetail,
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionRequest,
  ChatMessage,
  ChatUsage,
  CreateKeyRequest,
  FieldError,
  HTTPValidationError,
  KeyBudgetAlert,
  KeyBudgetAlertHistoryResponse,
  KeyBudgetChange,
  KeyBudgetHistoryResponse,
  KeyBudgetStatusResponse,
  KeyBudgetSummaryItem,
  KeyBudgetSummaryResponse,
  KeyBudgetUpdateRequest,
  KeyCreatedResponse,
  KeyResponse,
  LoginMfaRequiredResponse,
  LoginRequest,
  LoginSession,
  Model,
  ModelList,
  ModelPricing,
  Problem,
  ReceiptPayload,
  ReceiptResponse,
  ReceiptUsage,
  RequestAttempt,
  RequestTrace,
  RotateKeyRequest,
  Scope,
  UsageResponse,
  UsageRow,
  UserResponse,
  VaasKey,
  VaasKeySet,
} from './generated/models.ts';
export type { Identity } from './identity.ts';
export type { Chat, ChatCompletions } from './inference.ts';
export type { Keys } from './keys.ts';
export type { Requests, Usage, UsageQuery } from './ledger.ts';
export type { Receipts } from './receipts.ts';
export { Tallygate, type TallygateOptions } from './tallygate.ts';
export type { Call, CallResult } from './transport/call.ts';
export type { CallOptions, InferenceOptions } from './transport/call-options.ts';
export type { DebugEvent, OnDebug } from './transport/debug.ts';
export type { EventStream } from './transport/event-stream.ts';
