import { contract } from '@tallygate/contract';
import { afterAll, beforeAll } from 'vitest';
import { testCredentials } from '../../app/http/credential-matrix.ts';
import { type BudgetWorld, openBudgetWorld } from './testing/budgets.ts';

let world: BudgetWorld;
beforeAll(async () => {
  world = await openBudgetWorld();
});
afterAll(() => world?.close());

testCredentials(() => world, contract.budgets);
