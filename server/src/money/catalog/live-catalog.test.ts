import type { ModelDefinition } from '@tallygate/contract';
import type { Pool } from 'pg';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openPool } from '../../adapters/postgres/database.ts';
import { listen } from '../../adapters/postgres/listener.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLog } from '../../kernel/log.ts';
import type { Problem } from '../../kernel/problem.ts';
import { expectWithinASecond } from '../../kernel/testing/within-a-second.ts';
import { type By, CatalogAdministration } from './administration.ts';
import { type ListedModel, modelsOfFile, modelsOfShippedFile } from './entry.ts';
import { foundModels, writeFound } from './found.ts';
import { LiveCatalog } from './live-catalog.ts';
import { CATALOG_CHANNEL, fillFrom } from './store.ts';

const providers = new Set(['lan']);
let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;
const opened: (() => Promise<void> | void)[] = [];
beforeEach(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 5 });
  await pool.query("insert into accounts (id, name, created_at) values ($1, 'staff', now())", [by.accountId]);
});
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
  await pool.end();
  await database.drop();
});

const by: By = {
  accountId: newId(),
  actor: { kind: 'user', id: newId() },
  origin: { ip: '127.0.0.1', userAgent: null, requestId: newId() },
};
const perMillion = (usd: string) => ({ usd_per_million: { input_tokens: usd, output_tokens: usd }, tiers: [], batch_factor: '1' });

async function gateway(isListening = true): Promise<LiveCatalog> {
  const catalog = await LiveCatalog.open({ pool, log: silentLog(), providers });
  opened.push(() => catalog.close());
  if (!isListening) return catalog;
  const { promise, resolve } = Promise.withResolvers<void>();
  const listener = listen(database.url, {
    channels: [CATALOG_CHANNEL],
    onNotify: () => catalog.changed(),
    onConnected: () => {
      catalog.listening();
      resolve();
    },
    onLost: () => catalog.disconnected(),
    log: silentLog(),
  });
  opened.push(() => listener.close());
  await promise;
  return catalog;
}

let digests = 0;
const digest = () => `${++digests}`;
/** A shipped list of the model `m`, whose versions are the days of its prices. */
const shipped = (prices: Record<string, string>, ...ids: string[]): ListedModel[] =>
  modelsOfShippedFile({
    provider: 'maker',
    sources: { page: { url: 'https://example.com/', day: '2026-07-24' } },
    models: ['m', ...ids].map((id) => ({
      id,
      context_window: 1_000,
      sources: [{ source: 'page' }],
      prices: Object.entries(prices).map(([version, usd]) => ({
        ...{ version, effective_from: version, source: 'page', day: version },
        usd_per_million: { input_tokens: usd, output_tokens: usd },
      })),
    })),
  });
const ship = (prices: Record<string, string>, ...ids: string[]) =>
  fillFrom({ pool }, { source: 'shipped', digest: digest(), models: () => shipped(prices, ...ids) });
const file = (...models: object[]) => fillFrom({ pool }, { source: 'file', digest: digest(), models: () => modelsOfFile({ models }) });
const fileModel = (usd: string) => ({
  id: 'm',
  context_window: 2_000,
  price: { usd_per_million: { input_tokens: usd, output_tokens: usd } },
});

/** What a million tokens in will cost once all that was set is in force. */
async function costs(name = 'm'): Promise<string | undefined> {
  const catalog = await LiveCatalog.open({ pool, log: silentLog(), providers });
  catalog.close();
  const price = catalog.find(name)?.priceAt(Date.now() + 5_000);
  return price && `${(price.unit.input_tokens ?? 0n) / 1_000_000n}`;
}

