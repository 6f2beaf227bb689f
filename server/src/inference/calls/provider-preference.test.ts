import { ProviderPreference } from '@tallygate/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadCatalog } from '../../money/catalog/index.ts';
import { admit } from './admission.ts';
import { isAffordable, withPreference } from './preferred-work.ts';
import { type Measured, preferenceOf, preferred } from './provider-preference.ts';
import { callOf, openInference } from './testing/inference.ts';

const ALL = [{ provider: 'openai' }, { provider: 'Azure' }, { provider: 'groq' }];
const UNMEASURED: Measured = { latencyMs: null, tokensPerSecond: null };
const namesOf = (provider: object, measured: (one: { provider: string }) => Measured = () => UNMEASURED): string[] => {
  const preference = preferenceOf({ provider });
  if (!preference) throw new Error('no preference');
  return preferred(ALL, preference, measured).map((one) => one.provider);
};

describe('what is asked by preference', () => {
  it.each([
    [{}, ['openai', 'Azure', 'groq']],
    [{ order: ['groq'] }, ['groq', 'openai', 'Azure']],
    [{ order: ['azure', 'openai'] }, ['Azure', 'openai', 'groq']],
    [{ order: ['groq', 'azure'], allow_fallbacks: false }, ['groq', 'Azure']],
    [{ only: ['GROQ', 'azure'] }, ['Azure', 'groq']],
    [{ only: ['nobody'] }, []],
    [{ ignore: ['openai'] }, ['Azure', 'groq']],
    [{ only: ['openai', 'groq'], ignore: ['openai'] }, ['groq']],
    [{ order: null, only: null, sort: null, max_price: null }, ['openai', 'Azure', 'groq']],
  ])('is %j', (provider, expected) => {
    expect(namesOf(provider)).toEqual(expected);
  });

  it('is sorted by what was measured, and what was not measured yet comes first', () => {
    const figures: Record<string, Measured> = {
      openai: { latencyMs: 300, tokensPerSecond: 50 },
      Azure: { latencyMs: 100, tokensPerSecond: 20 },
      groq: UNMEASURED,
    };
    const measured = ({ provider }: { provider: string }) => figures[provider] ?? UNMEASURED;
    expect(namesOf({ sort: 'latency' }, measured)).toEqual(['groq', 'Azure', 'openai']);
    expect(namesOf({ sort: 'throughput' }, measured)).toEqual(['groq', 'openai', 'Azure']);
    expect(namesOf({ sort: 'latency', order: ['openai'] }, measured)).toEqual(['openai', 'groq', 'Azure']);
  });

  it('is never what could not be asked without it, and never asked twice', () => {
    const names = fc.array(fc.constantFrom('openai', 'azure', 'groq', 'nobody'), { minLength: 1, maxLength: 4 });
    const wanted = fc.record(
      { order: names, only: names, ignore: names, allow_fallbacks: fc.boolean(), sort: fc.constantFrom('price', 'latency', 'throughput') },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(wanted, (provider) => {
        const asked = namesOf(provider);
        expect(new Set(asked).size).toBe(asked.length);
        for (const name of asked) expect(ALL.map((one) => one.provider)).toContain(name);
      }),
    );
  });
});

it('by price, is what the request names: what stands in for a model in an agent run comes last', async () => {
  const { deps, close } = openInference();
  const preference = preferenceOf({ provider: { sort: 'price' } });
  if (!preference) throw new Error('no preference');
  const given = callOf({ model: 'gpt-4.1', models: ['gpt-4.1-mini'] }, { headers: { 'x-agent-run-id': 'r' } });
  const { targets } = await admit({ ...given, work: withPreference(given.work, preference) }, deps);
  close();
  const models = targets.map(({ model }) => model.id);
  expect(models.slice(0, 2)).toEqual(['gpt-4.1-mini', 'gpt-4.1']);
  expect(models.length).toBeGreaterThan(2);
});

describe('the most that a token may cost', () => {
  const model = loadCatalog().find('gpt-4o-mini');
  const price = model?.priceAt(Date.now());
  const fits = (max_price: object, inputTokens = 10) =>
    price && isAffordable(price, { inputTokens }, { preference: preferenceOf({ provider: { max_price } }) as never });

  it.each([
    [{}, true],
    [{ prompt: 0.15, completion: 0.6 }, true],
    [{ prompt: '0.15' }, true],
    [{ prompt: 0.149999 }, false],
    [{ completion: 0.599999 }, false],
    [{ completion: 0 }, false],
  ])('is exact: %j', (most, expected) => {
    expect(fits(most)).toBe(expected);
  });

  it('counts the dearer prices of long prompts where the prompt may be so long', () => {
    const long = loadCatalog().all.find(({ history }) => history.pricings[0]?.tiers[0]);
    const tiered = long?.priceAt(Date.now());
    if (!tiered?.tiers[0]) throw new Error('no model has tiers');
    const { aboveInputTokens } = tiered.tiers[0];
    const preference = preferenceOf({ provider: { max_price: { prompt: Number(tiered.unit.input_tokens) / 1e6 } } }) as never;
    expect(isAffordable(tiered, { inputTokens: aboveInputTokens }, { preference })).toBe(true);
    expect(isAffordable(tiered, { inputTokens: aboveInputTokens + 1 }, { preference })).toBe(false);
  });
});

it.each([
  { quantizations: ['fp8'] },
  { data_collection: 'deny' },
  { sort: 'cheapest' },
  { max_price: { image: 1 } },
  { max_price: { prompt: -1 } },
  { max_price: { prompt: '1e-9' } },
  { order: [] },
  { only: 'openai' },
])('a preference that the gateway does not know is refused, not passed over: %j', (provider) => {
  expect(ProviderPreference.safeParse(provider).success).toBe(false);
});
