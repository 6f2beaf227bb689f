import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InvoicePayload, InvoiceResponse } from '@tallygate/contract';
import { type FakeUpstream, startFakeUpstream, steps } from '@tallygate/fake-upstream';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Terminal } from '../../cli/testing/terminal.ts';
import { Account } from './account.ts';
import { ask, HELLO, header, MODEL } from './chat.ts';
import { Gateway } from './gateway.ts';
import { openLedgerAudit } from './ledger-audit.ts';
import { forgeInvoice } from './testing/false-invoice.ts';
import { otherVerifiers } from './testing/other-verifiers.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.now();
const LATER_MS = NOW_MS + 32 * DAY_MS;
const MONTH = new Date(NOW_MS).toISOString().slice(0, 7);
const PATIENCE = { timeout: 60_000, interval: 100 };

/** 10 tokens in and 8 out at 0.15 and 0.60 USD a million: one request is covered, and half of the next one. */
const COST = 6_300;
const TOKENS = 18;
const SMALL = {
  ...{ plan_id: 'small', version: 1, name: 'Small', monthly_price_usd: '0', for_sale: false },
  quota: { requests: null, tokens: TOKENS * 1.5, images: 0, audio_seconds: 0, video_seconds: 0 },
  overage: { policy: 'invoice', ceiling_usd: '1' },
  rate_limits: { requests_per_minute: null, tokens_per_minute: null, concurrency: null },
  features: ['receipts', 'invoicing'],
};
const FREE = { ...SMALL, plan_id: 'free', name: 'Free', overage: { policy: 'block', ceiling_usd: null } };

/** A customer with what they keep of a gateway. */
interface Customer {
  readonly accountId: string;
  readonly live: string;
  readonly test: string;
  readonly terminal: Terminal;
  /** The ids of the receipts of their live requests, in the order of these. */
  readonly receiptIds: string[];
}

