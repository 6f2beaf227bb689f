export type { Address } from '../address.ts';
export {
  AbortError,
  AuthenticationError,
  BadRequestError,
  BudgetExceededError,
  BudgetInFlightError,
  ConflictError,
  ConnectionError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
  TallygateError,
  UpstreamError,
  ValidationError,
} from '../errors.ts';
export type { AnswerFacts } from '../transport/call.ts';
export type { GatewayOptions } from '../transport/call-options.ts';
export { tallygateErrorOf } from './errors.ts';
export { metadataOf, type TallygateMetadata } from './metadata.ts';
export { createTallygate, type TallygateProvider, type TallygateProviderSettings, tallygate } from './provider.ts';
