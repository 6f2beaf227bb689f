import type { contract, PlanAutoTopupRequest } from '@tallygate/contract';
import type { Call, Handlers, Principal } from '../../http/index.ts';
import { type Clock, monthEnd, monthOf, rfc3339 } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { formatUsd, type NanoUsd, parseUsd } from '../../kernel/money.ts';
import { Problem } from '../../kernel/problem.ts';
import { knownPlan } from './account-routes.ts';
import type { AutoTopupRow, AutoTopupSettings } from './auto-topup.ts';
import { requireForSale } from './checkouts.ts';
import { moneyFigures, monthFigures, projection } from './figures.ts';
import { INVOICE_PAGE_POLICY, invoicePage } from './invoice-page.ts';
import { requestHashOf } from './payment-commands.ts';
import { type AccountPlans, asking, type Plans } from './plans.ts';
import { planWithoutPayment, scheduledDowngrade, subscriptionRow } from './subscription-row.ts';
import { authorOf, trailOf } from './tell.ts';
import {
  changeToWire,
  checkoutStateToWire,
  checkoutToWire,
  currentToWire,
  downgradeToWire,
  entitlementsToWire,
  invoiceToWire,
  matrixToWire,
  meterToWire,
  monthToWire,
  paymentToWire,
  planToWire,
  statusToWire,
  timeOrNull,
} from './wire.ts';

const CENT = 10_000_000n;
const [LEAST_PAYMENT, MOST_PAYMENT] = [100n * CENT, 1_000_000n * CENT];

/** Where plans and payments are on record, and through which of them the account pays. */
export interface PlanModes {
  readonly live: AccountPlans;
  /** `live` with a payment provider; without one the sandbox, which never changes anything live. */
  readonly paying: Plans;
}

