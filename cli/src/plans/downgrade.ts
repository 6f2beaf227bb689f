import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { PlanDowngradeScheduleResponseFields } from '../generated/fields.ts';
import { printRecord } from '../print.ts';
import { requireConsent } from './confirm.ts';
import { showChange } from './show-change.ts';

interface Options {
  readonly yes?: true;
  readonly preview?: true;
  readonly undo?: true;
}

export const downgradePlan = (plans: Command, perform: Perform): Command =>
  withJson(
    PlanDowngradeScheduleResponseFields,
    plans
      .command('downgrade')
      .description('Move to a cheaper plan at the end of the paid period: shows old, new, difference and date, and asks')
      .argument('[plan]', 'its id: tallygate plans list shows them')
      .option('--preview', 'only show the change')
      .option('--undo', 'undo a scheduled downgrade or cancellation')
      .option('--yes', 'do not ask for confirmation'),
  ).action(perform(downgrade));

async function downgrade(world: CommandWorld, { args: [text], options: { undo, preview, yes } }: Typed<Options>): Promise<void> {
  const { signal, err } = world;
  if ((text === undefined) === (undo === undefined)) throw new Failure('usage', 'Name the plan, or give --undo.', EXIT.usage);
  const client = await world.connect('session');
  if (text === undefined) {
    await client.plans.cancelDowngrade({ signal });
    err.write('The plan is unchanged.\n');
    return;
  }
  const shown = await client.plans.previewDowngrade(text, { signal });
  showChange(world, shown);
  if (preview) return;
  await requireConsent(world, `Move to ${shown.to.name} on ${shown.effective_at}?`, yes);
  printRecord(world, await client.plans.scheduleDowngrade(text, { signal }), [
    { title: 'Downgrade', of: ({ downgrade_id }) => downgrade_id },
    { title: 'To', of: ({ to_plan_id }) => to_plan_id },
    { title: 'From', of: ({ effective_at }) => effective_at },
    { title: 'State', of: ({ state }) => state },
  ]);
}
