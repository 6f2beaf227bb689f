import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { PlanCheckoutStateFields } from '../generated/fields.ts';
import { requireConsent } from './confirm.ts';
import { type PageOptions, pageOptions, payOnPage } from './pay-on-page.ts';
import { showChange } from './show-change.ts';

interface Options extends PageOptions {
  readonly yes?: true;
  readonly preview?: true;
}

/** Of `upgrade` and `checkout`, which differ in what they show beforehand. */
function buying(name: string, description: string, plans: Command): Command {
  const command = plans.command(name).description(description).argument('<plan>', 'its id: tallygate plans list shows them');
  for (const option of pageOptions()) command.addOption(option);
  return withJson(PlanCheckoutStateFields, command.option('--yes', 'do not ask for confirmation'));
}

export const upgradePlan = (plans: Command, perform: Perform): Command =>
  buying('upgrade', 'Move to a larger plan at once: shows old, new, difference and date, asks, and pays', plans)
    .option('--preview', 'only show the change')
    .action(perform(upgrade));

export const checkoutPlan = (plans: Command, perform: Perform): Command =>
  buying('checkout', 'Pay for a plan: opens the page in a browser, and waits for the result', plans).action(perform(checkout));

async function upgrade(world: CommandWorld, { args: [plan = ''], options }: Typed<Options>): Promise<ExitCode> {
  const client = await world.connect('session');
  const preview = await client.plans.previewUpgrade(plan, { signal: world.signal });
  showChange(world, preview);
  if (options.preview) return EXIT.ok;
  await requireConsent(world, `Move to ${preview.to.name}, and pay ${preview.due_now_usd} USD now?`, options.yes);
  // Of a subscription the preview's moment fixes the amount that was agreed to.
  const prorated = preview.requires_checkout ? {} : { prorated_at: preview.effective_at };
  const made = await client.plans.checkout({ plan_id: plan, ...prorated }, { signal: world.signal });
  return payOnPage(world, client, made, options);
}

async function checkout(world: CommandWorld, { args: [plan = ''], options }: Typed<Options>): Promise<ExitCode> {
  const client = await world.connect('session');
  const { due_now_usd, to } = await client.plans.previewUpgrade(plan, { signal: world.signal });
  await requireConsent(world, `Pay ${due_now_usd} USD for ${to.name}?`, options.yes);
  return payOnPage(world, client, await client.plans.checkout({ plan_id: plan }, { signal: world.signal }), options);
}
