import type { KeyBudgetStatusResponse } from './generated/models.ts';
import { Budgets as Generated } from './generated/resources.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';

/** `tallygate.budgets`: hard monthly caps of API keys. */
export class Budgets extends Generated {
  /** Takes the cap away; the alert thresholds stay for the next one. */
  clear(keyId: string, options?: CallOptions): Call<KeyBudgetStatusResponse> {
    return this.set(keyId, { monthly_cap_usd: null }, options);
  }
}
