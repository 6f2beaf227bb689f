import { type CreateKeyRequest, KeyCreatedResponse, RequestTrace, UsageResponse, UserResponse } from '@tallygate/contract';
import { expect, vi } from 'vitest';
import type * as z from 'zod';
import type { Gateway } from './gateway.ts';
import { openLedgerAudit } from './ledger-audit.ts';

const PASSWORD = 'seven grey herons at dawn';
let accounts = 0;

type KeyOrder = Partial<z.input<typeof CreateKeyRequest>>;

/** Someone who signed up, with what they may do over the API. */
export class Account {
  readonly accountId: string;
  readonly #gateway: Gateway;
  readonly #session: string;

  private constructor(gateway: Gateway, { account_id: accountId, session }: UserResponse) {
    if (!session) throw new Error('The login answer carries no session');
    this.#gateway = gateway;
    this.accountId = accountId;
    this.#session = session.token;
  }

  /** @param plan granted to the account before its first request: a gateway that sells nothing has no plan limits otherwise */
  static async signUp(gateway: Gateway, { plan = 'free' }: { plan?: string } = {}): Promise<Account> {
    accounts += 1;
    const email = `customer-${accounts}@example.com`;
    const secret = { 'x-internal-secret': gateway.bootstrap.internal_secret };
    const created = UserResponse.parse(await post(gateway, '/v1/users', { email, password: PASSWORD }, secret, 201));
    await using ledger = await openLedgerAudit(gateway);
    await ledger.setPlan(created.account_id, plan);
    return new Account(gateway, UserResponse.parse(await post(gateway, '/v1/users/login', { email, password: PASSWORD }, {}, 200)));
  }

  get session(): Record<string, string> {
    return { authorization: `Bearer ${this.#session}` };
  }

  async createKey(order: KeyOrder = {}): Promise<KeyCreatedResponse> {
    const body = { name: 'acceptance', scopes: ['inference', 'account:read', 'keys:write'], ...order };
    return KeyCreatedResponse.parse(await post(this.#gateway, '/v1/keys', body, this.session, 201));
  }

  async rotate(keyId: string, graceSeconds: number): Promise<KeyCreatedResponse> {
    const body = { grace_seconds: graceSeconds };
    return KeyCreatedResponse.parse(await post(this.#gateway, `/v1/keys/${keyId}/rotate`, body, this.session, 200));
  }

  async revoke(keyId: string): Promise<void> {
    const { status } = await fetch(`${this.#gateway.url}/v1/keys/${keyId}`, { method: 'DELETE', headers: this.session });
    expect(status).toBe(204);
  }

  /** What `/v1/usage` says now; it follows the answers by a moment. */
  async usage(query: Readonly<Record<string, string>> = {}): Promise<UsageResponse> {
    const answer = await fetch(`${this.#gateway.url}/v1/usage?${new URLSearchParams(query)}`, { headers: this.session });
    return UsageResponse.parse(await answer.json());
  }

  /** The trace of a request, as soon as it is settled. */
  trace(requestId: string): Promise<RequestTrace> {
    return vi.waitFor(
      async () => {
        const answer = await fetch(`${this.#gateway.url}/v1/requests/${requestId}`, { headers: this.session });
        return RequestTrace.parse(await answer.json());
      },
      { timeout: 120_000, interval: 20 },
    );
  }
}

async function post(gateway: Gateway, path: string, body: object, headers: Record<string, string>, expected: number): Promise<unknown> {
  const answer = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const answered: unknown = await answer.json();
  if (answer.status !== expected) throw new Error(`POST ${path} answered ${answer.status}: ${JSON.stringify(answered)}`);
  return answered;
}
