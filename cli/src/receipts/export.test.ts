import { once } from 'node:events';
import { createServer } from 'node:http';
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

const { receipt } = readVector('good/logged') as { receipt: { id: string; log: { checkpoint: string }; payload: Record<string, unknown> } };
const header = {
  object: 'receipt_export',
  version: 'tallygate-export/v1',
  month: '2026-11',
  livemode: true,
  created_at: '2026-12-01T00:00:00.000Z',
  checkpoint: receipt.log.checkpoint,
  keys: [],
};
const linesOf = (...values: object[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join('');
const whole = linesOf(header, receipt, { object: 'receipt_export.end', receipts: 1, logged: 1 });

describe('receipts list', () => {
  const item = {
    object: 'receipt.item',
    id: receipt.id,
    kind: 'usage',
    request_id: 'req_1',
    endpoint: '/v1/chat/completions',
    model: 'gpt-4o-mini',
    run_id: null,
    livemode: true,
    outcome: 'completed',
    cost_usd: '0.000384',
    refund_of: null,
    started_at: '2026-11-21T08:00:00.000Z',
    completed_at: '2026-11-21T08:00:01.250Z',
    log_index: null,
  };

  it('shows a line each, filtered as asked', async () => {
    gateway.script({ json: { data: [item], has_more: false, next_cursor: null } });
    const argv = ['receipts', 'list', '--month', '2026-11', '--kind', 'usage', '--run', 'nightly', '--test'];
    const { stdout, exitCode } = await terminal.type(argv);
    expect(stdout).toContain(`${item.id}\tusage\tgpt-4o-mini\tcompleted\t0.000384\t2026-11-21T08:00:00.000Z\tpending\n`);
    expect(exitCode).toBe(0);
    expect(gateway.requests[0]?.query).toEqual({ month: '2026-11', kind: 'usage', run_id: 'nightly', limit: '51', livemode: 'false' });
  });
});

describe('receipts export', () => {
  it('writes a file that verifies offline, with the calculation of every receipt and their sum', async () => {
    gateway.script({ text: whole });
    const fetched = await terminal.type(['receipts', 'export', '--month', '2026-11', '-o', 'november.jsonl']);
    expect(fetched).toEqual({ stdout: '', stderr: 'Wrote november.jsonl.\n', exitCode: 0 });
    const { stdout, exitCode } = await terminal.type(['receipts', 'verify', 'november.jsonl', '--keys', 'keys.json'], { isTty: true });
    expect(stdout.split('\n')).toEqual([
      `${receipt.id} gpt-4o-mini: 1200 × 0.00000015 + 340 × 0.0000006 = 0.000384 USD`,
      'valid',
      'Month       2026-11',
      'Receipts    1, 1 of them valid',
      'In the log  1',
      'Billed      0.000384 USD, what was given back taken off',
      '',
    ]);
    expect(exitCode).toBe(0);
    expect(gateway.requests).toHaveLength(1);
  });

  it.each([
    ['a receipt was changed', whole.replace('384000', '1'), 'Line 2 is not valid: '],
    ['the file was cut', whole.slice(0, whole.lastIndexOf('{"object":"receipt_export.end"')), '(incomplete_export)'],
  ])('exits with 3 where %s', async (_, text, said) => {
    terminal.files.set('november.jsonl', text);
    const { stdout, stderr, exitCode } = await terminal.type(['receipts', 'verify', 'november.jsonl', '--keys', 'keys.json'], {});
    expect(stdout).toMatch(/^not valid|\nnot valid/);
    expect(stdout + stderr).toContain(said);
    expect(exitCode).toBe(3);
  });

  it.each([
    ['a price is not at hand', whole, 6, /^cannot be checked: the prices of 1 receipts are not at hand\n/],
    ['the file was cut as well', whole.slice(0, whole.lastIndexOf('{"object":"receipt_export.end"')), 3, /^not valid: /],
  ])('says of no receipt that it is not valid where %s', async (_, text, code, verdict) => {
    terminal.files.set('november.jsonl', text);
    terminal.files.set('prices.json', JSON.stringify({ prices: {} }));
    const argv = ['receipts', 'verify', 'november.jsonl', '--keys', 'keys.json', '--prices', 'prices.json'];
    const { stdout, stderr, exitCode } = await terminal.type(argv, { isTty: true });
    expect([exitCode, stdout]).toEqual([code, expect.stringMatching(verdict)]);
    expect(stderr).toMatch(/^Line 2 cannot be checked: No published price of "gpt-4o-mini"/);
    expect(stderr.includes('`tallygate receipts keys` adds today’s')).toBe(code === 6);
  });

  it('answers scripts in JSON', async () => {
    terminal.files.set('november.jsonl', whole);
    const argv = ['receipts', 'verify', 'november.jsonl', '--keys', 'keys.json', '--json', 'valid,receipts,billed_nano_usd,faults'];
    const { stdout } = await terminal.type(argv, {});
    expect(JSON.parse(stdout)).toEqual({ valid: true, receipts: 1, billed_nano_usd: '384000', faults: [] });
  });

  it('refuses receipts of another account than the one that is named', async () => {
    terminal.files.set('november.jsonl', whole);
    const argv = ['receipts', 'verify', 'november.jsonl', '--keys', 'keys.json', '--account', receipt.id];
    expect(await terminal.type(argv, {})).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('is of another account') });
  });
});

