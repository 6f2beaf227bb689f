import type { contract, PlanAutoTopupRequest } from '@tallygate/contract';
import type { Handlers, Principal } from '../../http/index.ts';
import { rfc3339 } from '../../kernel/clock.ts';
import { formatUsd, type NanoUsd, parseUsd } from '../../kernel/money.ts';
import type { AutoTopupRow, AutoTopupSettings } from './auto-topup.ts';
import { notThisAmount, paymentAmount } from './payment-amount.ts';
import type { PlanModes } from './plan-views.ts';
import type { AccountPlans } from './plans.ts';
import { trailOf } from './tell.ts';

/** What happens by itself as money is spent: automatic top-ups and alerts. */
export const spendingRoutes = ({
  live,
  paying: { autoTopup, livemode },
}: PlanModes): Pick<Handlers<typeof contract.plans>, 'getAutoTopup' | 'setAutoTopup' | 'getSpendAlerts' | 'setSpendAlerts'> => ({
  getAutoTopup: async ({ principal }) => ({ status: 200, body: topupToWire(await autoTopup.read(principal.accountId), livemode) }),
  setAutoTopup: async ({ principal, body, ...call }) => {
    await autoTopup.set(principal.accountId, topupSettings(body), trailOf(principal, call));
    return { status: 200, body: topupToWire(await autoTopup.read(principal.accountId), livemode) };
  },
  getSpendAlerts: async ({ principal }) => ({ status: 200, body: await alertsToWire(live, principal) }),
  setSpendAlerts: async ({ principal, body, ...call }) => {
    const thresholds = body.thresholds_usd.map((text) => parseUsd(text) ?? 0n);
    await live.alerts.set(principal.accountId, thresholds, trailOf(principal, call));
    return { status: 200, body: await alertsToWire(live, principal) };
  },
});

/** Charges a day where nothing is said. */
const DAILY_CHARGES = 5n;

/** @throws Problem `validation_failed` for settings under which a card would be charged over and over */
function topupSettings(body: PlanAutoTopupRequest): AutoTopupSettings {
  const [threshold, amount] = [parseUsd(body.threshold_usd) ?? 0n, paymentAmount(body.amount_usd)];
  const given = body.daily_maximum_usd;
  const dailyMaximum = given === undefined ? DAILY_CHARGES * amount : (parseUsd(given) ?? 0n);
  if (amount < threshold)
    throw notThisAmount('amount_usd', `must be at least the threshold, $${formatUsd(threshold)}, so that one charge is enough`);
  if (dailyMaximum < amount) throw notThisAmount('daily_maximum_usd', `must be at least the amount of one charge, $${formatUsd(amount)}`);
  return { enabled: body.enabled, threshold, amount, dailyMaximum };
}

function topupToWire(row: (AutoTopupRow & { readonly charged: NanoUsd }) | undefined, livemode: boolean) {
  if (!row) {
    const nothing = { threshold_usd: null, amount_usd: null, daily_maximum_usd: null, decline: null };
    return { enabled: false, status: 'off' as const, ...nothing, livemode };
  }
  const isLimited = row.charged + row.amount_nano > row.daily_maximum_nano;
  const busy = row.attempt_id !== null ? 'charging' : isLimited ? 'limited' : 'ready';
  return {
    enabled: row.enabled,
    threshold_usd: formatUsd(row.threshold_nano),
    amount_usd: formatUsd(row.amount_nano),
    daily_maximum_usd: formatUsd(row.daily_maximum_nano),
    status: !row.enabled ? 'off' : row.decline !== null ? 'declined' : busy,
    decline: row.decline,
    livemode,
  } as const;
}
async function alertsToWire({ alerts }: Pick<AccountPlans, 'alerts'>, { accountId }: Principal) {
  const { thresholds, reached } = await alerts.read(accountId);
  return {
    thresholds_usd: thresholds.map(formatUsd),
    alerts: reached.map(({ period, threshold_nano, charged_nano, created_at }) => ({
      period,
      threshold_usd: formatUsd(threshold_nano),
      charged_usd: formatUsd(BigInt(charged_nano)),
      created_at: rfc3339(created_at),
    })),
  };
}