describe('a price in the database', () => {
  const first = "select now() as at, * from catalog_prices where model_id = 'm' order by effective_from";
  const raw = (effectiveFrom: string) =>
    pool.query(
      `insert into catalog_prices (model_id, version, source, terms, effective_from, given_at)
       values ('m', 'forged', 'admin', '{}', ${effectiveFrom}, ${effectiveFrom})`,
    );

  test('of a new model starts now, and a later one when all gateways know of it', async () => {
    await ship({ '2026-01-01': '1' });
    await ship({ '2026-01-01': '1', '2026-02-01': '2' });
    const { rows } = await pool.query(first);
    expect(rows.map(({ version }) => version)).toEqual(['2026-01-01', '2026-02-01']);
    const [lead, latter] = rows.map(({ effective_from, given_at }) => effective_from.getTime() - given_at.getTime());
    expect(lead).toBeGreaterThanOrEqual(0);
    expect(lead).toBeLessThan(2_000);
    expect(latter).toBeGreaterThanOrEqual(2_000);
  });

  test('cannot be changed, removed or dated back, whoever writes', async () => {
    await ship({ '2026-01-01': '1' });
    await expect(pool.query("update catalog_prices set terms = '{}'")).rejects.toThrow('neither changed nor removed');
    await expect(pool.query('delete from catalog_prices')).rejects.toThrow('neither changed nor removed');
    await expect(pool.query('truncate catalog_prices')).rejects.toThrow('neither changed nor removed');
    await expect(raw("now() - interval '1 second'")).rejects.toThrow('not dated back');
    await expect(raw("now() + interval '1 hour'")).resolves.toBeDefined();
  });

  test('is not set again by a list that says the same in other decimals', async () => {
    await ship({ '2026-01-01': '1.5' });
    await ship({ '2026-01-02': '1.50' });
    expect((await pool.query(first)).rowCount).toBe(1);
  });

  test('that a list announces is charged from its day', async () => {
    await ship({ '2026-01-01': '1', '2099-01-01': '9' });
    await ship({ '2026-01-01': '1', '2099-01-01': '9' }, 'other');
    expect(await costs()).toBe('1');
    const { rows } = await pool.query(first);
    expect(rows.map(({ effective_from }) => effective_from.toISOString().slice(0, 4))).toEqual([expect.any(String), '2099']);
  });
});

describe('a price that is announced', () => {
  const from = (usd: string, effective_from?: string) => ({ id: 'm', price: { ...perMillion(usd), effective_from } });
  const later = '2098-01-01';
  const latest = '2099-01-01';
  /** What is charged now, and from each later moment on. */
  const announced = async () => {
    const catalog = await LiveCatalog.open({ pool, log: silentLog(), providers });
    catalog.close();
    const soon = Date.now() + 5_000;
    const { history } = catalog.find('m') ?? {};
    const usd = (at: number) => `${(history?.at(at)?.unit.input_tokens ?? 0n) / 1_000_000n}`;
    const moments = history?.pricings.map(({ effective_from }) => Date.parse(effective_from)).filter((at) => at > soon) ?? [];
    return [usd(soon), ...moments.sort().map((at) => `${new Date(at).getUTCFullYear()}: ${usd(at)}`)];
  };

  test('by the file is replaced where the file names another one, and withdrawn where it names none', async () => {
    await file(from('1'));
    await file(from('2', later));
    expect(await announced()).toEqual(['1', '2098: 2']);
    await file(from('3', later));
    expect(await announced()).toEqual(['1', '2098: 3']);
    await file(from('3', latest));
    expect(await announced()).toEqual(['1', '2098: 1', '2099: 3']);
    await file(from('4'));
    expect(await announced()).toEqual(['4', '2098: 4', '2099: 4']);
    await file();
    await file(from('4'), { id: 'other' });
    expect(await announced()).toEqual(['4', '2098: 4', '2099: 4']);
  });

  test('by the file is refused where an administrator’s would be, unless it is charged by now', async () => {
    await expect(file(from('1', latest))).rejects.toThrow('models.m.price.effective_from: is not for the first price of a model');
    await expect(file(from('1', '2026-01-01'))).rejects.toThrow('models.m.price.effective_from: is in the past');
    await file(from('1'));
    await file({ ...from('1', '2026-01-01'), context_window: 7 });
    await expect(file(from('2', '2026-01-01'))).rejects.toThrow('no price is dated back');
    expect(await announced()).toEqual(['1']);
  });

  test('by an administrator is replaced by another of its moment, which is how it is withdrawn', async () => {
    await ship({ '2026-01-01': '1' });
    const administration = new CatalogAdministration({ pool, catalog: await gateway() });
    const price = (usd: string) => administration.price('m', { ...perMillion(usd), effective_from: `${latest}T00:00:00Z` }, by);
    const { written: first } = await price('9');
    const { written: second } = await price('1');
    expect(await announced()).toEqual(['1', '2099: 1']);
    expect([second.effectiveFrom, second.version === first.version]).toEqual([first.effectiveFrom, false]);
    await administration.price('m', perMillion('2'), by);
    expect(await announced()).toEqual(['2', '2099: 2']);
    await price('5');
    await administration.price('m', perMillion('3'), by);
    expect(await announced()).toEqual(['3', '2099: 5']);
  });

  test('by a list does not outlast an administrator’s price, and the file is told that its own is not charged', async () => {
    await ship({ '2026-01-01': '1', '2098-01-01': '8' });
    await file(from('2', latest));
    const administration = new CatalogAdministration({ pool, catalog: await gateway() });
    for (const usd of ['1', '7', '3']) await administration.price('m', perMillion(usd), by);
    expect(await announced()).toEqual(['3', '2098: 3', '2099: 3']);
    expect((await file(from('4'))).overruled).toEqual(['m']);
    expect((await file(from('3'))).overruled).toEqual([]);
  });

  test('by the shipped list does not outlast the file’s price', async () => {
    await ship({ '2026-01-01': '1', '2099-01-01': '9' });
    await file(from('2'));
    expect(await announced()).toEqual(['2', '2099: 2']);
    await file();
    expect(await announced()).toEqual(['1', '2099: 9']);
  });
});

