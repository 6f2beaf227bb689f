/** Who made a model, as far as its requests differ. */
export type Family = 'claude' | 'nova' | 'nova-2' | 'gpt' | 'mistral' | 'titan' | 'cohere' | 'other';

/**
 * By the name of a model (`anthropic.claude-sonnet-4-6`), of an inference profile (`us.anthropic.…`, `global.…`), or by an ARN that ends in
 * one. An application inference profile says nothing of its model: that is asked by Converse, which all models have.
 */
export function familyOf(model: string): Family {
  const name = model.slice(model.lastIndexOf('/') + 1);
  const is = (maker: RegExp): boolean => maker.test(name);
  if (is(/(?:^|\.)anthropic\.claude/)) return 'claude';
  if (is(/(?:^|\.)amazon\.nova-2/)) return 'nova-2';
  if (is(/(?:^|\.)amazon\.nova/)) return 'nova';
  if (is(/(?:^|\.)mistral\./)) return 'mistral';
  if (is(/(?:^|\.)amazon\.titan/)) return 'titan';
  if (is(/(?:^|\.)cohere\./)) return 'cohere';
  return is(/(?:^|\.)openai\./) ? 'gpt' : 'other';
}