describe('receipts verify --rpc', () => {
  const anchored = readVector('chain/confirmed') as { receipt: { payload: { receipt_id: string }; log: { checkpoint: string } } };

  /** A node whose contract answers with this size for every root. */
  async function node(size: number) {
    const server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      const { method } = JSON.parse(body);
      const word = (value: number) => value.toString(16).padStart(64, '0');
      const result = method === 'eth_chainId' ? '0x2105' : method === 'eth_call' ? `0x${word(size)}${word(1_795_248_300)}` : null;
      response.end(JSON.stringify({ result }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    return { server, url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}` };
  }
  const verify = async (size: number, ...argv: string[]) => {
    const { server, url } = await node(size);
    try {
      return await terminal.type(['receipts', 'verify', ...argv, '--keys', 'keys.json', '--rpc', url], { isTty: true });
    } finally {
      server.close();
    }
  };

  it('checks the receipt and then its anchor on the chain, and prints what that proves', async () => {
    terminal.files.set('receipt.json', JSON.stringify(anchored.receipt));
    const { stdout, exitCode } = await verify(13, 'receipt.json');
    expect(stdout).toMatch(/^valid\n/);
    expect(stdout).toContain('since 2026-11-21T08:05:00.000Z (finalized)');
    expect(stdout).toContain('holds a state of the log with this receipt since');
    expect(stdout).not.toContain('the chain was not asked for it');
    expect(exitCode).toBe(0);
  });

  it('exits with 3 where the chain does not confirm it, or the receipt names no anchor', async () => {
    terminal.files.set('receipt.json', JSON.stringify(anchored.receipt));
    expect(await verify(14, 'receipt.json')).toMatchObject({ exitCode: 3, stdout: expect.stringContaining('(other_size)') });
    terminal.files.set('plain.json', JSON.stringify(receipt));
    expect(await verify(13, 'plain.json')).toMatchObject({ exitCode: 3, stdout: expect.stringContaining('(not_anchored)') });
  });

  it('checks every receipt of an export, from the file alone and on the chain', async () => {
    const { checkpoint } = anchored.receipt.log;
    const end = { object: 'receipt_export.end', receipts: 1, logged: 1 };
    terminal.files.set('november.jsonl', linesOf({ ...header, checkpoint }, anchored.receipt, end));
    const { stdout, exitCode } = await verify(13, 'november.jsonl');
    expect(stdout).toMatch(/On the chain +1\n/);
    expect(exitCode).toBe(0);
    expect(await verify(0, 'november.jsonl')).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('(not_on_chain)') });
  });

  it('refuses a receipt of another account than the one that is named', async () => {
    terminal.files.set('receipt.json', JSON.stringify(receipt));
    expect(await verify(13, 'receipt.json', '--account', receipt.id)).toMatchObject({
      exitCode: 3,
      stdout: expect.stringContaining('foreign_receipt'),
    });
  });
});
