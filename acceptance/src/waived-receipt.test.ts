import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FakeUpstream, startFakeUpstream } from '@tallygate/fake-upstream';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Terminal } from '../../cli/testing/terminal.ts';
import { Account } from './account.ts';
import { ask, HELLO, header, MODEL } from './chat.ts';
import { Gateway } from './gateway.ts';
import { admin } from './operator.ts';
import { otherVerifiers } from './testing/other-verifiers.ts';

const PATIENCE = { timeout: 60_000, interval: 100 };
/** 10 tokens in and 8 out at 0.15 and 0.60 USD a million; the cap lets half of it through. */
const COST = 6_300n;
const CAP_USD = '0.000003';

let upstream: FakeUpstream;
let gateway: Gateway;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tallygate-waived-'));
  upstream = await startFakeUpstream();
  gateway = await Gateway.start({ process: 'shared', providers: [{ name: 'house', base_url: upstream.url, models: [MODEL] }] });
});
afterAll(async () => {
  await gateway?.remove();
  await upstream?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The ledger refuses what it is given meanwhile, so that it is set aside and settled late. */
async function whileTheLedgerRefuses(work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: gateway.databaseUrl });
  await client.connect();
  try {
    await client.query(
      `create function refuse() returns trigger language plpgsql as 'begin raise exception ''refused''; end';
       create trigger refuse before insert on postings for each row execute function refuse()`,
    );
    await work(client);
    await client.query('drop function refuse() cascade');
  } finally {
    await client.end();
  }
}

test('a receipt waived in part names its price entry, and its export is in order', async () => {
  const account = await Account.signUp(gateway, { plan: 'enterprise' });
  const { key, key_id } = await account.createKey();
  let receiptId = '';
  await whileTheLedgerRefuses(async () => {
    receiptId = header(await ask(gateway, key, HELLO), 'x-receipt-id');
    await vi.waitFor(async () => expect((await admin(['quarantine'], gateway.places)).stdout).toContain(receiptId), PATIENCE);
  });
  const capped = await fetch(`${gateway.url}/v1/keys/${key_id}/budget`, {
    method: 'PATCH',
    headers: { ...account.session, 'content-type': 'application/json' },
    body: JSON.stringify({ monthly_cap_usd: CAP_USD }),
  });
  expect(capped.status).toBe(200);
  // The lanes learn of a cap by the next request.
  expect((await ask(gateway, key, HELLO)).status).toBe(402);
  expect(await admin(['quarantine', 'replay'], gateway.places)).toMatchObject({ exitCode: 0 });

  const receipt = await vi.waitFor(async () => {
    const found = await (await fetch(`${gateway.url}/v1/receipts/${receiptId}`)).json();
    expect(found).toMatchObject({ log: { state: 'logged' } });
    return found;
  }, PATIENCE);
  expect(receipt).toMatchObject({
    payload: { cost_nano_usd: '3000', waived_nano_usd: `${COST - 3_000n}`, price_entry: { index: expect.any(Number) } },
    price: { declaration: { model: MODEL } },
  });

  const terminal = new Terminal({ baseUrl: gateway.url });
  const type = (...argv: string[]) => terminal.type(argv, { apiKey: key });
  await type('receipts', 'keys');
  await type('receipts', 'export', '--month', new Date().toISOString().slice(0, 7), '-o', 'all.jsonl');
  expect(await type('receipts', 'verify', 'all.jsonl')).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('0.000003 USD') });

  const [keys, file] = [join(folder, 'keys.json'), join(folder, 'all.jsonl')];
  writeFileSync(keys, await (await fetch(`${gateway.url}/.well-known/vaas-keys.json`)).text());
  writeFileSync(file, terminal.files.get('all.jsonl') ?? '');
});

for (const { language, isMissing, verify } of otherVerifiers())
  test.skipIf(isMissing)(`the verifier in ${language} finds that export in order`, async () => {
    const files = ['keys.json', 'all.jsonl'].map((name) => join(folder, name));
    expect(await verify(...files)).toMatchObject({ isValid: true });
  });
