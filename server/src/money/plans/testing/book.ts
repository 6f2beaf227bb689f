import type { PaymentProvider } from '../../../adapters/payment/port.ts';
import { DEFAULT_OFFER } from '../default-offer.ts';
import { createPlanBook, planOfSeller } from '../plan-book.ts';
import { type AccountPlansDeps, createAccountPlans, createPlans, type PaymentsDeps } from '../plans.ts';

/** The tiers of the interface. */
export const BOOK = createPlanBook(DEFAULT_OFFER, { isSelling: true });
/** Seals invoices for a log that nobody writes. */
export const SEAL_KEY = Buffer.alloc(32);
export const planOf = (ref: string) => BOOK.of(ref);

type Deps = Pick<AccountPlansDeps, 'pool' | 'clock'> &
  Partial<Pick<AccountPlansDeps, 'lanes' | 'write'>> &
  Omit<PaymentsDeps, 'canBuyReal'> & { readonly provider: PaymentProvider };

/** Of a gateway that sells over the provider, with a ledger that nobody writes to. */
export const sellingPlans = ({ pool, clock, lanes = { refreshCredit: async () => {} }, write = async () => {}, ...payments }: Deps) =>
  createPlans(
    createAccountPlans({
      ...{ pool, clock, lanes, write, sealKey: SEAL_KEY },
      ...{ livemode: payments.provider.livemode, book: BOOK, planOfAccount: planOfSeller(BOOK) },
    }),
    { ...payments, canBuyReal: true },
  );