const logSeed = randomBytes(32);
/** What the customer exported, for the verifiers in other languages. */
let honest: readonly string[] = [];
let dishonest: readonly string[] = [];
let folder: string;
let upstream: FakeUpstream;
let gateway: Gateway;
let client: pg.Client;
/** Whose invoice is what it is, and two whose invoices the operator forges: before the log has them, and afterwards. */
let customer: Customer;
let overcharged: Customer;
let replaced: Customer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tallygate-invoice-'));
  const plans = join(folder, 'plans.json');
  writeFileSync(plans, JSON.stringify({ default: 'free', plans: [FREE, SMALL] }));
  upstream = await startFakeUpstream();
  const env = { LOG_SIGNING_KEY: logSeed.toString('base64'), PLANS_FILE: plans };
  gateway = await Gateway.start({ providers: [{ name: 'house', base_url: upstream.url, models: [MODEL] }], env, frozenAtMs: NOW_MS });
  client = new pg.Client({ connectionString: gateway.databaseUrl });
  await client.connect();
  [customer, overcharged, replaced] = [await signUp(), await signUp(), await signUp()];
  for (const one of [customer, overcharged, replaced]) await useTheMonth(one);
  await receiptsInLog();
  await endTheMonth();
});
afterAll(async () => {
  await client?.end();
  await gateway?.remove();
  await upstream?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function signUp(): Promise<Customer> {
  const account = await Account.signUp(gateway, { plan: 'small' });
  const keyOf = async (livemode: boolean) => (await account.createKey({ scopes: ['inference', 'account:read'], livemode })).key;
  // The gateway has another address after the month.
  const address = {
    get baseUrl() {
      return gateway.url;
    },
  };
  const terminal = new Terminal(address, () => new Date(LATER_MS));
  return { accountId: account.accountId, live: await keyOf(true), test: await keyOf(false), terminal, receiptIds: [] };
}

/** Covered, covered by half, charged, and waived in part; and one of the sandbox. */
async function useTheMonth({ live, test: sandbox, receiptIds }: Customer): Promise<void> {
  const asking = async (key: string, body: object = HELLO) => {
    const answer = await ask(gateway, key, body);
    expect(answer.status).toBe(200);
    return header(answer, 'x-receipt-id');
  };
  for (let count = 0; count < 3; count += 1) receiptIds.push(await asking(live));
  upstream.script(steps.usage({ completion_tokens: 5_000, total_tokens: 5_010 }));
  receiptIds.push(await asking(live, { ...HELLO, max_tokens: 16 }));
  await asking(sandbox);
}

const receiptsInLog = () =>
  vi.waitFor(async () => {
    const { rows } = await client.query('select count(*)::int as receipts, count(log_index)::int as logged from receipts');
    expect(rows).toEqual([{ receipts: 15, logged: 15 }]);
  }, PATIENCE);

/** As months end for the gateway: its clock is beyond it. The log waits until the operator has looked. */
async function endTheMonth(): Promise<void> {
  await gateway.stop();
  await client.query("insert into receipt_log_stops (reason, stopped_at) values ('the operator cheats', now())");
  {
    await using ledger = await openLedgerAudit(gateway);
    await ledger.forgetTimers();
  }
  gateway.freezeAt(LATER_MS);
  await gateway.start();
  await vi.waitFor(async () => {
    const { rows } = await client.query('select count(*)::int as issued from signed_invoices');
    expect(rows).toEqual([{ issued: 6 }]);
  }, PATIENCE);
  await forgeInvoice(client, { accountId: overcharged.accountId, logSeed, changes: dearer });
  await client.query('delete from receipt_log_stops');
  await vi.waitFor(async () => {
    const { rows } = await client.query("select from log_documents where kind = 'invoice' and log_index is null");
    expect(rows).toEqual([]);
  }, PATIENCE);
  await forgeInvoice(client, { accountId: replaced.accountId, logSeed, changes: dearer });
}

/** A cent more was used and is owed than the receipts say; its own figures agree. */
function dearer({ months, ...invoice }: InvoicePayload): Partial<InvoicePayload> {
  const more = (amount: string) => `${BigInt(amount) + 10_000_000n}`;
  return {
    total_nano_usd: more(invoice.total_nano_usd),
    by_invoice_nano_usd: more(invoice.by_invoice_nano_usd),
    due_nano_usd: more(invoice.due_nano_usd),
    months: months.map((month) => ({
      ...month,
      used_nano_usd: more(month.used_nano_usd),
      cost_nano_usd: more(month.cost_nano_usd),
      by_invoice_nano_usd: more(month.by_invoice_nano_usd),
    })),
  };
}

const typing =
  ({ terminal, live }: Customer) =>
  (...argv: string[]) =>
    terminal.type(argv, { apiKey: live });

/** What the customer exports: as files that every verifier reads. */
async function exported(one: Customer): Promise<readonly string[]> {
  const type = typing(one);
  await type('receipts', 'keys');
  await type('invoices', 'get', MONTH, '-o', 'invoice.json');
  await type('receipts', 'export', '--month', MONTH, '-o', 'receipts.jsonl');
  const keys = await (await fetch(`${gateway.url}/.well-known/vaas-keys.json`)).text();
  one.terminal.files.set('keys.json', keys);
  return ['keys.json', 'invoice.json', 'receipts.jsonl'].map((name) => {
    const path = join(folder, `${one.accountId}-${name}`);
    writeFileSync(path, one.terminal.files.get(name) ?? '');
    return path;
  });
}

describe('the invoice of a month', () => {
  test('follows from its receipts: covered, charged, waived, of the sandbox', async () => {
    const files = await exported(customer);
    const type = typing(customer);
    const { payload }: InvoiceResponse = JSON.parse(customer.terminal.files.get('invoice.json') ?? '{}');
    const lines = (customer.terminal.files.get('receipts.jsonl') ?? '').trimEnd().split('\n').slice(1, -1);
    const payloads = new Map(lines.map((line) => JSON.parse(line).payload).map((said) => [said.receipt_id, said]));
    const receipts = customer.receiptIds.map((id) => payloads.get(id));
    const waived = receipts.at(-1);
    expect(receipts.map(({ payment }) => [payment.covered, payment.charged_nano_usd])).toEqual([
      [{ requests: 1, tokens: TOKENS }, '0'],
      [{ requests: 1, tokens: TOKENS / 2 }, `${COST / 2}`],
      [{}, `${COST}`],
      [{}, waived.cost_nano_usd],
    ]);
    expect(Number(waived.waived_nano_usd)).toBeGreaterThan(0);
    const charged = BigInt(COST / 2 + COST) + BigInt(waived.cost_nano_usd);
    expect(payload).toMatchObject({
      ...{ month: MONTH, total_nano_usd: `${charged}`, by_invoice_nano_usd: `${charged}` },
      months: [{ charges: 4, covered: { requests: 2, tokens: TOKENS * 1.5 }, covered_nano_usd: `${COST * 1.5}` }],
    });

    expect(await type('invoices', 'verify', MONTH, '--require-log')).toMatchObject({ exitCode: 0, stdout: /^valid/ });
    expect(await type('invoices', 'verify', MONTH, '--test', '--require-log')).toMatchObject({ exitCode: 0 });
    const offline = ['invoice.json', '--export', 'receipts.jsonl', '--keys', 'keys.json', '--offline'];
    expect(await type('invoices', 'verify', ...offline)).toMatchObject({ exitCode: 0 });
    honest = files;
  });

  for (const { language, isMissing, verify } of otherVerifiers())
    test.skipIf(isMissing)(`follows from them for the verifier in ${language}`, async () => {
      expect(await verify(...honest)).toEqual({ isValid: true, said: 'valid\n' });
    });
});

describe('an operator with the database and all keys bills a cent more, which', () => {
  test('is noticed by the customer alone, where the log has the false invoice and no other', async () => {
    const files = await exported(overcharged);
    const type = typing(overcharged);
    const { log }: InvoiceResponse = JSON.parse(overcharged.terminal.files.get('invoice.json') ?? '{}');
    expect(log.state).toBe('logged');
    const { exitCode, stdout } = await type('invoices', 'verify', MONTH, '--require-log');
    expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: expect.stringContaining('(invoice_mismatch)') });
    dishonest = files;
  });

  for (const { language, isMissing, verify } of otherVerifiers())
    test.skipIf(isMissing)(`is noticed by the verifier in ${language} too`, async () => {
      expect(await verify(...dishonest)).toEqual({ isValid: false, said: expect.stringContaining('invoice_mismatch') });
    });

  test('is noticed by the customer alone, where the log has the honest invoice', async () => {
    const type = typing(replaced);
    await type('receipts', 'keys');
    const { exitCode, stdout } = await type('invoices', 'verify', MONTH);
    expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: expect.stringContaining('(not_in_log)') });
  });
});
