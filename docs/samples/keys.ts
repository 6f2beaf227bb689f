import type { Samples } from './sample.ts';

export const KEYS: Samples = {
  createKey: {
    cli: 'tallygate keys create --name production --cap 25',
  },
  listKeys: { cli: 'tallygate keys list' },
  getKey: { cli: 'tallygate keys get production' },
  updateKey: {
    cli: 'tallygate keys update production --model gpt-4o-mini',
  },
  rotateKey: {
    cli: 'tallygate keys rotate production --grace 1h',
  },
  revokeKey: { cli: 'tallygate keys revoke production' },
  getBudgetSummary: { cli: 'tallygate budgets show' },
  getKeyBudget: { cli: 'tallygate budgets show production' },
  updateKeyBudget: {
    cli: 'tallygate budgets set production 50 --alerts 80,100',
  },
  listKeyBudgetChanges: { cli: 'tallygate budgets history production' },
  listKeyBudgetAlerts: { cli: 'tallygate budgets alerts production' },
};
