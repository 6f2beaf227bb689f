import { budgetOf } from './budgets.ts';
import { isNothing, quoted } from './words.ts';

/** What the sections of `config.yaml` beside `model_list` say: the budget of everybody together, and the names of everything else. */
export function importSettings(config: Readonly<Record<string, unknown>>): { readonly limits: string[]; readonly leftOut: string[] } {
  const limits: string[] = [];
  const leftOut: string[] = [];
  for (const [section, said] of Object.entries(config)) {
    if (section === 'model_list' || isNothing(said)) continue;
    const settings = typeof said === 'object' && said !== null && !Array.isArray(said) ? { ...said } : {};
    const { max_budget: budget, budget_duration: duration, ...others }: Record<string, unknown> = settings;
    if (section === 'litellm_settings' && !isNothing(budget)) {
      const { usd, period, stricter } = budgetOf(String(budget), String(duration ?? ''));
      limits.push(`npx tallygate limits set --kind account --period ${period} --cap ${quoted(usd)}`);
      if (stricter !== undefined) leftOut.push(`${section}: ${stricter}`);
    } else Object.assign(others, { max_budget: budget, budget_duration: duration });
    const unread = Object.entries(others).filter(([, value]) => !isNothing(value));
    // By name: a value may be a secret.
    leftOut.push(...unread.map(([name]) => `${section}.${name}`));
    if (Object.keys(settings).length === 0) leftOut.push(section);
  }
  return { limits, leftOut };
}
