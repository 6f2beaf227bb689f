import type { MarketingPersonRecord } from '@tallygate/sdk';

export const STAGES = [
  ['new', 'New'],
  ['contacted', 'Contacted'],
  ['qualified', 'Qualified'],
  ['customer', 'Customer'],
  ['lost', 'Lost'],
] as const satisfies readonly (readonly [MarketingPersonRecord['status'], string])[];
