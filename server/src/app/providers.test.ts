import { expect, test } from 'vitest';
import { loadCatalog, modelsOfFile, shippedList } from '../money/catalog/index.ts';
import type { ProviderConfig } from './provider-config.ts';
import { deploymentsOf, isDiscovered, isWanted, listedByForm, openProviders, refuseIdle } from './providers.ts';

const shipped = shippedList().models();
const own = modelsOfFile({
  models: [
    { id: 'llama3.1:8b' },
    { id: 'llama3.1:70b' },
    { id: 'qwen', variants: ['qwen*'] },
    { id: 'reseller/gpt-4o-mini', provider: 'reseller' },
  ],
});
const catalog = loadCatalog([...shipped, ...own]);

const config = (fields: Partial<ProviderConfig> = {}): ProviderConfig => ({
  ...{ name: 'local', kind: 'openai', baseUrl: 'http://127.0.0.1:1/v1', apiVersion: undefined, auth: undefined, apiKey: undefined },
  ...{
    headers: {},
    maxTokensField: undefined,
    countsLikeMaker: false,
    onCancel: 'keeps_billing',
    http2: false,
    weight: 1,
    models: undefined,
  },
  ...fields,
});
const list = (...names: string[]) => Object.fromEntries(names.map((name) => [name, name]));
/** By model or variant: what each deployment is asked for. */
function served(configs: ProviderConfig[], found: Record<string, string[]> = {}) {
  const said = Object.entries(found).map(([provider, names]) => ({ provider, baseUrl: 'http://127.0.0.1:1/v1', names }));
  const { byModel, byVariant } = deploymentsOf(openProviders(configs), catalog, said);
  const asked = (map: typeof byModel) =>
    Object.fromEntries([...map].map(([model, all]) => [model, all.map(({ name, upstreamModel }) => `${name} ${upstreamModel}`)]));
  return { models: asked(byModel), variants: asked(byVariant) };
}

test('two providers serve the same model, each under its own name and with its own model name', () => {
  const both = [config({ models: { 'gpt-4o-mini': 'theirs' } }), config({ models: list('gpt-4o-mini') })];
  expect(served(both).models).toEqual({ 'gpt-4o-mini': ['local#1 theirs', 'local#2 gpt-4o-mini'] });
});

test('a provider without a list serves all models that the catalogue files under its name', () => {
  const ids = catalog.all.filter(({ provider }) => provider === 'deepseek').map(({ id }) => id);
  expect(Object.keys(served([config({ name: 'deepseek' })]).models).sort()).toEqual(ids.sort());
});

test('a reseller’s model is requested without the prefix that distinguishes it', () => {
  expect(served([config({ name: 'reseller' })]).models).toEqual({ 'reseller/gpt-4o-mini': ['reseller#1 gpt-4o-mini'] });
  expect(served([config({ name: 'reseller', models: list('gpt-4o-mini') })]).models).toEqual({
    'gpt-4o-mini': ['reseller#1 gpt-4o-mini'],
    'reseller/gpt-4o-mini': ['reseller#1 gpt-4o-mini'],
  });
});

test('a * in a list matches all models of that form', () => {
  expect(Object.keys(served([config({ models: list('llama3*') })]).models).sort()).toEqual(['llama3.1:70b', 'llama3.1:8b']);
});

test('a provider serves the models that it lists, under their listed names', () => {
  const { models, variants } = served([config()], { local: ['llama3.1:8b', 'qwen2.5:7b', 'nobody-knows'] });
  expect(models).toEqual({ 'llama3.1:8b': ['local#1 llama3.1:8b'] });
  expect(variants).toEqual({ 'qwen2.5:7b': ['local#1 qwen2.5:7b'] });
});

test('a provider serves a model that is filed under another one where it is listed, not because it lists the name itself', () => {
  const found = { local: ['gpt-4o-mini', 'gpt-4o-2024-11-20', 'reseller/gpt-4o-mini'] };
  expect(served([config()], found)).toEqual({ models: {}, variants: {} });
  expect(served([config({ models: list('gpt-4o-mini') })], found).models).toEqual({ 'gpt-4o-mini': ['local#1 gpt-4o-mini'] });
  const byForm = served([config({ models: list('gpt-4o-min*'), discover: true })], found).models;
  expect(byForm['gpt-4o-mini']).toEqual(['local#1 gpt-4o-mini']);
});

test('what a list with a * has it serve is found under that name, and what the list leaves out is not wanted', () => {
  const form = config({ models: list('gpt-4o-min*', 'llama3*') });
  expect(['gpt-4o-mini', 'llama3.9', 'o1'].map((name) => [isWanted(form, name), listedByForm(form, catalog, name)?.id])).toEqual([
    [true, 'gpt-4o-mini'],
    [true, undefined],
    [false, undefined],
  ]);
});

test('a model of which only a variant is found counts as served', () => {
  const found = [{ provider: 'local', baseUrl: config().baseUrl, names: ['qwen2.5:7b'] }];
  expect([...deploymentsOf(openProviders([config()]), catalog, found).served]).toEqual(['qwen']);
});

test('a provider serves nothing that it no longer says it serves, nor what a list leaves out', () => {
  expect(served([config()], { local: [] }).models).toEqual({});
  expect(served([config({ models: list('gpt-4o-mini') })], { local: ['llama3.1:8b'] }).models).not.toHaveProperty('llama3.1:8b');
  expect(served([config({ models: list('qwen*') })], { local: ['llama3.1:8b', 'qwen2:7b'] }).variants).toEqual({
    'qwen2:7b': ['local#1 qwen2:7b'],
  });
});

test.each([
  ['with a name that the catalogue does not know', {}, true],
  ['with a name that the catalogue knows', { name: 'deepseek' }, false],
  ['with a list', { models: list('gpt-4o-mini') }, false],
  ['where that is configured', { name: 'deepseek', discover: true }, true],
  ['where that is switched off', { discover: false }, false],
  ['of a kind that has no such list', { kind: 'anthropic' as const }, false],
])('a provider %s is asked what it serves: %o %s', (_, fields, is) => {
  expect(isDiscovered(config(fields), catalog)).toBe(is);
});

test('providers that serve nothing and cannot be asked are refused by name, all at once', () => {
  const idle = [config({ name: 'one', discover: false }), config({ name: 'two', kind: 'google' }), config({ name: 'deepseek' })];
  expect(() => refuseIdle(idle, catalog)).toThrow(
    expect.objectContaining({ faults: [expect.stringContaining('one'), expect.stringContaining('two')] }),
  );
});
