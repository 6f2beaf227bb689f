import type { InferenceOptions } from '@tallygate/sdk';
import type { Command } from 'commander';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { usdAmount } from '../option-values.ts';

export interface RunOptions {
  readonly run?: string;
  readonly maxBudget?: string;
}

/** Adds the options that make a request a step of an agent run. */
export const withRun = (command: Command): Command =>
  command
    .option('--run <id>', 'the agent run that this is a step of')
    .option('--max-budget <usd>', 'hard ceiling of the run, USD; needs --run', usdAmount);

export function runOf({ run, maxBudget }: RunOptions): InferenceOptions {
  if (run !== undefined) return { agentRun: { id: run, maxBudgetUsd: maxBudget } };
  if (maxBudget === undefined) return {};
  throw new Failure('usage', '--max-budget needs a run.', EXIT.usage, 'Name the run with --run.');
}
