import type { Pool } from 'pg';
import { createSandboxPayments } from '../../../adapters/payment/sandbox/index.ts';
import { openPool } from '../../../adapters/postgres/database.ts';
import { newId } from '../../../kernel/ids.ts';
import { silentLog } from '../../../kernel/log.ts';
import { DEFAULT_OFFER } from '../default-offer.ts';
import { createPlanBook, planOfOperator, planOfSeller } from '../plan-book.ts';
import { createAccountPlans, createPlans } from '../plans.ts';
import type { OnPurchase } from '../sync-payment.ts';
import { recordBySystem, type Trail } from '../tell.ts';
import { SEAL_KEY } from './book.ts';

const BEGINNING = Date.UTC(2026, 10, 21, 8);
const NO_LANES = { refreshCredit: async () => {} };
const TO = { successUrl: undefined, cancelUrl: undefined };

interface Options {
  readonly pool: Pool;
  readonly url: string;
  readonly onPurchase?: OnPurchase;
  /** Of a gateway on which nothing is real. */
  readonly canBuyReal?: boolean;
}

/** Plans of a gateway without a payment provider: live ones that are given, and those that the payment sandbox sells. */
export async function sandboxUnderTest({ pool, url, onPurchase, canBuyReal = false }: Options) {
  let now = BEGINNING;
  const clock = { now: () => now };
  const log = silentLog();
  const book = createPlanBook(DEFAULT_OFFER, { isSelling: false });
  const common = { clock, book, lanes: NO_LANES, write: async () => {}, sealKey: SEAL_KEY };
  const live = createAccountPlans({ ...common, pool, livemode: true, planOfAccount: planOfOperator });
  const testPool = openPool({ url, log, poolSize: 3, searchPath: 'test_billing,public' });
  const accounts = createAccountPlans({ ...common, pool: testPool, livemode: false, planOfAccount: planOfSeller(book) });
  let receive: ((rawBody: Buffer, signature: string) => Promise<void>) | undefined;
  const sandbox = await createSandboxPayments({
    ...{ pool, clock, log, publicUrl: () => 'https://gateway.example' },
    deliver: async (rawBody, signature) => receive?.(rawBody, signature),
  });
  const { provider } = sandbox;
  const paying = createPlans(accounts, {
    ...{ provider, log, publicUrl: () => 'https://gateway.example', canBuyReal },
    ...(onPurchase && { onPurchase }),
  });
  receive = paying.events.receive;
  await paying.provision();

  return {
    ...{ pool, clock, live, paying, sandbox, provider },
    advance: async (days: number) => {
      now += days * 86_400_000;
      await sandbox.tick();
    },
    /** Presses a button of a hosted page, and lets the sandbox tell what came of it. */
    press: async (pageUrl: string | null, form: Record<string, string>) => {
      if (pageUrl === null) return;
      await sandbox.pages.serve('POST', new URL(pageUrl).pathname, new URLSearchParams(form).toString());
      await sandbox.tick();
    },
    to: TO,
    close: async () => {
      await provider.close();
      await testPool.end();
    },
  };
}

export type SandboxUnderTest = Awaited<ReturnType<typeof sandboxUnderTest>>;

/** An account with a user. */
export async function newAccount(pool: Pool) {
  const [accountId, userId] = [newId(), newId()];
  await pool.query("insert into accounts (id, name, created_at) values ($1, 'Ada', now())", [accountId]);
  await pool.query("insert into users (id, account_id, email, role, password_hash, created_at) values ($1, $2, $3, 'member', '', now())", [
    ...[userId, accountId, `${userId}@example.com`],
  ]);
  const trail: Trail = (unit, deed) => recordBySystem(unit, accountId, deed);
  return { accountId, userId, trail };
}
