import type { PlanDowngradePreviewResponse, PlanUpgradePreviewResponse } from '@tallygate/sdk';
import type { CommandWorld } from '../command.ts';
import { type Column, plainText, printList, printRecord } from '../print.ts';
import { valueText } from './compare.ts';

type Change = Pick<PlanUpgradePreviewResponse, 'from' | 'to' | 'difference_usd' | 'effective_at' | 'changes'>;

const LINES: readonly Column<Change & { readonly due_now_usd?: string }>[] = [
  { title: 'Old', of: ({ from }) => `${from.name}, ${from.monthly_price_usd} USD a month` },
  { title: 'New', of: ({ to }) => `${to.name}, ${to.monthly_price_usd} USD a month` },
  { title: 'Difference', of: ({ difference_usd }) => `${difference_usd} USD a month` },
  { title: 'From', of: ({ effective_at }) => effective_at },
];

const CHANGES: readonly Column<Change['changes'][number]>[] = [
  { title: 'what', of: ({ entitlement }) => entitlement },
  { title: 'old', of: ({ from }) => valueText(from), align: 'right' },
  { title: 'new', of: ({ to }) => valueText(to), align: 'right' },
];

/** Old, new, difference and date of a change of plan, on stderr: stdout is for the result. */
export function showChange(world: CommandWorld, preview: PlanUpgradePreviewResponse | PlanDowngradePreviewResponse): void {
  const shown = { ...world, out: world.err, jsonFields: undefined };
  printRecord(shown, preview, LINES);
  if ('due_now_usd' in preview) world.err.write(`Due now: ${preview.due_now_usd} USD\n`);
  printList(shown, preview.changes, CHANGES);
  if (!preview.livemode) world.err.write('This gateway has no payment provider: purchases from its sandbox have no effect on live keys.\n');
  for (const { meter, used, included } of 'warnings' in preview ? preview.warnings : [])
    world.err.write(plainText(`Warning: ${used} ${meter} are used this month, and ${preview.to.name} includes ${included}.\n`));
}
