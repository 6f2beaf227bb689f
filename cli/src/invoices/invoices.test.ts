import { type StubGateway, startStubGateway } from '@tallygate/sdk/testing/stub-gateway';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Terminal } from '../../testing/terminal.ts';
import { keySet, readVector } from '../../testing/vectors.ts';

let gateway: StubGateway;
let terminal: Terminal;
beforeEach(async () => {
  gateway = await startStubGateway();
  terminal = new Terminal(gateway);
  terminal.files.set('keys.json', keySet);
});
afterEach(() => gateway[Symbol.asyncDispose]());

interface Bill {
  readonly invoice: { readonly id: string; readonly payload: { readonly month: string } };
  readonly exports: readonly (readonly string[])[];
}
const billOf = (name: string) => readVector(`invoices/${name}`) as unknown as Bill;
const itemOf = ({ invoice }: Bill) => ({
  ...{ object: 'invoice.item', id: invoice.id, month: invoice.payload.month, livemode: true, sequence: 1, receipts: 4 },
  ...{ cost_usd: '0.000768', covered_usd: '0.000576', total_usd: '0.000192', due_usd: '0' },
  ...{ issued_at: '2026-12-01T01:00:00.000Z', log_index: null },
});
const listOf = (...bills: readonly Bill[]) => ({ json: { data: bills.map(itemOf), has_more: false, next_cursor: null } });

/** Puts the files of a vector where the terminal finds them. */
function given(name: string): string[] {
  const { invoice, exports } = billOf(name);
  terminal.files.set('invoice.json', JSON.stringify(invoice));
  return exports.flatMap((lines, at) => {
    terminal.files.set(`export-${at}.jsonl`, lines.join('\n'));
    return ['--export', `export-${at}.jsonl`];
  });
}
const verify = (...argv: readonly string[]) =>
  terminal.type(['invoices', 'verify', 'invoice.json', '--keys', 'keys.json', ...argv], { isTty: true });

describe('invoices verify FILE', () => {
  it('recomputes the invoice from an export, offline', async () => {
    const { stdout, exitCode } = await verify(...given('quota-and-balance'));
    expect(stdout.split('\n')).toEqual([
      'valid',
      'Invoice              2026-11, number 1 (7f0c1a52-7d3b-4e0f-9a86-2b1f6c3d4e5f)',
      'Receipts             1 to 4 of 2026-11',
      'Used                 0.001152 USD',
      'Corrected            0 USD',
      'Refunded             0.000384 USD',
      'Cost                 0.000768 USD',
      'Covered by the plan  0.000576 USD',
      'From the balance     0.000192 USD',
      'By invoice           0 USD',
      'Due                  0 USD',
      'Log                  pending',
      '',
    ]);
    expect(exitCode).toBe(0);
    expect(gateway.requests).toEqual([]);
  });

  it('requires the witnesses that were stored, or that are named, as other commands do', async () => {
    const argv = given('quota-and-balance');
    const witness = 'witness.example+b1a55f7d+BNVHQXF2ENV2pNDHvEHfwcDOUeMGVKzy0+qZ5ehtnM0d';
    const { stdout, stderr, exitCode } = await verify(...argv, '--witness', witness);
    expect([exitCode, stdout]).toEqual([3, expect.stringContaining('(too_few_witnesses)')]);
    expect(stderr).toContain('Cosignatures follow an entry of the log by seconds');
    expect(await verify(...argv, '--witness', witness, '--no-witnesses')).toMatchObject({ exitCode: 0 });
  });

  it('shows a meter with charges and unused quota', async () => {
    const { stdout } = await verify(...given('quota-withheld'));
    expect(stdout).toContain('\nSomething was charged, and no meter of the plan’s quota is used up: ');
  });

  it.each([
    ['false-total', 'used_nano_usd is 1152001 on the invoice, the receipts come to 1152000'],
    ['quota-withheld', '(quota_mismatch)'],
    ['receipt-left-out', '1 of the receipts 1 to 4 that the invoice counts are not in the export'],
    ['due-not-in-cents', '(invoice_inconsistent)'],
  ])('exits with 3 and says why where it is a %s', async (name, said) => {
    const { stdout, exitCode } = await verify(...given(name));
    expect(stdout).toMatch(/^not valid/);
    expect(stdout).toContain(said);
    expect(exitCode).toBe(3);
  });

  it('exits with 6 where the receipts of a month are not at hand', async () => {
    const { stdout, exitCode } = await verify(...given('without-export'));
    expect(stdout).toMatch(/^cannot be checked: no receipts of 2026-11 were given\n/);
    expect(exitCode).toBe(6);
  });

  it('exits with 6 where prices are not at hand, and nothing else is wrong', async () => {
    terminal.files.set('prices.json', JSON.stringify({ prices: {} }));
    const { stdout, exitCode } = await verify(...given('quota-and-balance'), '--prices', 'prices.json');
    expect([exitCode, stdout]).toEqual([6, expect.stringMatching(/^cannot be checked: the prices of 4 receipts are not at hand\n/)]);
    expect((await verify(...given('false-total'), '--prices', 'prices.json')).exitCode).toBe(3);
  });

  it('refuses an invoice of another account than the one that is named', async () => {
    const { stdout, exitCode } = await verify(...given('quota-and-balance'), '--account', billOf('quota-and-balance').invoice.id);
    expect([exitCode, stdout]).toEqual([3, expect.stringContaining('foreign_invoice')]);
  });

  it('answers scripts in JSON', async () => {
    const argv = given('false-total');
    const { stdout } = await terminal.type(
      ['invoices', 'verify', 'invoice.json', '--keys', 'keys.json', ...argv, '--json', 'valid,faults'],
      {},
    );
    expect(JSON.parse(stdout)).toMatchObject({ valid: false, faults: [{ code: 'invoice_mismatch' }, {}, {}] });
  });
});

