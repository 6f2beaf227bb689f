import type { FakePaymentIntent } from './records.ts';

type FaultType = 'invalid_request_error' | 'card_error' | 'idempotency_error' | 'api_error';

interface FaultDetail {
  code?: string;
  param?: string;
  decline_code?: string;
  payment_intent?: FakePaymentIntent;
}

/** An answer in the shape of Stripe's errors. */
export class StripeFault extends Error {
  readonly status: number;
  readonly type: FaultType;
  readonly detail: FaultDetail;
  /** Whether what was done up to here stays done: a declined payment is on record. */
  readonly keepsEffects: boolean;

  constructor(status: number, type: FaultType, message: string, detail: FaultDetail = {}, keepsEffects = false) {
    super(message);
    this.status = status;
    this.type = type;
    this.detail = detail;
    this.keepsEffects = keepsEffects;
  }

  toBody() {
    return { error: { type: this.type, message: this.message, ...this.detail } };
  }
}

export const invalid = (message: string, detail: FaultDetail = {}): StripeFault =>
  new StripeFault(400, 'invalid_request_error', message, detail);

export const missing = (param: string): StripeFault => invalid(`Missing required param: ${param}.`, { code: 'parameter_missing', param });

export const unknownParameter = (param: string): StripeFault =>
  invalid(`Received unknown parameter: ${param}`, { code: 'parameter_unknown', param });

/** `kind` as Stripe says it: `customer`, `subscription`, … */
export const noSuch = (kind: string, id: string, param = 'id'): StripeFault =>
  new StripeFault(404, 'invalid_request_error', `No such ${kind.replaceAll(/[._]/g, ' ')}: '${id}'`, { code: 'resource_missing', param });
