import type { UsageRow } from '@tallygate/sdk';
import { expect, test } from 'vitest';
import { modelsWhatIf } from './models-what-if.ts';

const row = (model: string, requests: number, cost: string) => ({ model, requests, cost_usd: cost }) as UsageRow;
const MONTH = [row('gpt-4o', 1, '0.5'), row('gpt-4o-mini', 1_200, '0.0000125'), row('o3', 2, '4'), row('o1', 1, '1'), row('o4', 1, '1')];

test('the models of a key say what last month they would have refused, and that nothing is without them', () => {
  expect(modelsWhatIf([], MONTH)).toBe('');
  expect(modelsWhatIf(['gpt-4o', 'gpt-4o-mini', 'o3', 'o1', 'o4', 'new'], MONTH)).toBe(
    'Nothing of last month’s requests would have been refused.',
  );
  expect(modelsWhatIf(['gpt-4o-mini', 'o3', 'o1', 'o4'], MONTH)).toBe('Last month it would have refused 1 request ($0.50): gpt-4o.');
  expect(modelsWhatIf(['new'], MONTH)).toBe(
    'Last month it would have refused 1,205 requests ($6.5000125): gpt-4o, gpt-4o-mini, o3, 2 more.',
  );
});
