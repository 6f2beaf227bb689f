import Stripe from 'stripe';
import { PaymentFault, type PaymentFaultKind } from './port.ts';

/** What the SDK throws, as the port says it; anything else is a bug and is left alone. */
export function faultOf(thrown: unknown): unknown {
  if (!(thrown instanceof Stripe.errors.StripeError)) return thrown;
  return new PaymentFault(kindOf(thrown), `Stripe: ${thrown.message}`, { cause: thrown, providerRequestId: thrown.requestId });
}

function kindOf(failure: Stripe.errors.StripeError): PaymentFaultKind {
  const { statusCode } = failure;
  if (failure instanceof Stripe.errors.StripeIdempotencyError) return statusCode === 409 ? 'unavailable' : 'idempotency_conflict';
  if (statusCode === undefined || statusCode === 409 || statusCode === 429 || statusCode >= 500) return 'unavailable';
  if (statusCode === 401 || statusCode === 403) return 'unauthorised';
  return failure.code === 'resource_missing' ? 'not_found' : 'invalid';
}

const isMissing = (thrown: unknown): boolean => thrown instanceof Stripe.errors.StripeError && thrown.code === 'resource_missing';

/** Undefined in place of an object that is not there. */
export const orMissing = <T>(answer: Promise<T>): Promise<T | undefined> =>
  answer.catch((thrown: unknown) => {
    if (isMissing(thrown)) return undefined;
    throw thrown;
  });

/** Every method of a provider, with its faults translated. */
export function translating<T extends object>(methods: T): T {
  return new Proxy(methods, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        const answer: unknown = Reflect.apply(member, target, args);
        return answer instanceof Promise ? answer.catch((thrown: unknown) => Promise.reject(faultOf(thrown))) : answer;
      };
    },
  });
}
