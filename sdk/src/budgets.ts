import type {
  KeyBudgetAlertHistoryResponse,
  KeyBudgetHistoryResponse,
  KeyBudgetStatusResponse,
  KeyBudgetSummaryResponse,
  KeyBudgetUpdateRequest,
} from './generated/models.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import { pathStep } from './transport/path.ts';
import type { Transport } from './transport/transport.ts';

/** `tallygate.budgets`: hard monthly caps of API keys. */
export class Budgets {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Where every key of the account stands this month, revoked ones included. */
  summary(options?: CallOptions): Call<KeyBudgetSummaryResponse> {
    return this.#transport.json({ method: 'GET', path: '/v1/keys/budget-summary' }, options);
  }

  /** What the key has spent this month, what running requests hold, and what is left. */
  get(keyId: string, options?: CallOptions): Call<KeyBudgetStatusResponse> {
    return this.#transport.json({ method: 'GET', path: budgetPath(keyId) }, options);
  }

  /** Sets or changes the cap, and the alert thresholds where they are given. In effect when this resolves; elsewhere within a second. */
  set(keyId: string, request: KeyBudgetUpdateRequest, options?: CallOptions): Call<KeyBudgetStatusResponse> {
    return this.#transport.json({ method: 'PATCH', path: budgetPath(keyId), body: request }, options);
  }

  /** Takes the cap away; the alert thresholds stay for the next one. */
  clear(keyId: string, options?: CallOptions): Call<KeyBudgetStatusResponse> {
    return this.set(keyId, { monthly_cap_usd: null }, options);
  }

  /** Who changed the budget, from what to what; newest first. */
  history(keyId: string, options?: CallOptions): Call<KeyBudgetHistoryResponse> {
    return this.#transport.json({ method: 'GET', path: `${budgetPath(keyId)}/history` }, options);
  }

  /** The thresholds that were reached, each at most once a month; newest first. */
  alerts(keyId: string, options?: CallOptions): Call<KeyBudgetAlertHistoryResponse> {
    return this.#transport.json({ method: 'GET', path: `${budgetPath(keyId)}/alerts` }, options);
  }
}

const budgetPath = (keyId: string): string => `/v1/keys/${pathStep(keyId)}/budget`;