export function planRoutes({ live, paying }: PlanModes, clock: Clock): Handlers<typeof contract.plans> {
  const { book, checkouts, downgrades, previews, refunds, autoTopup } = paying;
  const { livemode } = paying;
  const { alerts, pool } = live;

  /**
   * A test key sees what the sandbox sold, everybody else what is live.
   * @throws Problem `not_found` where the sandbox's are asked for and there is none
   */
  const modeOf = (principal: Principal, wanted?: boolean): AccountPlans => {
    if (wanted ?? (livemode || principal.kind === 'session' || principal.livemode)) return live;
    if (!livemode) return paying;
    throw new Problem('not_found', 'This gateway has a payment provider, and so no payments of a sandbox: leave livemode out.');
  };

  /** What admission goes by, and how it came about. Without the account's lock: whoever holds it may be waiting for the provider. */
  const standing = async (plans: AccountPlans, accountId: string) => {
    const row = await subscriptionRow(plans.pool, accountId, plans);
    return { row, plan: book.of(row.plan), downgrade: await scheduledDowngrade(plans.pool, accountId) };
  };
  const current = async (plans: AccountPlans, { accountId }: Principal) => {
    const { plan, row, downgrade } = await standing(plans, accountId);
    return currentToWire({ plan, row, downgrade, livemode: plans.livemode });
  };
  const month = async (plans: AccountPlans, { accountId }: Principal) => {
    const { plan, row, downgrade } = await standing(plans, accountId);
    return { plan, row, downgrade, figures: await monthFigures(plans.pool, accountId, plan, clock.now()) };
  };
  const invoiceOf = async ({ accountId }: Principal, invoiceId: string) => {
    const own = await live.records.findInvoice(accountId, invoiceId);
    const row = own ?? (livemode ? undefined : await paying.records.findInvoice(accountId, invoiceId));
    if (!row) throw new Problem('not_found', 'There is no such invoice in this account.');
    return { ...invoiceToWire(row), lines: row.lines, livemode: own !== undefined };
  };

  return {
    config: async () => ({ status: 200, body: book.offered.map(planToWire) }),
    current: async ({ principal }) => ({ status: 200, body: await current(modeOf(principal), principal) }),
    entitlements: async ({ principal }) => {
      const plans = modeOf(principal);
      const { plan } = await standing(plans, principal.accountId);
      return { status: 200, body: { ...entitlementsToWire(plan), livemode: plans.livemode } };
    },
    matrix: async () => ({ status: 200, body: matrixToWire(book.offered) }),

    usage: async ({ principal }) => {
      const plans = modeOf(principal);
      const { plan, figures } = await month(plans, principal);
      const { cost, charged, meters } = figures;
      return {
        status: 200,
        body: {
          plan_id: plan.id,
          ...monthToWire(figures),
          meters: meters.map(meterToWire),
          cost_usd: formatUsd(cost),
          covered_usd: formatUsd(cost - charged),
          charged_usd: formatUsd(charged),
          livemode: plans.livemode,
        },
      };
    },

    billingSummary: async ({ principal }) => {
      const plans = modeOf(principal);
      const { plan, row, downgrade, figures } = await month(plans, principal);
      const { balance, uninvoiced, disputed, owed, waiting } = await moneyFigures(plans.pool, principal.accountId);
      const { overage } = entitlementsToWire(plan);
      const renews = row.subscription_id !== null && !row.cancels_at_period_end;
      return {
        status: 200,
        body: {
          plan_id: plan.id,
          version: plan.version,
          status: statusToWire(row),
          monthly_price_usd: formatUsd(plan.monthlyPrice),
          ...monthToWire(figures),
          balance_usd: formatUsd(balance),
          charged_usd: formatUsd(figures.charged),
          uninvoiced_usd: formatUsd(uninvoiced),
          owed_usd: formatUsd(owed),
          overage,
          disputed_usd: formatUsd(disputed),
          grace_ends_at: timeOrNull(row.grace_ends_at),
          next_charge_at: renews ? timeOrNull(row.period_end) : null,
          next_charge_usd: renews
            ? formatUsd(book.of(downgrade?.to_plan ?? `${row.plan_id}@${row.plan_version}`).monthlyPrice + waiting)
            : null,
          livemode: plans.livemode,
        },
      };
    },

    upgradePreview: async ({ principal, body }) => {
      const [{ plan: from, row }, to] = [await standing(paying, principal.accountId), book.of(knownPlan(book, body.plan_id))];
      requireForSale(book, to, from);
      if (book.rankOf(to) <= book.rankOf(from)) throw notDearer(to.name, from.name);
      if (row.subscription_id === null) {
        const preview = { due_now_usd: formatUsd(to.monthlyPrice), next_charge_at: null, requires_checkout: true };
        return { status: 200, body: { ...changeToWire(from, to, clock.now()), ...preview, livemode } };
      }
      const { subscription_id } = row;
      const { dueNow, nextChargeAtMs, proratedAtMs } = await asking(previews.make({ ...row, subscription_id }, to));
      const preview = { due_now_usd: formatUsd(dueNow), next_charge_at: rfc3339(nextChargeAtMs), requires_checkout: false };
      return { status: 200, body: { ...changeToWire(from, to, proratedAtMs), ...preview, livemode } };
    },

    downgradePreview: async ({ principal, body }) => {
      const { plan: from, row, figures } = await month(paying, principal);
      const to = book.of(knownPlan(book, body.plan_id));
      if (book.rankOf(to) >= book.rankOf(from))
        throw new Problem('conflict', `${to.name} is no lower plan than ${from.name}: preview an upgrade instead.`);
      const effectiveAt = row.period_end?.getTime() ?? monthEnd(monthOf(clock.now())).getTime();
      const warnings = figures.meters
        .map(({ meter, used }) => ({ meter, used, included: to.quota[meter] }))
        .flatMap(({ meter, used, included }) =>
          included === null || used <= included ? [] : [{ meter, used: Number(used), included: Number(included) }],
        );
      return { status: 200, body: { ...changeToWire(from, to, effectiveAt), warnings, livemode } };
    },

    scheduleDowngrade: async ({ principal, body, ...call }) => {
      const target = book.of(knownPlan(book, body.plan_id));
      const scheduling = downgrades.schedule(principal.accountId, target, newId(), trailOf(principal, call));
      return { status: 200, body: downgradeToWire(await asking(scheduling), livemode) };
    },
    cancelDowngrade: async ({ principal, ...call }) => {
      await asking(downgrades.cancel(principal.accountId, newId(), trailOf(principal, call)));
      return { status: 200, body: await current(paying, principal) };
    },
    applyDowngrades: async ({ body }) => {
      const items = (await asking(downgrades.apply(body.limit))).map(({ downgradeId, accountId, outcome }) => ({
        downgrade_id: downgradeId,
        account_id: accountId,
        outcome,
      }));
      const count = (outcome: string) => items.filter((item) => item.outcome === outcome).length;
      return { status: 200, body: { applied: count('applied'), dropped: count('dropped'), waiting: count('waiting'), items } };
    },

    overageEstimate: async ({ principal }) => {
      const plans = modeOf(principal);
      const { plan, figures } = await month(plans, principal);
      const { charged, meters, byModel } = figures;
      return {
        status: 200,
        body: {
          ...monthToWire(figures),
          as_of: rfc3339(clock.now()),
          policy: plan.overage.kind,
          charged_usd: formatUsd(charged),
          projected_usd: formatUsd(projection(figures, clock.now())),
          meters: meters.map(meterToWire),
          lines: byModel.map((line) => ({ model: line.model, requests: Number(line.requests), charged_usd: formatUsd(line.charged) })),
          livemode: plans.livemode,
        },
      };
    },

    checkout: async ({ principal, body, headers, ...call }) => {
      const { plan_id: planId, prorated_at: proratedAt } = body;
      const wish = {
        successUrl: body.success_url,
        cancelUrl: body.cancel_url,
        proratedAtMs: proratedAt === undefined ? undefined : Date.parse(proratedAt),
        requestHash: requestHashOf(authorOf(principal, call), headers['idempotency-key'], 'upgrade', planId, proratedAt ?? null),
      };
      const row = await asking(checkouts.plan(payerOf(principal, call), book.of(knownPlan(book, planId)), wish));
      return { status: 200, body: { ...checkoutToWire(row, livemode), plan_id: planId } };
    },
    balanceCheckout: async ({ principal, body, ...call }) => {
      const wish = { amount: paymentAmount(body.amount_usd), saveCard: body.save_card };
      const row = await asking(
        checkouts.balance(payerOf(principal, call), wish, { successUrl: body.success_url, cancelUrl: body.cancel_url }),
      );
      return { status: 200, body: checkoutToWire(row, livemode) };
    },
    getCheckout: async ({ principal, params }) => ({
      status: 200,
      body: checkoutStateToWire(await checkouts.read(principal.accountId, params.checkout_id), livemode),
    }),
    cancel: async ({ principal, ...call }) => {
      const { row } = await standing(paying, principal.accountId);
      if (row.subscription_id === null) throw new Problem('conflict', 'There is no paid plan to cancel.');
      if (!row.cancels_at_period_end)
        await asking(downgrades.schedule(principal.accountId, book.of(planWithoutPayment(row, paying)), newId(), trailOf(principal, call)));
      return { status: 200, body: await current(paying, principal) };
    },
    resume: async ({ principal, ...call }) => {
      const { row } = await standing(paying, principal.accountId);
      if (!row.cancels_at_period_end) throw new Problem('conflict', 'The plan is not cancelled: there is nothing to take back.');
      await asking(downgrades.cancel(principal.accountId, newId(), trailOf(principal, call)));
      return { status: 200, body: await current(paying, principal) };
    },
    portal: async ({ principal, body }) => ({ status: 200, body: { url: await asking(checkouts.portal(principal, body.return_url)) } }),

    listInvoices: async ({ principal, query }) => {
      const plans = modeOf(principal, query.livemode);
      const { rows, total } = await plans.records.invoices(principal.accountId, query);
      const items = rows.map((row) => ({ ...invoiceToWire(row), livemode: plans.livemode }));
      return { status: 200, body: { items, total, limit: query.limit, offset: query.offset } };
    },
    getInvoice: async ({ principal, params }) => ({ status: 200, body: await invoiceOf(principal, params.invoice_id) }),
    printInvoice: async ({ principal, params, setHeader }) => {
      const invoice = await invoiceOf(principal, params.invoice_id);
      const { rows } = await pool.query<{ name: string }>('select name from accounts where id = $1', [principal.accountId]);
      setHeader('content-security-policy', INVOICE_PAGE_POLICY);
      return { status: 200, body: invoicePage(invoice, rows[0]?.name ?? '') };
    },
    listPayments: async ({ principal, query }) => {
      const plans = modeOf(principal, query.livemode);
      const { rows, total } = await plans.records.payments(principal.accountId, query);
      const items = rows.map((row) => paymentToWire(row, plans.livemode));
      return { status: 200, body: { items, total, limit: query.limit, offset: query.offset } };
    },

    refundPayment: async ({ principal, params, body, headers, ...call }) => {
      const payment = await paying.records.payment(params.payment_id);
      const amount = body.amount_usd === undefined ? undefined : paymentAmount(body.amount_usd, CENT);
      const order = { payment, amount, reason: body.reason, author: authorOf(principal, call), key: headers['idempotency-key'] };
      await asking(refunds.order(order));
      return { status: 200, body: paymentToWire(await paying.records.payment(params.payment_id), livemode) };
    },

    getAutoTopup: async ({ principal }) => ({ status: 200, body: topupToWire(await autoTopup.read(principal.accountId), livemode) }),
    setAutoTopup: async ({ principal, body, ...call }) => {
      await autoTopup.set(principal.accountId, topupSettings(body), trailOf(principal, call));
      return { status: 200, body: topupToWire(await autoTopup.read(principal.accountId), livemode) };
    },
    getSpendAlerts: async ({ principal }) => ({ status: 200, body: await alertsToWire(principal) }),
    setSpendAlerts: async ({ principal, body, ...call }) => {
      const thresholds = body.thresholds_usd.map((text) => parseUsd(text) ?? 0n);
      await alerts.set(principal.accountId, thresholds, trailOf(principal, call));
      return { status: 200, body: await alertsToWire(principal) };
    },
  };

  async function alertsToWire({ accountId }: Principal) {
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
}

const payerOf = (principal: Principal, call: Pick<Call, 'peer' | 'requestId'>) => ({
  accountId: principal.accountId,
  userId: principal.userId,
  trail: trailOf(principal, call),
});

const notDearer = (to: string, from: string): Problem =>
  new Problem(
    'conflict',
    to === from ? `The account has ${from} already.` : `The account has ${from}: for a cheaper plan preview a downgrade.`,
  );

/** @throws Problem `validation_failed` for what no card is charged with */
function paymentAmount(text: string, least: NanoUsd = LEAST_PAYMENT): NanoUsd {
  const amount = parseUsd(text) ?? 0n;
  if (amount >= least && amount <= MOST_PAYMENT && amount % CENT === 0n) return amount;
  throw notThisAmount('amount_usd', `must be whole cents from $${formatUsd(least)} to $${formatUsd(MOST_PAYMENT)}`);
}

const notThisAmount = (field: string, msg: string): Problem =>
  new Problem('validation_failed', `${field} ${msg}.`, { errors: [{ loc: ['body', field], msg, type: 'amount' }] });

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
