import { declarationDigest, rememberCheckpoint, toHex } from '@tallygate/receipts';
import { model, session } from '@tallygate/sdk/testing/fixtures';
import { type StubGateway, startStubGateway } from '@tallygate/sdk/testing/stub-gateway';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { logOf } from '../../../packages/receipts/scripts/succession-vectors.ts';
import { priceDeclaration } from '../../../packages/receipts/scripts/vector-receipts.ts';
import { Terminal } from '../../testing/terminal.ts';
import { keySet, readVector, receiptTextOf } from '../../testing/vectors.ts';
import { publishedPrices } from './published-prices.ts';

let gateway: StubGateway;
let terminal: Terminal;
beforeEach(async () => {
  gateway = await startStubGateway();
  terminal = new Terminal(gateway);
  terminal.files.set('r.json', receiptTextOf(readVector('good/plain')));
});
afterEach(() => gateway[Symbol.asyncDispose]());

/** The price of `good/plain`, as the gateway publishes it. */
const prices = { input_tokens: '0.00000015', cached_input_tokens: '0.000000075', output_tokens: '0.0000006' };
const catalogue = (pricing: object = {}) => ({ object: 'list', data: [{ ...model, pricing: { ...model.pricing, prices, ...pricing } }] });
const dearer = { prices: { ...prices, output_tokens: '0.0000005' } };
const nextVersion = { version: '2026-11-01', effective_from: '2026-12-01', prices: { ...prices, output_tokens: '0.0000008' } };

const keep = (pricing?: object, more: string[] = []) => {
  gateway.script({ json: JSON.parse(keySet) }, { json: catalogue(pricing) });
  return terminal.type(['receipts', 'keys', ...more], { sessionToken: session.token });
};
/** The same price as the receipt's, in another entry. */
const later = { ...priceDeclaration, declared_at: '2026-07-25T00:00:00.000Z' };
const keepDeclared = (declaration: typeof later, entry: object) => {
  gateway.script({ json: JSON.parse(keySet) }, { json: catalogue({ entry }) }, { json: logOf([declaration]) });
  return terminal.type(['receipts', 'keys'], { sessionToken: session.token });
};
const verify = (...more: string[]) => {
  terminal.files.set('keys.json', keySet);
  return terminal.type(['receipts', 'verify', 'r.json', '--keys', 'keys.json', ...more], {});
};

describe('receipts verify --prices', () => {
  const verifyAt = (content: unknown, ...more: string[]) => {
    terminal.files.set('models.json', typeof content === 'string' ? content : JSON.stringify(content));
    return verify('--prices', 'models.json', ...more);
  };

  it('compares with a saved answer of GET /v1/models, offline', async () => {
    const { stdout, stderr, exitCode } = await verifyAt(catalogue(), '--json', 'valid,checks');
    expect(JSON.parse(stdout)).toMatchObject({ valid: true, checks: { prices: 'ok' } });
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    expect(gateway.requests).toHaveLength(0);
  });

  it.each([
    ['another price', catalogue(dearer), 'price_mismatch', 'output_tokens is 600000, published is 500000'],
    ['a tier', catalogue({ tiers: [{ above_input_tokens: 1000, prices }] }), 'tier_mismatch', 'the published one 1000'],
  ])('exits with 3 and the reason where %s is published', async (_, content, code, reason) => {
    const { stdout, exitCode } = await verifyAt(content);
    expect(stdout).toContain(reason);
    expect(stdout).toContain(`(${code})`);
    expect(exitCode).toBe(3);
  });

  it.each([
    ['another version', catalogue({ version: '2026-11-01' })],
    ['no such model', { object: 'list', data: [] }],
  ])('exits with 6 where %s is published: the receipt cannot be checked', async (_, content) => {
    const { stdout, exitCode } = await verifyAt(content);
    expect(stdout).toMatch(/^cannot be checked: No published price of "gpt-4o-mini".*\(price_unpublished\)\n$/);
    expect(exitCode).toBe(6);
  });

  it('knows each version in answers of several days that were put together', async () => {
    const data = [...catalogue(nextVersion).data, ...catalogue().data];
    expect((await verifyAt({ object: 'list', data })).exitCode).toBe(0);
  });

  it.each([
    ['no JSON', '<html>', 'it is not valid JSON'],
    ['something else', keySet, 'there is neither a list of models'],
    ['a price that is a float', catalogue({ prices: { input_tokens: 1.5e-7 } }), 'data[0].pricing.prices.input_tokens is not decimal USD'],
    ['another currency', catalogue({ currency: 'EUR' }), 'data[0].pricing.currency is not USD'],
  ])('exits with 1, not with a verdict, when the file holds %s', async (_, content, reason) => {
    const { stdout, stderr, exitCode } = await verifyAt(content);
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 1 });
    expect(stderr).toContain(reason);
  });

  it('exits with 2 when the file that was named is missing', async () => {
    expect(await verify('--prices', 'nowhere.json')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('no file nowhere.json'),
    });
  });
});

