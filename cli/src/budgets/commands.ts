import type { Command } from 'commander';
import type { Perform } from '../command.ts';
import { budgetAlerts } from './alerts.ts';
import { clearBudget } from './clear.ts';
import { budgetHistory } from './history.ts';
import { setBudget } from './set.ts';
import { showBudgets } from './show.ts';

export function budgetCommands(budgets: Command, perform: Perform): void {
  showBudgets(budgets, perform);
  setBudget(budgets, perform);
  clearBudget(budgets, perform);
  budgetHistory(budgets, perform);
  budgetAlerts(budgets, perform);
}
