export { type Verification, verifyReceipt, verifyReceiptText } from '@tallygate/receipts';
export type { Audio, Speech, Transcriptions, Translations } from './audio.ts';
export type { AuditLog, AuditLogQuery } from './audit.ts';
export type { Batches, BatchOptions, BatchQuery, WaitOptions } from './batches.ts';
export type { Budgets } from './budgets.ts';
export type { Models } from './catalog.ts';
export type { Discovery } from './discovery.ts';
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
export type { CreateFile, FileQuery, Files } from './files.ts';
export type { ErrorCode } from './generated/errors.ts';
export type {
  Accepted,
  AccountCloseRequest,
  AuditLogEntry,
  AuditLogResponse,
  Batch,
  BatchError,
  BatchList,
  BatchUsage,
  BudgetDetail,
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionRequest,
  ChatMessage,
  ChatUsage,
  CompleteUploadRequest,
  Completion,
  CompletionRequest,
  CreateBatchRequest,
  CreateKeyRequest,
  CreateUploadRequest,
  CreateUserRequest,
  EmbeddingList,
  EmbeddingRequest,
  FieldError,
  FileDeleted,
  FileList,
  FileObject,
  Health,
  HTTPValidationError,
  ImageEditRequest,
  ImageGenerationRequest,
  ImageList,
  ImageStreamEvent,
  ImageVariationRequest,
  InferenceEndpoint,
  KeyBudgetAlert,
  KeyBudgetAlertHistoryResponse,
  KeyBudgetChange,
  KeyBudgetHistoryResponse,
  KeyBudgetStatusResponse,
  KeyBudgetSummaryItem,
  KeyBudgetSummaryResponse,
  KeyBudgetUpdateRequest,
  KeyCreatedResponse,
  KeyRateLimits,
  KeyRateLimitsInput,
  KeyResponse,
  LoginMfaRequest,
  LoginMfaRequiredResponse,
  LoginRequest,
  LoginSession,
  MfaBeginResponse,
  MfaDisableRequest,
  MfaStatusResponse,
  MfaVerifyRequest,
  Model,
  ModelList,
  ModelPricing,
  Moderation,
  ModerationRequest,
  PasswordChangeRequest,
  PasswordResetRequest,
  Problem,
  ReceiptPayload,
  ReceiptResponse,
  ReceiptUsage,
  RefundRequest,
  RefundResponse,
  RequestAttempt,
  RequestTrace,
  RotateKeyRequest,
  Scope,
  ServiceStatus,
  SessionListResponse,
  SessionResponse,
  SpeechRequest,
  Transcript,
  TranscriptionRequest,
  TranscriptStreamEvent,
  TranslationRequest,
  UpdateKeyRequest,
  Upload,
  UploadPart,
  UsageResponse,
  UsageRow,
  UserResponse,
  UserUpdateRequest,
  VaasKey,
  VaasKeySet,
} from './generated/models.ts';
export type { CreateUserOptions, Identity } from './identity.ts';
export type { ImageFiles, Images } from './images.ts';
export type { Chat, ChatCompletions } from './inference.ts';
export type { Keys } from './keys.ts';
export type { Requests, Usage, UsageQuery } from './ledger.ts';
export type { Mfa } from './mfa.ts';
export type { Receipts } from './receipts.ts';
export type { Sessions } from './sessions.ts';
export { Tallygate, type TallygateOptions } from './tallygate.ts';
export type { Completions, Embeddings, Moderations } from './texts.ts';
export type { Call, CallResult } from './transport/call.ts';
export type { CallOptions, InferenceOptions } from './transport/call-options.ts';
export type { CursorCall, CursorPage } from './transport/cursor-call.ts';
export type { DebugEvent, OnDebug } from './transport/debug.ts';
export type { EventStream } from './transport/event-stream.ts';
export type { Page, PagedCall, PageQuery } from './transport/paged-call.ts';
export type { RateLimit, RateLimits } from './transport/rate-limits.ts';
export type { Uploads } from './uploads.ts';
