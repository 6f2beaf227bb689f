import type { Samples } from './sample.ts';

const ID = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77';

export const MONEY: Samples = {
  getUsage: { sdk: `const usage = await tallygate.usage.get({ group_by: 'model' });`, cli: 'tallygate usage --by model' },
  getRequest: { sdk: `const { attempts, cost_usd } = await tallygate.requests.get('req_${ID.replaceAll('-', '')}');` },
  listRuns: {
    sdk: `for await (const run of tallygate.runs.list({ state: 'active' })) console.log(run.run_id);`,
    cli: 'tallygate runs list --state active',
  },
  getRun: { sdk: `const run = await tallygate.runs.get('trip-planner-42');`, cli: 'tallygate runs show trip-planner-42' },
  closeRun: { sdk: `await tallygate.runs.close('trip-planner-42');`, cli: 'tallygate runs close trip-planner-42' },
  getReceipt: { sdk: `const receipt = await tallygate.receipts.get('${ID}');`, cli: `tallygate receipts get ${ID} -o receipt.json` },
  getReceiptProof: { sdk: `const proof = await tallygate.receipts.proof('${ID}');` },
  getLogCheckpoint: { sdk: 'const checkpoint = await tallygate.receipts.checkpoint();' },
  getLogConsistency: { sdk: 'const { path } = await tallygate.receipts.consistency({ from: 1, to: 2 });' },
  getVaasKeys: { sdk: 'const keys = await tallygate.receipts.keys();', cli: 'tallygate receipts keys' },
  listPlans: { sdk: 'const plans = await tallygate.plans.list();', cli: 'tallygate plans list' },
  getCurrentPlan: { sdk: 'const { plan } = await tallygate.plans.current();', cli: 'tallygate plans show' },
  getEntitlements: { sdk: 'const entitlements = await tallygate.plans.entitlements();' },
  getEntitlementMatrix: { sdk: 'const matrix = await tallygate.plans.compare();', cli: 'tallygate plans compare' },
  getPlanUsage: { sdk: 'const usage = await tallygate.plans.usage();', cli: 'tallygate plans usage' },
  getBillingSummary: { sdk: 'const billing = await tallygate.plans.billing();', cli: 'tallygate plans billing' },
  previewUpgrade: {
    sdk: `const { due_now_usd } = await tallygate.plans.previewUpgrade('scale');`,
    cli: 'tallygate plans upgrade scale --preview',
  },
  previewDowngrade: {
    sdk: `const preview = await tallygate.plans.previewDowngrade('free');`,
    cli: 'tallygate plans downgrade free --preview',
  },
  scheduleDowngrade: { sdk: `await tallygate.plans.scheduleDowngrade('free');`, cli: 'tallygate plans downgrade free --yes' },
  cancelDowngrade: { sdk: 'await tallygate.plans.cancelDowngrade();' },
  getOverageEstimate: { sdk: 'const overage = await tallygate.plans.overage();', cli: 'tallygate plans overage' },
  checkoutPlan: {
    sdk: `const { checkout_url } = await tallygate.plans.checkout({ plan_id: 'pro' });`,
    cli: 'tallygate plans checkout pro --yes --no-wait',
  },
  checkoutBalance: {
    sdk: `const { checkout_url } = await tallygate.plans.topUp({ amount_usd: '20' });`,
    cli: 'tallygate plans topup 20 --yes --no-wait',
  },
  cancelPlan: { sdk: 'await tallygate.plans.cancel();' },
  resumePlan: { sdk: 'await tallygate.plans.resume();' },
  listInvoices: {
    sdk: 'for await (const invoice of tallygate.plans.invoices()) console.log(invoice.total_usd);',
    cli: 'tallygate plans invoices',
  },
  listPayments: { sdk: 'for await (const payment of tallygate.plans.payments()) console.log(payment.amount_usd);' },
};