describe('stored prices', () => {
  it('are compared with from then on, offline', async () => {
    await keep();
    const asked = gateway.requests.length;
    const { stdout, stderr, exitCode } = await verify();
    expect(stdout).toMatch(/^valid\n/);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    expect(gateway.requests).toHaveLength(asked);
    expect(terminal.privateFiles).toContain('/config/tallygate/default.prices.json');
  });

  it('refuse another price, and give way to --no-prices and --prices', async () => {
    await keep(dearer);
    expect(await verify()).toMatchObject({ exitCode: 3, stdout: expect.stringContaining('(price_mismatch)') });
    expect(await verify('--no-prices')).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('were not compared') });
    terminal.files.set('models.json', JSON.stringify(catalogue()));
    expect((await verify('--prices', 'models.json')).exitCode).toBe(0);
  });

  it('refuse an unpublished version, and say what may help', async () => {
    await keep({ version: '2026-11-01' });
    const { stdout, stderr, exitCode } = await verify();
    expect(stdout).toContain('(price_unpublished)');
    expect(stderr).toContain('`tallygate receipts keys` adds today’s');
    expect(exitCode).toBe(6);
  });

  it('are added to by receipts get where the price of the receipt is not among them, and by no other', async () => {
    await keep(nextVersion);
    const receipt = JSON.parse(receiptTextOf(readVector('good/plain')));
    const get = () => terminal.type(['receipts', 'get', receipt.payload.receipt_id, '-o', 'r.json'], {});
    gateway.script({ json: receipt }, { json: catalogue() });
    expect((await get()).exitCode).toBe(0);
    expect((await verify()).exitCode).toBe(0);
    const asked = gateway.requests.length;
    gateway.script({ json: receipt });
    await get();
    expect(gateway.requests).toHaveLength(asked + 1);
  });

  it('of an earlier version stay, for the receipts of its time', async () => {
    await keep();
    await keep(nextVersion);
    expect((await verify()).exitCode).toBe(0);
  });

  it('are not rewritten by a gateway that changes a version after the fact', async () => {
    await keep();
    const { stderr, exitCode } = await keep(dearer);
    expect(stderr).toContain('has changed the price of gpt-4o-mini in version 2026-07-24 after the fact');
    expect(exitCode).toBe(3);
    expect((await verify()).exitCode).toBe(0);
  });

  it('reject a version that is dated back to before they were stored: exit code 3', async () => {
    await keep();
    const { stderr, exitCode } = await keep({ version: 'new', effective_from: '2026-08-01T00:00:00.000Z' });
    expect(stderr).toContain('has dated the price of gpt-4o-mini in version new back');
    expect(exitCode).toBe(3);
    expect(terminal.file('default.prices.json')).not.toContain('"new"');
  });

  it('name the entry of the log, and refuse a receipt that names another one', async () => {
    await keepDeclared(later, { index: 0, digest: toHex(declarationDigest(later)) });
    expect(await verify()).toMatchObject({ exitCode: 3, stdout: expect.stringContaining('(price_entry_mismatch)') });
  });

  it('are not stored where the log’s list of prices leaves out their entry: exit code 3', async () => {
    const { stderr, exitCode } = await keepDeclared(later, { index: 1, digest: 'd'.repeat(64) });
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining('leaves out the entry of')]);
    expect(JSON.parse(terminal.file('default.prices.json') ?? '').prices).toMatchObject({ 'gpt-4o-mini': {} });
  });

  it('are not stored where another log declares them than was shown before: exit code 7', async () => {
    await rememberCheckpoint(Object(logOf([priceDeclaration])).checkpoint, { store: terminal.logs });
    const { stderr, exitCode } = await keepDeclared(later, { index: 0, digest: toHex(declarationDigest(later)) });
    expect([exitCode, stderr]).toEqual([7, expect.stringContaining('two states of 1 entries')]);
    expect(terminal.file('default.prices.json')).toBeUndefined();
  });

  it('of a gateway that was set up anew at the same address are put aside with its keys', async () => {
    await keep(dearer);
    const before = terminal.files.get('/config/tallygate/default.prices.json');
    terminal.files.set('/config/tallygate/default.vaas-keys.json', keySet.replaceAll(/"kid": ?"[^"]*"/g, '"kid":"another"'));
    const { stderr } = await keep(undefined, ['--replace']);
    expect(stderr).not.toContain('after the fact');
    expect(terminal.files.get(/prices stored with them are in (\S+)\.\n/.exec(stderr)?.[1] ?? '')).toBe(before);
    expect((await verify()).exitCode).toBe(0);
  });

  it('of another gateway are forgotten', async () => {
    terminal.files.set(
      '/config/tallygate/default.prices.json',
      JSON.stringify({ base_url: 'http://127.0.0.1:9', ...readVector('broken/unpublished-price') }),
    );
    expect((await keep()).stderr).not.toContain('after the fact');
    expect((await verify()).exitCode).toBe(0);
  });

  it('that are broken are no silent yes, and are replaced by the next ones', async () => {
    terminal.files.set('/config/tallygate/default.prices.json', '{');
    expect(await verify()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('Fetch them with `tallygate receipts keys`') });
    await keep();
    expect((await verify()).exitCode).toBe(0);
  });
});

