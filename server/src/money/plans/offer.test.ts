import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { DEFAULT_OFFER } from './default-offer.ts';
import { readOffer, termsOfPlan } from './offer.ts';
import { createPlanBook, largerPlan, OPERATOR, requireFeature } from './plan-book.ts';
import type { Plan } from './tiers.ts';

const FILE = readFileSync(new URL('./default-offer.json', import.meta.url), 'utf8');
const book = createPlanBook(DEFAULT_OFFER, { isSelling: true });
const TIERS = ['free', 'pro', 'scale', 'enterprise'];

describe('the default offer', () => {
  test('is the tiers of the interface, of which all but the first are for sale', () => {
    expect([book.offered.map(({ id }) => id), book.standard.id]).toEqual([TIERS, 'free']);
    expect(TIERS.filter(book.isForSale)).toEqual(['pro', 'scale', 'enterprise']);
  });

  test('includes no less of anything in a dearer tier', () => {
    const quotas = book.offered.map(({ caps }) => caps);
    for (const [index, caps] of quotas.entries())
      for (const [meter, units] of Object.entries(quotas[index - 1] ?? {})) expect(caps[meter], meter).toBeGreaterThanOrEqual(units);
  });

  test('ends with its quota in the free tier alone, and an invoice has a ceiling', () => {
    expect(book.offered.map(({ overage }) => overage.kind)).toEqual(['block', 'balance', 'balance', 'invoice']);
    expect(book.of('enterprise').overage).toMatchObject({ ceiling: expect.any(BigInt) });
  });

  test('has no plan of another name', () => {
    for (const id of ['', 'Free', 'gold', 'pro@2', '__proto__', 'constructor']) expect(book.find(id)).toBeUndefined();
  });
});

describe('the plan of operators', () => {
  test('has every feature and no limit, stands above all others and is not offered', () => {
    const operator = book.of(OPERATOR);
    expect(termsOfPlan(operator)).toMatchObject({ monthly_price_usd: '0', overage: { policy: 'none', ceiling_usd: null } });
    expect([...operator.features]).toEqual([...book.of('enterprise').features]);
    expect(Math.max(...TIERS.map((id) => book.rankOf({ id })))).toBeLessThan(book.rankOf(operator));
    expect([book.offered.includes(operator), book.isForSale(OPERATOR)]).toEqual([false, false]);
  });
});

interface FileOfPlans {
  default: string;
  plans: Record<string, unknown>[];
}

/** The default offer with changes. */
function changed(change: (file: FileOfPlans, plan: Record<string, unknown>) => void): unknown {
  const file = JSON.parse(FILE) as FileOfPlans;
  change(file, file.plans[1] ?? {});
  return file;
}

describe('a file of plans', () => {
  test.each<[string, (file: FileOfPlans, plan: Record<string, unknown>) => void, string]>([
    [
      'an unknown feature',
      (_, plan) => {
        plan['features'] = ['receipts', 'teleport'];
      },
      'plans.1.features.1: is not a feature: there are receipts, agent_runs, batches, auto_topup, anchoring, invoicing, dedicated_capacity',
    ],
    [
      'an unknown field',
      (_, plan) => {
        plan['price'] = 1;
      },
      'plans.1: ',
    ],
    [
      'a meter left out',
      (_, plan) => {
        plan['quota'] = { requests: 1, tokens: 1, images: 1, audio_seconds: 1 };
      },
      'plans.1.quota.video_seconds: ',
    ],
    [
      'a fraction of a request',
      (_, plan) => {
        plan['quota'] = { requests: 0.5, tokens: 1, images: 1, audio_seconds: 1, video_seconds: 1 };
      },
      'plans.1.quota.requests: ',
    ],
    [
      'a fraction of a cent',
      (_, plan) => {
        plan['monthly_price_usd'] = '19.999';
      },
      'plans.1.monthly_price_usd: must be whole cents',
    ],
    [
      'a version that is none',
      (_, plan) => {
        plan['version'] = 0;
      },
      'plans.1.version: ',
    ],
    [
      'the id of the plan of operators',
      (_, plan) => {
        plan['plan_id'] = 'operator';
      },
      'plans.1.plan_id: is reserved: take another id',
    ],
    [
      'an id twice',
      (_, plan) => {
        plan['plan_id'] = 'scale';
      },
      'plans.2.plan_id: "scale" is there twice',
    ],
    [
      'a default that is not there',
      (file) => {
        file.default = 'gold';
      },
      'default: must be one of free, pro, scale, enterprise',
    ],
    [
      'a default that has a price',
      (file) => {
        file.default = 'pro';
      },
      'default: must be a plan that costs nothing, unlike "pro"',
    ],
    [
      'a price of zero for what is for sale',
      (_, plan) => {
        plan['monthly_price_usd'] = '0';
      },
      'plans.1.monthly_price_usd: must be more than 0',
    ],
    [
      'an invoice without a ceiling',
      (file) => {
        Object.assign(file.plans[3] ?? {}, { overage: { policy: 'invoice', ceiling_usd: null } });
      },
      'plans.3.overage.ceiling_usd: must be an amount for "invoice"',
    ],
    [
      'an invoice without the feature',
      (file) => {
        Object.assign(file.plans[3] ?? {}, { features: [] });
      },
      'plans.3.features: must include "invoicing"',
    ],
    [
      'something beyond a quota without limit',
      (_, plan) => {
        plan['quota'] = { requests: null, tokens: null, images: null, audio_seconds: null, video_seconds: null };
      },
      'plans.1.overage.policy: must be "none" where every quota is null',
    ],
    [
      'no plans',
      (file) => {
        file.plans = [];
      },
      'plans: ',
    ],
  ])('with %s is refused by its path', (_, change, said) => {
    const read = readOffer(changed(change));
    expect('faults' in read && read.faults.some((fault) => fault.startsWith(said)) ? said : read).toBe(said);
  });

  test('names everything that is wrong at once', () => {
    const read = readOffer(changed((_, plan) => Object.assign(plan, { name: '', version: 'one' })));
    expect('faults' in read && read.faults.map((fault) => fault.split(':')[0])).toEqual(['plans.1.version', 'plans.1.name']);
  });

  test.each([null, [], 'plans', 7, {}])('that is %j is refused', (json) => {
    expect(readOffer(json)).toHaveProperty('faults');
  });

  test('may leave single meters and rates without limit', () => {
    const read = readOffer(
      changed((_, plan) =>
        Object.assign(plan, {
          quota: { requests: null, tokens: 5, images: 0, audio_seconds: 0, video_seconds: 0 },
          rate_limits: { requests_per_minute: null, tokens_per_minute: 9, concurrency: null },
        }),
      ),
    );
    const plan: Plan | undefined = 'offer' in read ? read.offer.plans[1] : undefined;
    expect(plan).toMatchObject({
      quota: { requests: null, tokens: 5n },
      rates: { requestsPerMinute: null, tokensPerMinute: 9, concurrency: null },
    });
  });
});

describe('a feature that the plan does not have', () => {
  test.each([
    [
      true,
      'The plan Free does not include anchoring: anchoring is part of Scale or Enterprise; get a larger plan (POST /v1/plans/checkout).',
    ],
    [
      false,
      'The plan Free does not include anchoring: anchoring is part of Scale or Enterprise; ask the operator of this gateway for a larger plan.',
    ],
  ])('is refused with the plans that have it (sold: %s)', (isSelling, said) => {
    const own = createPlanBook(DEFAULT_OFFER, { isSelling });
    expect(() => requireFeature(own, own.of('free'), 'anchoring')).toThrow(said);
    expect(said).toContain(largerPlan(own));
  });
});