describe('invoices verify MONTH', () => {
  const bill = billOf('quota-and-balance');
  const next = billOf('given-back-after-its-invoice');
  const asked = () => gateway.requests.map(({ path, query }) => `${path} ${JSON.stringify(query)}`);

  it('fetches the invoice, those before it and the receipts of every month that it counts', async () => {
    gateway.script(
      { json: next.invoice },
      listOf(next, bill),
      { json: bill.invoice },
      { json: next.invoice },
      ...next.exports.map((lines) => ({ text: lines.join('\n') })),
    );
    const { stdout, exitCode } = await terminal.type(['invoices', 'verify', '2026-12', '--keys', 'keys.json', '--live'], {
      isTty: true,
      apiKey: 'tg_test_secret',
    });
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^valid\nInvoice +2026-12, number 2 /)]);
    expect(asked().slice(0, 1)).toEqual(['/v1/invoices/2026-12 {"livemode":"true"}']);
    expect(asked().slice(-2)).toEqual([
      '/v1/receipts/export {"month":"2026-12","livemode":"true"}',
      '/v1/receipts/export {"month":"2026-11","livemode":"true"}',
    ]);
  });

  it('exits with 3 where an invoice before it was left out', async () => {
    gateway.script(
      { json: next.invoice },
      listOf(next),
      { json: next.invoice },
      ...next.exports.map((lines) => ({ text: lines.join('\n') })),
    );
    const { stdout, exitCode } = await terminal.type(['invoices', 'verify', '2026-12', '--keys', 'keys.json', '--live'], {
      isTty: true,
      apiKey: 'tg_test_secret',
    });
    expect([exitCode, stdout]).toEqual([3, expect.stringContaining('one was left out. (broken_chain)')]);
  });
});

describe('invoices list and get', () => {
  const bill = billOf('quota-and-balance');

  it('shows a line for each month', async () => {
    gateway.script(listOf(bill));
    const { stdout, exitCode } = await terminal.type(['invoices', 'list', '--test']);
    expect(stdout).toContain(`2026-11\t${bill.invoice.id}\t4\t0.000768\t0.000576\t0.000192\t0\tpending\n`);
    expect(exitCode).toBe(0);
    expect(gateway.requests[0]?.query).toEqual({ limit: '51', livemode: 'false' });
  });

  it('writes one to a file as it is', async () => {
    gateway.script({ json: bill.invoice });
    const { stderr } = await terminal.type(['invoices', 'get', '2026-11', '-o', 'invoice.json']);
    expect(stderr).toBe('Wrote invoice.json.\n');
    expect(JSON.parse(terminal.files.get('invoice.json') ?? '')).toEqual(bill.invoice);
  });
});
