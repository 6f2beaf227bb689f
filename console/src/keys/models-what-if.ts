import type { UsageRow } from '@tallygate/sdk';
import { count, NANO_DIGITS, usd } from '../format.ts';

/** More than so many are counted, not named. */
const NAMED = 3;

/**
 * What a key would have been refused last month with these models alone, in a sentence.
 *
 * @param rows of the key's usage by model
 */
export function modelsWhatIf(models: readonly string[], rows: readonly UsageRow[]): string {
  if (models.length === 0) return '';
  const refused = rows.filter(({ model }) => model !== undefined && !models.includes(model));
  if (refused.length === 0) return 'Nothing of last month’s requests would have been refused.';
  const requests = refused.reduce((sum, row) => sum + row.requests, 0);
  const cost = refused.reduce((sum, row) => sum + Number(row.cost_usd), 0).toFixed(NANO_DIGITS);
  const names = refused.map(({ model }) => model);
  const others = names.length > NAMED ? [`${names.length - NAMED} more`] : [];
  const written = usd(cost.replace(/\.?0+$/, ''));
  return `Last month it would have refused ${count(requests)} ${requests === 1 ? 'request' : 'requests'} (${written}): ${[...names.slice(0, NAMED), ...others].join(', ')}.`;
}
