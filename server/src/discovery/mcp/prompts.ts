import { type GetPromptResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';

interface Prompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly argument: { readonly name: string; readonly description: string };
  readonly text: (given: string) => string;
}

/** Questions that people ask of a gateway, worded so that a model finds the tools for them. */
const PROMPTS: readonly Prompt[] = [
  {
    name: 'choose_model',
    title: 'Choose a model',
    description: 'Finds the cheapest model that can do a task.',
    argument: { name: 'task', description: 'What the model is to do.' },
    text: (task) =>
      `Read tallygate://models and name the cheapest model that can do this: ${task}\nGive its context, its prices per million tokens, and one dearer alternative with the reason for it.`,
  },
  {
    name: 'explain_spending',
    title: 'Explain spending',
    description: 'Says what was spent, on what, and how far the budgets are used.',
    argument: { name: 'period', description: 'Such as "this month" or "2026-11-01 to 2026-11-15".' },
    text: (period) =>
      `Explain what was spent in this period: ${period}\nCall get_usage grouped by model and by key, and get_budget_summary. Show amounts as they are, without rounding, and name any budget above 80 %.`,
  },
];

export const listPrompts = () =>
  PROMPTS.map(({ name, title, description, argument }) => ({ name, title, description, arguments: [{ ...argument, required: true }] }));

/** @throws ProtocolError for a prompt that there is not, and for a missing argument */
export function promptOf(name: string, given: Readonly<Record<string, string>>): GetPromptResult {
  const prompt = PROMPTS.find((one) => one.name === name);
  if (!prompt) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt "${name.slice(0, 100)}".`);
  const value = given[prompt.argument.name];
  if (!value) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The argument \`${prompt.argument.name}\` is required.`);
  return { description: prompt.description, messages: [{ role: 'user', content: { type: 'text', text: prompt.text(value) } }] };
}
