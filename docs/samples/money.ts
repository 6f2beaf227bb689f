import type { Samples } from './sample.ts';

const ID = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77';

export const MONEY: Samples = {
  getUsage: { cli: 'tallygate usage --by model' },
  listRuns: {
    cli: 'tallygate runs list --state active',
  },
  getRun: { cli: 'tallygate runs show trip-planner-42' },
  closeRun: { cli: 'tallygate runs close trip-planner-42' },
  getReceipt: { cli: `tallygate receipts get ${ID} -o receipt.json` },
  getReceiptProof: { sdk: `const proof = await tallygate.receipts.proof('${ID}');` },
  getLogCheckpoint: { sdk: 'const checkpoint = await tallygate.receipts.checkpoint();' },
  getVaasKeys: { cli: 'tallygate receipts keys' },
  listSignedInvoices: { cli: 'tallygate invoices list' },
  getSignedInvoice: { cli: 'tallygate invoices get 2026-11 -o invoice.json' },
  listPlans: { cli: 'tallygate plans list' },
  getCurrentPlan: { cli: 'tallygate plans show' },
  getEntitlementMatrix: { cli: 'tallygate plans compare' },
  getPlanUsage: { cli: 'tallygate plans usage' },
  getBillingSummary: { cli: 'tallygate plans billing' },
  previewUpgrade: {
    cli: 'tallygate plans upgrade scale --preview',
  },
  previewDowngrade: {
    cli: 'tallygate plans downgrade free --preview',
  },
  scheduleDowngrade: { cli: 'tallygate plans downgrade free --yes' },
  getOverageEstimate: { cli: 'tallygate plans overage' },
  checkoutPlan: {
    cli: 'tallygate plans checkout pro --yes --no-wait',
  },
  checkoutBalance: {
    cli: 'tallygate plans topup 20 --yes --no-wait',
  },
  createWebhook: { cli: 'tallygate webhooks create https://example.com/tallygate --type budget.cap_hit' },
  testWebhook: { cli: 'tallygate webhooks test 019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77' },
  listWebhookDeliveries: { cli: 'tallygate webhooks deliveries 019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77' },
  replayWebhook: { cli: 'tallygate webhooks replay 019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77 --since 2026-11-21T08:00:00Z' },
  listInvoices: {
    cli: 'tallygate plans invoices',
  },
};
