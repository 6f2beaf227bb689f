import { formatDecimal, formatUsd } from '../../kernel/money.ts';
import type { FocusCharge } from './focus-charges.ts';
import { focusMeter } from './focus-meters.ts';
import type { FocusGroup } from './focus-source.ts';

/** Who sells what the providers make. */
const GATEWAY = 'Tallygate';
const HOUR_MS = 3_600_000;

interface Row extends FocusCharge {
  /** Of the charge period. */
  readonly hours: number;
}

/** The columns of FOCUS 1.2 in the order of the specification. A gateway has no regions, resources and commitments, and one currency. */
const COLUMNS: Readonly<Record<string, (row: Row) => string>> = {
  BilledCost: ({ charged }) => formatUsd(charged),
  BillingAccountId: ({ group }) => group.account_id,
  BillingAccountName: ({ group }) => group.account_name ?? group.account_id,
  BillingCurrency: () => 'USD',
  BillingPeriodEnd: ({ group }) => monthAfter(group.period),
  BillingPeriodStart: ({ group }) => `${group.period.slice(0, 7)}-01T00:00:00Z`,
  ChargeCategory: () => 'Usage',
  /** A correction of a month that is not over yet is none to FOCUS. */
  ChargeClass: ({ group }) => (group.late ? 'Correction' : ''),
  ChargeDescription: describe,
  ChargeFrequency: () => 'Usage-Based',
  ChargePeriodEnd: ({ group, hours }) => utc(Date.parse(group.period) + hours * HOUR_MS),
  ChargePeriodStart: ({ group }) => group.period,
  /** None: an empty column tells that nothing in it is the unused part of a commitment. */
  CommitmentDiscountStatus: () => '',
  /** With a point, which readers of CSV take for the decimal that it is. */
  ConsumedQuantity: ({ units }) => `${units}.0`,
  ConsumedUnit: ({ meter }) => focusMeter(meter).unit,
  ContractedCost: listCost,
  ContractedUnitPrice: listUnitPrice,
  EffectiveCost: ({ cost }) => formatUsd(cost),
  /** An invoice is in whole cents, and carries the rest: no rows add up to it. */
  InvoiceId: () => '',
  InvoiceIssuerName: () => GATEWAY,
  ListCost: listCost,
  ListUnitPrice: listUnitPrice,
  PricingCategory: () => 'Standard',
  PricingCurrency: () => 'USD',
  PricingCurrencyContractedUnitPrice: listUnitPrice,
  PricingCurrencyEffectiveCost: ({ cost }) => formatUsd(cost),
  PricingCurrencyListUnitPrice: listUnitPrice,
  PricingQuantity: ({ meter, units }) => formatDecimal(units, focusMeter(meter).priced === 1 ? 0 : 6),
  PricingUnit: ({ meter }) => pricingUnit(meter),
  ProviderName: () => GATEWAY,
  PublisherName: ({ group }) => group.provider,
  ServiceCategory: () => 'AI and Machine Learning',
  ServiceName: () => 'Model inference',
  ServiceSubcategory: () => 'Generative AI',
  SkuId: skuOf,
  SkuMeter: ({ meter }) => focusMeter(meter).name,
  SkuPriceDetails: ({ group }) => JSON.stringify(priceDetails(group)),
  /** With the price itself: versions have tiers for long inputs, batches and service tiers. */
  SkuPriceId: (row) => `${skuOf(row)}@${row.group.price_version}/${listUnitPrice(row)}`,
  SubAccountId: ({ group }) => group.project_id ?? '',
  SubAccountName: ({ group }) => (group.project_id === null ? '' : (group.project_name ?? group.project_id)),
  Tags: ({ group }) => JSON.stringify(tagsOf(group)),
};

export const FOCUS_COLUMNS = Object.keys(COLUMNS);

export const focusRow = (charge: FocusCharge, hours: number): string[] => Object.values(COLUMNS).map((cell) => cell({ ...charge, hours }));

function skuOf({ group, meter }: Row): string {
  return `${group.model}/${focusMeter(meter).id}`;
}

function listUnitPrice({ meter, unitPrice, decimals }: Row): string {
  return formatDecimal(unitPrice * BigInt(focusMeter(meter).priced), decimals);
}

function listCost({ unitPrice, units, decimals }: Row): string {
  return formatDecimal(unitPrice * units, decimals);
}

function pricingUnit(meter: string): string {
  const { unit, priced } = focusMeter(meter);
  return priced === 1 ? unit : `${priced} ${unit}`;
}

const PARTS = { request: '', refund: ', refunded', corrected: ', taken back for a correction', correction: ', as corrected' } as const;

function describe({ group, meter }: Row): string {
  const what = group.outcome === 'cached' ? 'Answers from the cache' : focusMeter(meter).name;
  return `${what} of ${group.model}${group.kind === 'batch_line' ? ' in batches' : ''}${PARTS[group.part]}`;
}

const priceDetails = ({ price_version, price_factor, price_tier }: FocusGroup) => ({
  x_PriceVersion: price_version,
  ...(price_factor !== '1' && { x_PriceFactor: price_factor }),
  ...(price_tier !== null && { x_AboveInputTokens: price_tier }),
});

/** The tags of the requests, and under a prefix that no tag can have what the gateway knows of them. */
function tagsOf(group: FocusGroup): Record<string, string> {
  const given = new Map<string, string[]>();
  for (const tag of group.tags ?? []) {
    const [key = '', value = ''] = tag.split(/=(.*)/s);
    given.set(key, [...(given.get(key) ?? []), value]);
  }
  const known = {
    ...{ end_user: group.end_user, key: group.key_id, member: group.user_id, model: group.model, provider: group.provider },
    ...{ kind: group.kind, outcome: group.outcome },
  };
  return {
    ...Object.fromEntries([...given].map(([key, values]) => [key, values.join()])),
    ...Object.fromEntries(Object.entries(known).flatMap(([key, value]) => (value === null ? [] : [[`tallygate/${key}`, value]]))),
  };
}

const utc = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;

function monthAfter(period: string): string {
  const [year = 0, month = 0] = period.split('-').map(Number);
  return utc(Date.UTC(year, month));
}
