// An agent that cannot spend more than it was given, however often it goes round.
import { BudgetExceededError, Tallygate } from '@tallygate/sdk';

const tallygate = new Tallygate();
const agentRun = { id: `example-${Date.now()}`, maxBudgetUsd: '0.0001' };
try {
  for (let step = 1; ; step += 1) {
    const { run } = await tallygate.chat.completions
      .create({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: `Step ${step}?` }], max_tokens: 100 }, { agentRun })
      .withResponse();
    console.log(`step ${step}: ${run?.remainingUsd} USD left`);
  }
} catch (error) {
  if (!(error instanceof BudgetExceededError)) throw error;
  console.log(`stopped: ${error.budget?.required_usd} USD needed of a cap of ${error.budget?.cap_usd} USD`);
}
