import type { Samples } from './sample.ts';

const KEY = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77';

export const KEYS: Samples = {
  createKey: {
    sdk: `const { key, key_id } = await tallygate.keys.create({ name: 'production', monthly_cap_usd: '25' });`,
    cli: 'tallygate keys create --name production --cap 25',
  },
  listKeys: { sdk: 'const keys = await tallygate.keys.list();', cli: 'tallygate keys list' },
  getKey: { sdk: `const key = await tallygate.keys.get('${KEY}');`, cli: 'tallygate keys get production' },
  updateKey: {
    sdk: `await tallygate.keys.update('${KEY}', { allowed_models: ['gpt-4o-mini'] });`,
    cli: 'tallygate keys update production --model gpt-4o-mini',
  },
  rotateKey: {
    sdk: `const { key } = await tallygate.keys.rotate('${KEY}', { grace_seconds: 3600 });`,
    cli: 'tallygate keys rotate production --grace 1h',
  },
  revokeKey: { sdk: `await tallygate.keys.revoke('${KEY}');`, cli: 'tallygate keys revoke production' },
  getBudgetSummary: { sdk: 'const { items } = await tallygate.budgets.summary();', cli: 'tallygate budgets show' },
  getKeyBudget: { sdk: `const budget = await tallygate.budgets.get('${KEY}');`, cli: 'tallygate budgets show production' },
  updateKeyBudget: {
    sdk: `await tallygate.budgets.set('${KEY}', { monthly_cap_usd: '50', alert_thresholds: [80, 100] });`,
    cli: 'tallygate budgets set production 50 --alerts 80,100',
  },
  listKeyBudgetChanges: { sdk: `const history = await tallygate.budgets.history('${KEY}');`, cli: 'tallygate budgets history production' },
  listKeyBudgetAlerts: { sdk: `const alerts = await tallygate.budgets.alerts('${KEY}');`, cli: 'tallygate budgets alerts production' },
};
