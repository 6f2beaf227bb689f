import type Stripe from 'stripe';
import { invalid } from './fault.ts';
import type { FakePaymentMethod } from './records.ts';

/** When a card is asked: while it is attached, with the customer on the page, or without. */
export type Moment = 'attach' | 'on_session' | 'off_session';

export interface CardDecline {
  readonly code: string;
  readonly message: string;
  readonly detail: { decline_code?: string };
}

const DECLINED = 'Your card was declined.';
const decline = (code: string, message: string, declineCode?: string): CardDecline => ({
  code,
  message,
  detail: declineCode === undefined ? {} : { decline_code: declineCode },
});

const GENERIC = decline('card_declined', DECLINED, 'generic_decline');
const NO_FUNDS = decline('card_declined', 'Your card has insufficient funds.', 'insufficient_funds');
const AUTHENTICATION = decline(
  'authentication_required',
  'Your card was declined. This transaction requires authentication.',
  'authentication_required',
);

interface TestCard {
  readonly names: readonly string[];
  readonly brand: string;
  /** Undefined where the card is good for it. */
  readonly declines: Partial<Record<Moment, CardDecline>>;
}

const whenCharged = (one: CardDecline): TestCard['declines'] => ({ on_session: one, off_session: one });
const always = (one: CardDecline): TestCard['declines'] => ({ attach: one, ...whenCharged(one) });

/** Stripe's test cards, https://docs.stripe.com/testing, with the names of their ready-made methods and tokens. */
const CARDS: Readonly<Record<string, TestCard>> = {
  '4242424242424242': { names: ['pm_card_visa', 'tok_visa'], brand: 'visa', declines: {} },
  '5555555555554444': { names: ['pm_card_mastercard', 'tok_mastercard'], brand: 'mastercard', declines: {} },
  '4000000000000002': {
    names: ['pm_card_visa_chargeDeclined', 'pm_card_chargeDeclined', 'tok_chargeDeclined'],
    brand: 'visa',
    declines: always(GENERIC),
  },
  '4000000000009995': {
    names: [
      'pm_card_visa_chargeDeclinedInsufficientFunds',
      'pm_card_chargeDeclinedInsufficientFunds',
      'tok_chargeDeclinedInsufficientFunds',
    ],
    brand: 'visa',
    declines: always(NO_FUNDS),
  },
  '4000000000000069': {
    names: ['pm_card_chargeDeclinedExpiredCard', 'tok_chargeDeclinedExpiredCard'],
    brand: 'visa',
    declines: always(decline('expired_card', 'Your card has expired.')),
  },
  '4000000000000341': { names: ['pm_card_chargeCustomerFail', 'tok_chargeCustomerFail'], brand: 'visa', declines: whenCharged(GENERIC) },
  '4000002760003184': {
    names: ['pm_card_authenticationRequired', 'tok_authenticationRequired'],
    brand: 'visa',
    declines: { off_session: AUTHENTICATION },
  },
  // Not one of Stripe's: pays on the page, and has no funds when it is charged later.
  '4000000000099995': { names: ['pm_card_insufficientFundsLater'], brand: 'visa', declines: { off_session: NO_FUNDS } },
};

/** The number of a test card, from the number, a ready-made method or a token. */
export function testCard(name: string): string {
  const digits = name.replaceAll(/[\s-]/g, '');
  const number = Object.keys(CARDS).find((one) => one === digits || CARDS[one]?.names.includes(name));
  if (number === undefined) throw invalid(`No such PaymentMethod: '${name}'`, { code: 'resource_missing', param: 'payment_method' });
  return number;
}

/** The number is its own fingerprint: it is how a card is recognised later. */
export const cardOf = (number: string): Stripe.PaymentMethod.Card => ({
  brand: CARDS[number]?.brand ?? 'visa',
  checks: { address_line1_check: null, address_postal_code_check: null, cvc_check: 'pass' },
  country: 'US',
  display_brand: CARDS[number]?.brand ?? 'visa',
  exp_month: 12,
  exp_year: 2034,
  fingerprint: number,
  funding: 'credit',
  generated_from: null,
  last4: number.slice(-4),
  networks: null,
  regulated_status: 'unregulated',
  three_d_secure_usage: { supported: true },
  wallet: null,
});

export const declineOf = (method: FakePaymentMethod, moment: Moment): CardDecline | undefined =>
  CARDS[method.card?.fingerprint ?? '']?.declines[moment];
