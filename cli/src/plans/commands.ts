import type { Command } from 'commander';
import type { Perform } from '../command.ts';
import { spendAlerts } from './alerts.ts';
import { autoTopup } from './auto-topup.ts';
import { planBilling } from './billing.ts';
import { comparePlans } from './compare.ts';
import { downgradePlan } from './downgrade.ts';
import { invoices } from './invoices.ts';
import { listPlans } from './list.ts';
import { planOverage } from './overage.ts';
import { showPlan } from './show.ts';
import { topUp } from './top-up.ts';
import { checkoutPlan, upgradePlan } from './upgrade.ts';
import { planUsage } from './usage.ts';

export function planCommands(plans: Command, perform: Perform): void {
  listPlans(plans, perform);
  showPlan(plans, perform);
  comparePlans(plans, perform);
  upgradePlan(plans, perform);
  downgradePlan(plans, perform);
  planUsage(plans, perform);
  planOverage(plans, perform);
  planBilling(plans, perform);
  checkoutPlan(plans, perform);
  topUp(plans, perform);
  autoTopup(plans, perform);
  spendAlerts(plans, perform);
  invoices(plans, perform);
}
