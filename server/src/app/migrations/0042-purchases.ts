/** Payments for something else than plans and balances: a place at an event. */
export const purchasesMigration = {
  name: '0042-purchases',
  up: `
alter table checkouts drop constraint checkouts_kind_check,
  add constraint checkouts_kind_check check (kind in ('plan', 'balance', 'purchase'));
alter table payments drop constraint payments_kind_check,
  add constraint payments_kind_check check (kind in ('balance', 'auto_topup', 'subscription', 'purchase'));
`,
};