it.each([
  ['0', '0'],
  ['0.000000000001', '1'],
  ['0.00000015', '150000'],
  ['0.0000000375', '37500'],
  ['1.5', '1500000000000'],
])('takes %s USD per unit as %s pico-USD', (usd, pico) => {
  const read = publishedPrices(
    catalogue({ prices: { input_tokens: usd }, tiers: [{ above_input_tokens: 9, prices: { input_tokens: usd } }] }),
  );
  const unit_prices_pico_usd = { input_tokens: pico };
  expect(read).toEqual({
    'gpt-4o-mini': {
      '2026-07-24': {
        effective_from: model.pricing?.effective_from,
        batch_factor: model.pricing?.batch_factor,
        unit_prices_pico_usd,
        tiers: [{ above_input_tokens: 9, unit_prices_pico_usd }],
      },
    },
  });
});

it('names a few of many prices that were changed after the fact, and how many more there are', async () => {
  const many = (usd: string) => ({
    object: 'list',
    data: Array.from({ length: 8 }, (_, index) => ({ ...catalogue({ prices: { input_tokens: usd } }).data[0], id: `m${index}` })),
  });
  const login = (list: object) => {
    gateway.script({ json: JSON.parse(keySet) }, { json: list });
    return terminal.type(['receipts', 'keys'], { sessionToken: session.token });
  };
  await login(many('0.1'));
  const { stderr } = await login(many('0.2'));
  expect(stderr.match(/after the fact/g)).toHaveLength(5);
  expect(stderr).toContain('The same holds for 3 more.');
});
