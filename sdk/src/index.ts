export {
  type ConfirmedAnchor,
  type ConfirmOptions,
  type CostLine,
  confirmAnchor,
  costLines,
  DeclarationsContradictedError,
  KeysContradictedError,
  LogForkError,
  type LogStore,
  memoryLogStore,
  parseWitnessPolicy,
  type Remembered,
  type UnconfirmedAnchor,
  type Verification,
  verifyReceipt,
  verifyReceiptText,
  WitnessesUndeclaredError,
  type WitnessPolicy,
  webLogStore,
} from '@tallygate/receipts';
export type { Address } from './address.ts';
export type { Audio, Speech, Transcriptions, Translations } from './audio.ts';
export type { Batches, BatchOptions, WaitOptions } from './batches.ts';
export type { Budgets } from './budgets.ts';
export type { ModelQuery, Models } from './catalog.ts';
export type { ConversationItems, Conversations } from './conversations.ts';
export type { DeviceLogins } from './device-logins.ts';
export type { Discovery } from './discovery.ts';
export type { Emails } from './emails.ts';
export {
  AbortError,
  type AnyErrorCode,
  AuthenticationError,
  BadRequestError,
  BudgetExceededError,
  BudgetInFlightError,
  ConflictError,
  ConnectionError,
  type ErrorOrigin,
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
export type { EventCheckout, Events } from './events.ts';
export type { CreateFile, Files } from './files.ts';
export type { ErrorCode } from './generated/errors.ts';
export type * from './generated/models.ts';
// Names that these had before.
export type { PlanBalanceCheckoutRequest as BalanceCheckout } from './generated/models.ts';
export type * from './generated/resources.ts';
export type { EventRegistrationQuery as RegistrationQuery } from './generated/resources.ts';
export type { CreateUserOptions, Identity } from './identity.ts';
export type { ImageFiles, Images } from './images.ts';
export type { Chat, ChatCompletions, StoredChatQuery } from './inference.ts';
export type { Live } from './live.ts';
export type { People, PeopleFilter } from './people.ts';
export type { CheckoutWaitOptions, Plans } from './plans.ts';
export type { CheckpointVerification, InvoiceCheck, Receipts, ReceiptVerification, VerifyCallOptions } from './receipts.ts';
export { type FollowQuery, type ItemQuery, outputText, type Responses, type ResponseWaitOptions } from './responses.ts';
export { type ApiRequest, Tallygate, type TallygateOptions } from './tallygate.ts';
export type { Completions, Embeddings, Moderations, Rerank } from './texts.ts';
export type { AnswerFacts, Call, CallResult } from './transport/call.ts';
export type { CallOptions, GatewayOptions, InferenceOptions } from './transport/call-options.ts';
export type { DebugEvent, OnDebug } from './transport/debug.ts';
export type { EventStream } from './transport/event-stream.ts';
export type { Page, PagedCall, PageQuery } from './transport/paged-call.ts';
export type { RateLimit, RateLimits } from './transport/rate-limits.ts';
export type { SendOptions, Uploads } from './uploads.ts';
export { type VerifyWebhookOptions, verifyWebhook, type WebhookVerificationCode, WebhookVerificationError } from './verify-webhook.ts';
export type { NewVideo, NewVideoCharacter, VideoContentOptions, Videos, WaitForVideoOptions } from './videos.ts';