describe('of several sources', () => {
  test('an administrator holds before the file, the file before the shipped list, and that before discovery', async () => {
    const catalog = await gateway();
    const administration = new CatalogAdministration({ pool, catalog });
    const window = async () => {
      await catalog.refresh();
      return catalog.find('m')?.contextWindow;
    };
    const { models } = foundModels({ data: [{ id: 'm', max_model_len: 500 }] });
    await writeFound(pool, catalog, { provider: 'vllm', baseUrl: 'http://a/v1', models });
    expect([await window(), await costs()]).toEqual([500, undefined]);
    await ship({ '2026-01-01': '1' });
    expect([await window(), await costs()]).toEqual([1_000, '1']);
    await file(fileModel('2'));
    expect([await window(), await costs()]).toEqual([2_000, '2']);
    await administration.define('m', { context_window: 3_000 }, by);
    expect([await window(), await costs()]).toEqual([3_000, '2']);
    await administration.price('m', perMillion('3'), by);
    await file(fileModel('4'));
    await ship({ '2026-01-01': '1', '2026-03-01': '5' });
    expect([await window(), await costs()]).toEqual([3_000, '3']);
  });

  test('the next one counts where a model is gone from the file, its price under a version of its own', async () => {
    await ship({ '2026-01-01': '1' });
    await file(fileModel('2'), { id: 'own', price: perMillion('0') });
    expect([await costs(), await costs('own')]).toEqual(['2', '0']);
    await file();
    expect([await costs(), await costs('own')]).toEqual(['1', undefined]);
    const { rows } = await pool.query("select version, source from catalog_prices where model_id = 'm' order by effective_from");
    expect(rows.map(({ source }) => source)).toEqual(['shipped', 'file', 'shipped']);
    expect(new Set(rows.map(({ version }) => version)).size).toBe(3);
  });

  test('a higher one that leaves something out leaves it as the next one has it', async () => {
    await ship({ '2026-01-01': '1' });
    await file({ id: 'm', price: perMillion('2') });
    const catalog = await gateway();
    await new CatalogAdministration({ pool, catalog }).define('m', { max_output_tokens: 77 }, by);
    expect(catalog.find('m')).toMatchObject({ provider: 'maker', contextWindow: 1_000, maxOutputTokens: 77, isAdvertised: false });
    expect(await costs()).toBe('2');
  });

  test('a file whose price leaves out what the model is charged by changes nothing', async () => {
    await ship({ '2026-01-01': '1' });
    const half = { usd_per_million: { input_tokens: '2' } };
    await expect(file({ id: 'new' }, { id: 'm', price: half })).rejects.toThrow('models.m.price: Expected a price of output_tokens');
    expect((await gateway()).find('new')).toBeUndefined();
  });

  test('a shipped list that is older than the one in the database changes nothing', async () => {
    await ship({ '2026-01-01': '1', '2026-02-01': '2' });
    await ship({ '2026-01-01': '1' }, 'old');
    expect([await costs(), await costs('old')]).toEqual(['2', undefined]);
  });

  test('what is no longer discovered stays in the catalogue', async () => {
    const catalog = await gateway();
    const found = (...names: string[]) =>
      writeFound(pool, catalog, { provider: 'vllm', baseUrl: 'http://a/v1', ...foundModels({ data: names.map((id) => ({ id })) }) });
    await found('a', 'b');
    await found('b');
    await catalog.refresh();
    expect(catalog.find('a')).toBeDefined();
  });

  test('no discovered name takes one that means another model', async () => {
    await ship({ '2026-01-01': '1' });
    const catalog = await gateway();
    const { models } = foundModels({ data: [{ id: 'm' }, { id: 'maker/m' }, { id: 'new' }] });
    for (const provider of ['proxy', 'other']) {
      await writeFound(pool, catalog, { provider, baseUrl: 'http://a/v1', models });
      await catalog.refresh();
    }
    const ids = ['m', 'new', 'other/m', 'other/maker/m', 'other/new', 'proxy/m', 'proxy/maker/m'];
    expect(catalog.all.map(({ id }) => id).sort()).toEqual(ids);
    expect(catalog.find('maker/m')?.id).toBe('m');
    expect(['proxy/m', 'other/new'].map((id) => [catalog.find(id)?.id, catalog.find(id)?.priceAt(Date.now())])).toEqual([
      ['proxy/m', undefined],
      ['other/new', undefined],
    ]);
  });

  test('what is found is taken for what its name says, and for a chat model where it says nothing', async () => {
    const catalog = await gateway();
    const kinds = { 'flux-dev': 'image', 'black-forest-labs/FLUX.1-schnell': 'image', 'kokoro-82m': 'tts', 'wan2.2': 'video' };
    const chats = ['influx-7b', 'llama3.1:8b'];
    const names = [...Object.keys(kinds), ...chats, 'whisper-1', 'nomic-embed-text'];
    await writeFound(pool, catalog, { provider: 'lan', baseUrl: 'http://a/v1', ...foundModels({ data: names.map((id) => ({ id })) }) });
    await catalog.refresh();
    const all = { ...kinds, 'whisper-1': 'stt', 'nomic-embed-text': 'embedding', 'influx-7b': 'chat', 'llama3.1:8b': 'chat' };
    expect(Object.fromEntries(Object.keys(all).map((name) => [name, catalog.find(name)?.kind]))).toEqual(all);
  });

  test('a name that no model can have is left out of what is discovered, and the others are not', () => {
    const names = ['m', 'with a space', 'nul\0', 'half\ud800'];
    const { models, leftOut } = foundModels({ data: names.map((id) => ({ id })) });
    expect([models.map(({ name }) => name), leftOut]).toEqual([['m'], names.slice(1)]);
  });
});

