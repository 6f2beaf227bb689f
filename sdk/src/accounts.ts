import type { AccountListResponse, AccountPlanRequest, AccountResponse } from './generated/models.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import { CursorCall } from './transport/cursor-call.ts';
import { pathStep } from './transport/path.ts';
import type { Transport } from './transport/transport.ts';

export interface AccountQuery {
  /** Only the account of this address. */
  readonly email?: string | undefined;
  /** Id of the last account of the page before. */
  readonly after?: string | undefined;
  /** 1 to 200; default 50. */
  readonly limit?: number | undefined;
}

/** `tallygate.accounts`: the accounts of the gateway, and the plans that they are given; for administrators. */
export class Accounts {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Accounts, newest first: the page that was asked for, or all from there on with `for await`. */
  list(query: AccountQuery = {}, options?: CallOptions): CursorCall<AccountListResponse, AccountResponse> {
    const fetchPage = (after: string | undefined) =>
      this.#transport
        .json<AccountListResponse>({ method: 'GET', path: '/v1/admin/accounts', query: { ...query, after } }, options)
        .withResponse();
    return new CursorCall(fetchPage(query.after), fetchPage);
  }

  /** One account, with its plan and what it was given. */
  get(accountId: string, options?: CallOptions): Call<AccountResponse> {
    return this.#transport.json({ method: 'GET', path: `/v1/admin/accounts/${pathStep(accountId)}` }, options);
  }

  /** Gives an account a plan without a payment; `plan_id: null` takes back what was given. */
  setPlan(accountId: string, request: AccountPlanRequest, options?: CallOptions): Call<AccountResponse> {
    return this.#transport.json({ method: 'PUT', path: `/v1/admin/accounts/${pathStep(accountId)}/plan`, body: request }, options);
  }
}
