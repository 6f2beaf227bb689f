import { PrintableName, TimeBound, UsdInput } from './conventions.ts';

/** What is known of requests until they are archived: the usage records say it, not the receipts. */
export const REQUEST_FILTERS = {
  end_user: PrintableName.max(128).optional().meta({ description: 'Only of requests for this end user.' }),
  min_cost_usd: UsdInput.optional().meta({ description: 'Only of requests that cost so much or more.', examples: ['0.01'] }),
  max_cost_usd: UsdInput.optional().meta({ description: 'Only of requests that cost so much or less.', examples: ['1'] }),
  from: TimeBound.optional().meta({ description: 'Only of requests that started at this time or later.' }),
  to: TimeBound.optional().meta({ description: 'Only of requests that started before this time.' }),
};