describe('gateways', () => {
  test.each([
    ['listen', true],
    ['do not hear of changes', false],
  ])('that %s agree on a new price within a second, and charge it from the same moment', async (_, isListening) => {
    await ship({ '2026-01-01': '1' });
    const [one, other] = [await gateway(), await gateway(isListening)];
    let [usd, before] = [6, '2026-01-01'];
    await expectWithinASecond(async () => {
      const { written } = await new CatalogAdministration({ pool, catalog: one }).price('m', perMillion(`${++usd}`), by);
      const last = before;
      before = written.version;
      return () => {
        if (other.find('m')?.history.pricings[0]?.version !== written.version) return false;
        for (const { find } of [one, other]) {
          expect(find('m')?.priceAt(written.effectiveFrom - 1)?.version).toBe(last);
          expect(find('m')?.priceAt(written.effectiveFrom)?.version).toBe(written.version);
        }
        return true;
      };
    });
  });

  test('hear of what is written to the database by hand', async () => {
    const models = ['m', 'n', 'o', 'p', 'q'];
    await ship({ '2026-01-01': '1' }, ...models.slice(1));
    const catalog = await gateway();
    await expectWithinASecond(async () => {
      const id = models.pop() ?? '';
      expect(catalog.find(id)).toBeDefined();
      await pool.query('delete from catalog_models where id = $1', [id]);
      return () => catalog.find(id) === undefined;
    });
  });

  test('leave to a request that has begun the model and the price that it began with', async () => {
    await ship({ '2026-01-01': '1' });
    const catalog = await gateway();
    const begun = catalog.find('m');
    await new CatalogAdministration({ pool, catalog }).price('m', perMillion('7'), by);
    expect(begun?.priceAt(Date.now() + 5_000)?.version).toBe('2026-01-01');
    expect(catalog.find('m')?.priceAt(Date.now() + 5_000)?.version).not.toBe('2026-01-01');
  });
});

test('a refresh of a catalogue that has not changed reads its revision alone', async () => {
  await fillFrom({ pool }, { source: 'shipped', digest: digest(), models: () => shipped({ '2026-07-24': '1' }) });
  const catalog = await gateway(false);
  const query = vi.spyOn(pool, 'query');
  await catalog.refresh();
  expect(query).toHaveBeenCalledTimes(1);
  await fillFrom({ pool }, { source: 'shipped', digest: digest(), models: () => shipped({ '2026-07-24': '1' }, 'n') });
  await catalog.refresh();
  expect(catalog.find('n')).toBeDefined();
});

test('a model whose kind has changed has no price until it has one for every meter of that kind', async () => {
  const tts = { id: 'voice', kind: 'tts', price: { usd_per_million: { input_characters: '15' } } };
  await file(tts);
  await file({ id: 'voice', kind: 'chat' });
  const catalog = await gateway();
  expect([catalog.find('voice')?.kind, catalog.find('voice')?.priceAt(Date.now())]).toEqual(['chat', undefined]);
  expect(catalog.find('voice')?.wireAt(Date.now()).pricing).toBeNull();
});

describe('an administrator', () => {
  test('prices a model under its id alone: of any other name is said what to type', async () => {
    await ship({ '2026-01-01': '1' });
    await file({ id: 'f', provider: 'lan', variants: ['f:*'], aliases: ['eff'], price: perMillion('2') });
    const catalog = await gateway();
    const administration = new CatalogAdministration({ pool, catalog });
    const refused = async (name: string) => {
      const { code, message } = await administration.price(name, perMillion('0'), by).then(
        () => ({ code: 'priced', message: '' }),
        (problem: Problem) => problem,
      );
      return [code, ...[...message.matchAll(/`npm run admin -- ([^`]*)`/g)].map(([, command]) => command)];
    };
    const free = '--input 0 --output 0';
    expect(await refused('maker/m')).toEqual(['validation_failed', `price m ${free}`]);
    expect(await refused('eff')).toEqual(['validation_failed', `price f ${free}`]);
    expect(await refused('lan/m')).toEqual(['validation_failed', `price m ${free}`, `model lan/m --provider lan ${free}`]);
    expect(await refused('f:70b')).toEqual(['validation_failed', `price f ${free}`, `model f:70b --provider lan ${free}`]);
    expect([await costs('m'), await costs('f')]).toEqual(['1', '2']);
  });

  test('cannot date a price back, nor put the first one off, nor leave a meter free', async () => {
    await ship({ '2026-01-01': '1' });
    const catalog = await gateway();
    const administration = new CatalogAdministration({ pool, catalog });
    await administration.define('own', { kind: 'chat' }, by);
    const price = (id: string, more: object) => administration.price(id, { ...perMillion('1'), ...more }, by);
    await expect(price('m', { effective_from: '2026-01-01T00:00:00Z' })).rejects.toThrow('dated back');
    await expect(price('own', { effective_from: '2099-01-01T00:00:00Z' })).rejects.toThrow('first price');
    await expect(price('own', { usd_per_million: { input_tokens: '1' } })).rejects.toThrow('output_tokens');
    await expect(price('nobody', {})).rejects.toThrow('no model "nobody"');
    expect((await price('own', {})).written.effectiveFrom).toBeLessThanOrEqual(Date.now());
  });

  test('takes back a definition: what the lists say counts again, and prices stay', async () => {
    await ship({ '2026-01-01': '1' });
    const catalog = await gateway();
    const administration = new CatalogAdministration({ pool, catalog });
    await administration.define('m', { context_window: 7 }, by);
    await administration.define('own', { kind: 'chat' }, by);
    const { written } = await administration.price('own', perMillion('5'), by);
    for (const id of ['m', 'own']) await administration.remove(id, by);
    expect([catalog.find('m')?.contextWindow, catalog.find('own')]).toEqual([1_000, undefined]);
    expect(catalog.pricedAt('own', Date.now())?.version).toBe(written.version);
    expect(catalog.published.map(({ id, pricing }) => [id, pricing.version])).toEqual([
      ['m', '2026-01-01'],
      ['own', written.version],
    ]);
    await administration.define('own', { kind: 'chat' }, by);
    expect(catalog.find('own')?.priceAt(Date.now())?.version).toBe(written.version);
  });

  test('of two that take one name for two models at once, on one gateway or on two, one is refused', async () => {
    await ship({ '2026-01-01': '1' });
    const [one, two] = await Promise.all([gateway(), gateway()]);
    const [a, b] = [one, two].map((catalog) => new CatalogAdministration({ pool, catalog }));
    for (const [left, right, alias] of [[a, a, 'same'] as const, [a, b, 'between'] as const]) {
      const both = await Promise.allSettled([
        left?.define(`${alias}-1`, { aliases: [alias] }, by),
        right?.define(`${alias}-2`, { aliases: [alias] }, by),
      ]);
      expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    }
  });

  test('defines nothing with a price that is refused', async () => {
    const catalog = await gateway();
    const administration = new CatalogAdministration({ pool, catalog });
    const half = { usd_per_million: { input_tokens: '1' } };
    await expect(administration.define('half', { provider: 'own' }, by, half)).rejects.toThrow('output_tokens');
    expect(catalog.find('half')).toBeUndefined();
    await administration.define('whole', { provider: 'own' }, by, perMillion('2'));
    expect(catalog.find('whole')?.priceAt(Date.now())).toBeDefined();
  });

  test('is told what else to do where no administrator has defined the model', async () => {
    await ship({ '2026-01-01': '1' });
    await file({ ...fileModel('3'), id: 'filed' });
    const administration = new CatalogAdministration({ pool, catalog: await gateway() });
    await expect(administration.remove('m', by)).rejects.toThrow('define it with `retired`');
    await expect(administration.remove('filed', by)).rejects.toThrow('take it out of MODELS_FILE');
    await expect(administration.remove('nobody', by)).rejects.toThrow('no model "nobody"');
  });

  test('cannot give a model a name that means another one, nor a provider that is not there', async () => {
    await ship({ '2026-01-01': '1' });
    await file({ id: 'filed', aliases: ['short'], variants: ['dated'] });
    const administration = new CatalogAdministration({ pool, catalog: await gateway() });
    await administration.define('first', { aliases: ['taken'] }, by);
    const refusalOf = (definition: ModelDefinition) =>
      administration.define('second', definition, by).then(
        () => undefined,
        (problem: Problem) => problem.extras.errors,
      );
    const invalid = (path: (string | number)[], msg: string) => [
      { loc: ['body', ...path], msg: expect.stringContaining(msg), type: 'invalid' },
    ];
    expect(await refusalOf({ aliases: ['free', 'm'] })).toEqual(invalid(['aliases', 1], 'is the id of another model'));
    expect(await refusalOf({ variants: ['taken'] })).toEqual(invalid(['variants', 0], 'is a name of first already'));
    expect(await refusalOf({ provider: 'lam' })).toEqual(invalid(['provider'], 'those of PROVIDERS_FILE and the variables are lan'));
    // An administrator's names come before the file's; its own of before are no other model's.
    for (const definition of [
      { aliases: ['short', 'dated'], provider: 'lan' },
      { aliases: ['short'], provider: 'maker' },
    ])
      expect(await refusalOf(definition)).toBeUndefined();
  });

  test('leaves a word in the audit log with every change, figures included', async () => {
    const catalog = await gateway();
    const administration = new CatalogAdministration({ pool, catalog });
    await administration.define('own', { kind: 'chat' }, by);
    await administration.price('own', perMillion('0.5'), by);
    await administration.remove('own', by);
    const { rows } = await pool.query('select action, target_id, changes from audit_log order by id');
    expect(rows).toMatchObject([
      { action: 'model.defined', target_id: 'own' },
      { action: 'model.priced', target_id: 'own', changes: { price: 'input_tokens 0.5 USD/1M, output_tokens 0.5 USD/1M' } },
      { action: 'model.removed', target_id: 'own', changes: { kind: 'chat' } },
    ]);
  });
});
